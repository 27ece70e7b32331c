"""How tensors behave under transforms: vmap levels, forward-mode levels, gradient levels."""
