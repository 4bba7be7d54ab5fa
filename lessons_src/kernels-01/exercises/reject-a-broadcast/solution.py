from unittest import mock


def check_rejection():
    """True when every pair outside the contract is refused for its own reason, before any launch."""
    ### BEGIN SOLUTION
    good = np.ones((5, 11), np.float32)
    outside = [
        (good, good[:, :1], (2, 4), "same shape"),
        (good, good[:1, :], (2, 4), "same shape"),
        (good, good.astype(jnp.bfloat16), (2, 4), "same dtype"),
        (good.astype(np.float64), good.astype(np.float64), (2, 4), "float32 or bfloat16"),
        (good[:0], good[:0], (2, 4), "empty"),
        (good, good, (True, 4), "positive integers"),
        (good, good, (0, 4), "positive integers"),
        (good, good, 8, "pair"),
    ]

    def refused(x, y, block, reason):
        try:
            blocked_axpy(x, y, block)
        except ValueError as error:
            return reason in str(error)
        return False

    with mock.patch.object(pl, "pallas_call") as launch:
        return all(refused(*case) for case in outside) and not launch.called
    ### END SOLUTION


assert check_rejection() is True
print("Mismatched global shape rejected")
