def draw(data, axes):
    axes.barh(["one", "two"], data, color=["C0", "C1"])
