"""What the kernel tests need before JAX starts."""

import os

# On processors with AVX512-BF16, jaxlib 0.12.0.1 aborts on some bfloat16 slices (`ones((24, 5))[:23, :2]` is one).
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX2"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
