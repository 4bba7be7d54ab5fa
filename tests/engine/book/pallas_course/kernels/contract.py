"""What its kernels promise."""

DTYPES = ("float32",)
