"""Foundations without tensors: dtypes, printing of arrays, random generators.

Nothing here imports another part of the package: plain values and NumPy arrays come in,
dtypes, strings and NumPy arrays go out.
"""
