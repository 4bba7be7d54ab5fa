def halve(number: int) -> int:
    ### BEGIN SOLUTION
    return number // 2
    ### END SOLUTION


print("half:", halve(4))
