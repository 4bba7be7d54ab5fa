"""How a lesson becomes a page: parse, execute, record, draw, render, verify, in that order.

This room imports neither jax nor the other rooms: kernel source is read with `ast`, and lessons run in processes of
their own. So the site builds from records on a machine without JAX.
"""
