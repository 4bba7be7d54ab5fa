"""How far a kernel has been shown to work, rung by rung: interpret, simulate, lower, compile, execute, time."""
