def test_blocked_axpy():
    """Raise AssertionError unless blocked_axpy is right on every pair, in every element."""
    ### BEGIN SOLUTION
    for shape in ((1, 7), (7, 9), (6, 20)):
        for dtype, tolerance in ((jnp.float32, 1e-6), (jnp.bfloat16, 2**-7)):
            x = np.random.default_rng(11).normal(size=shape).astype(dtype)
            y = np.random.default_rng(12).normal(size=shape).astype(dtype)
            want = 2 * x.astype(np.float64) + y.astype(np.float64)
            for block in ((2, 4), (3, 5)):
                got = np.asarray(blocked_axpy(x, y, block))
                assert got.shape == shape, f"expected shape {shape}; got {got.shape}"
                assert got.dtype == dtype, f"expected {x.dtype}; got {got.dtype}"
                np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=1e-6)
    ### END SOLUTION


test_blocked_axpy()
print("Singleton and changed tails verified")
