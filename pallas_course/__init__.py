"""The Pallas kernels course: what is taught, and the machine that executes, records and shows it."""

__version__ = "0.1.0"
