"""Reading single elements by flat indices and putting them back: what max pooling is made of.

x is (..., size), index is (..., n) with the same leading dims.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay.ops.choices import keep
from tensorplay.ops.gather import scatter_last_op
from tensorplay.ops.kinds import batch_size, linear, materialize, primitive


def _flat(index: np.ndarray, size: int) -> np.ndarray:
    """Indices into the flattened (..., size) array."""
    rows = index.reshape(-1, index.shape[-1])
    return (rows + np.arange(rows.shape[0])[:, None] * size).ravel()


def put_add_kernel(u: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
    shape = index.shape[:-1] + (size,)
    if not u.size:
        return np.zeros(shape, u.dtype)
    places = _flat(index, size)
    total = int(np.prod(shape))
    if u.dtype == np.float64:
        return np.bincount(places, weights=u.ravel(), minlength=total).reshape(shape)
    wide = np.float32 if u.dtype.itemsize == 2 else u.dtype
    out = np.zeros(total, wide)
    np.add.at(out, places, u.ravel().astype(wide, copy=False))
    return out.reshape(shape).astype(u.dtype, copy=False)


def _put_kernel(u: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(index.shape[:-1] + (size,), u.dtype)
    out.reshape(-1)[_flat(index, size)] = u.ravel()
    return out


def _batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    moved = [materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]
    return p.apply(moved, *params), 0


pick = linear(
    "pick",
    lambda x, index: np.take_along_axis(x, index, -1),
    (lambda g, x_shape, index: put_add(g, index, x_shape[-1]), None),
    inputs=("x", "index"),
    batch=_batch,
)
put_add = linear(
    "put_add",
    put_add_kernel,
    (lambda g, index: pick(g, index), None),
    inputs=("u", "index"),
    params=("size",),
    batch=_batch,
)


def _put_transpose(g: Any, index: Any, size: int) -> Any:
    last = scatter_last_op(index, (*index.shape[:-1], size), index.ndim - 1)
    return keep(pick(g, index), last)


# Of several elements for one place the last stays, and it alone has a derivative.
put = linear(
    "put_elements",
    _put_kernel,
    (_put_transpose, None),
    inputs=("u", "index"),
    params=("size",),
    batch=_batch,
    node_name="MaxUnpoolBackward0",
)
# Elements that were found together with their indices: pick(x, index), which is `found`.
picked = primitive(
    "picked",
    lambda x, index, found: found,
    inputs=("x", "index", "found"),
    vjp=(lambda g, x_shape, index: put_add(g, index, x_shape[-1]), None, None),
    jvp=(lambda t, index: pick(t, index), None, None),
    batch=_batch,
    quiet=True,
    node_name="MaxPoolBackward0",
)
