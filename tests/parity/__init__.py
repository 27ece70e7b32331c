"""Comparison with PyTorch: needs torch (the `parity` extra), run when named."""
