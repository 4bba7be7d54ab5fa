"""The module that the fixture lessons take symbols from."""
