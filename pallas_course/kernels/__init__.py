"""What is taught: one file per kernel, each with the contract that says when a kernel like it is right."""
