"""Entries of PyTorch's operator database that do not agree in all five aspects, and why.

name of the entry -> (aspects that differ, or 'missing'), reason
"""

KNOWN: dict[str, tuple[tuple[str, ...], str]] = {}

_SPARSE = "sparse layouts are outside of a library of dense tensors over NumPy arrays"
_FUSED = "internals of fused attention on accelerators; scaled_dot_product_attention is there"

for _name in ("to_sparse", "sparse.sampled_addmm", "sparse.mm:reduce"):
    KNOWN[_name] = (("missing",), _SPARSE)
for _name in ("_flash_attention_forward", "_efficient_attention_forward"):
    KNOWN[f"torch.ops.aten.{_name}"] = (("missing",), _FUSED)
KNOWN["chalf"] = (("missing",), "NumPy has no complex type of two halves")

# PyTorch gives NaN where the mathematics is finite; here it is finite.
KNOWN["linalg.norm:subgradients_at_zero"] = (
    ("gradgrad",),
    "PyTorch's second derivatives of a norm at zero are NaN; here the subgradient 0 is constant",
)


#: Rows whose results share memory, or can be written, in one library only, and why.
SHARING = {
    "copy": "an internal step of copy_, whose result is never seen",
}
