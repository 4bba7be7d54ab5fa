"""A kernel that the fixture lessons teach."""


def pairs(x: list[int]) -> list[int]:
    """Each element twice."""
    return [value for value in x for _ in range(2)]
