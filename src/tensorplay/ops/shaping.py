"""Views and rearrangements: reshape, transpose, expand, slicing along dims, flip, roll, repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Size, Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import (
    front,
    install_method,
    linear,
    method,
    public,
    shifting,
    wrap_dim,
    wrap_dims,
)
from tensorplay.ops.structure import cast, clone, expand_to, sum_to

sizes_of = core.sizes_of


# --- reshape --------------------------------------------------------------------------------------

view_op = linear(
    "view",
    core.reshape_kernel,
    lambda g, x_shape: reshape_to(g, tuple(x_shape)),
    params=("shape",),
    batch=lambda p, values, bdims, params: _batch_view(p, values, bdims, params),
    view=True,
    quiet=True,
)


def _batch_view(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    return reshape_to(x, (x.shape[0], *params[0])), 0


def infer_shape(shape: tuple[int, ...], of: Sequence[int], name: str) -> tuple[int, ...]:
    """`shape` with its -1 resolved, for a tensor of shape `of`.

    Raises:
        RuntimeError: if it does not hold `numel` elements, or has several -1.
    """
    numel = math.prod(of)
    unknown = [i for i, s in enumerate(shape) if s == -1]
    if len(unknown) > 1:
        raise RuntimeError(f"{name}(): only one dimension of {list(shape)} can be inferred (-1)")
    if any(s < -1 for s in shape):
        raise RuntimeError(f"{name}(): invalid negative size in shape {list(shape)}")
    known = math.prod(s for s in shape if s != -1)
    if unknown:
        if known == 0:
            raise RuntimeError(
                f"{name}(): cannot infer the -1 in {list(shape)}: it is ambiguous for a tensor of "
                f"shape {list(of)}"
            )
        if numel % known:
            raise RuntimeError(
                f"{name}(): shape {list(shape)} is invalid for a tensor of shape {list(of)}, "
                f"which has {numel} elements"
            )
        return tuple(numel // known if s == -1 else s for s in shape)
    if known != numel:
        raise RuntimeError(
            f"{name}(): shape {list(shape)} is invalid for a tensor of shape {list(of)}, "
            f"which has {numel} elements"
        )
    return shape


def reshape_to(x: Any, shape: tuple[int, ...]) -> Tensor:
    """x in another shape: a view where its memory allows, else a copy."""
    if core.can_view(x, shape):
        return view_op(x, shape)
    return view_op(core.contiguous(x), shape)


@public()
def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """`input` in another shape of as many elements; one size may be -1. A view where possible.

    Raises:
        RuntimeError: if the shape does not fit.

    >>> import tensorplay as tp
    >>> tp.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    sizes = sizes_of(sizes if shape is None else (shape,), "reshape")
    if core.can_reshape(input, sizes):
        return view_op(input, sizes)
    return reshape_to(input, infer_shape(sizes, input.shape, "reshape"))


@method()
def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """This tensor's memory in another shape, or (given a dtype) as another dtype of equal size.

    Raises:
        RuntimeError: if the shape does not fit, or the memory cannot be seen that way.
    """
    if size is not None or dtype is not None:
        shape = (size if dtype is None else dtype,)
    if len(shape) == 1 and not isinstance(shape[0], (int, Sequence, Tensor)):
        return core.registry["view_dtype"](self, shape[0])
    wanted = sizes_of(shape, "view")
    if core.can_reshape(self, wanted):
        return view_op(self, wanted)
    sizes = infer_shape(wanted, self.shape, "view")
    if not core.can_view(self, sizes):
        raise RuntimeError(
            f"view(): shape {list(sizes)} is not compatible with the strides of this tensor of "
            f"shape {list(self.shape)}; use .reshape(...) or .contiguous() first"
        )
    return view_op(self, sizes)


@method()
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor's memory in the shape of `other`."""
    return self.view(*other.shape)


@method()
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the shape of `other`."""
    return self.reshape(*other.shape)


contiguous_op = linear(
    "contiguous",
    core.copied,
    lambda g: g,
    batch=shifting(),
    quiet=True,
    node_name="CloneBackward0",
)  # fmt: skip


install_method("contiguous", core.contiguous)


@public()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """`input` with the dims from start_dim to end_dim made one."""
    ndim = input.ndim
    if ndim == 0:
        return input.reshape(1)
    first, last = wrap_dim(start_dim, input, "flatten"), wrap_dim(end_dim, input, "flatten")
    if first > last:
        raise RuntimeError(
            f"flatten(): start_dim {start_dim} comes after end_dim {end_dim} for {ndim} dims"
        )
    if first == last:
        return input
    return reshape_to(input, core.joined_dims(input, first, last))


@public()
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """`input` with dim `dim` split into `sizes` (one may be -1)."""
    dim = wrap_dim(dim, input, "unflatten")
    shape = tuple(input.shape)
    inner = infer_shape(tuple(sizes), (shape[dim],), "unflatten")
    return reshape_to(input, shape[:dim] + inner + shape[dim + 1 :])


@public()
def ravel(input: Tensor) -> Tensor:
    """`input` as one dimension; a view where possible."""
    return reshape_to(input, (input.numel(),))


# --- permutations ---------------------------------------------------------------------------------


def _batch_permute(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = front(values[0], bdims[0])
    return p(x, (0, *(d + 1 for d in params[0]))), 0


permute_op = linear(
    "permute",
    core.permute_kernel,
    lambda g, dims: permute_op(g, tuple(int(i) for i in np.argsort(dims))),
    params=("dims",),
    batch=_batch_permute,
    view=True,
    quiet=True,
)


# `transpose` and `permute` are one operator, but graph nodes print them apart.
permute_op.naming = lambda node: (
    "TransposeBackward0"
    if sum(place != dim for place, dim in enumerate(node.parameters[0])) == 2
    else "PermuteBackward0"
)


@public()
def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """`input` with its dims in another order (a view).

    Raises:
        RuntimeError: unless `dims` names every dim once.
    """
    given = sizes_of(order if dims is None else (dims,), "permute")
    return permute_op(input, core.order_of_dims(given, input, "permute"))


@public(aliases=("swapdims",))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """`input` with two dims exchanged (a view)."""
    return permute_op(input, core.exchanged_dims(input, dim0, dim1, "transpose"))


@public()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`input` with two dims exchanged (a view); another name of `transpose`."""
    return transpose(input, axis0, axis1)


@public()
def t(input: Tensor) -> Tensor:
    """The transpose of a tensor of at most two dims.

    Raises:
        RuntimeError: if it has more.
    """
    if input.ndim > 2:
        raise RuntimeError(f"t(): expected a tensor of at most 2 dims, got {input.ndim}")
    return permute_op(input, (1, 0) if input.ndim == 2 else tuple(range(input.ndim)))


@public(aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """`input` with dims moved from `source` to `destination` (ints or tuples; a view)."""
    ndim = input.ndim
    sources = (source,) if isinstance(source, int) else tuple(source)
    targets = (destination,) if isinstance(destination, int) else tuple(destination)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim(): source {sources} and destination {targets} differ in length"
        )
    sources = tuple(wrap_dim(d, input, "movedim") for d in sources)
    targets = tuple(wrap_dim(d, input, "movedim") for d in targets)
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise RuntimeError("movedim(): a dim appears more than once in source or destination")
    order = [d for d in range(ndim) if d not in sources]
    for target, dim in sorted(zip(targets, sources, strict=True)):
        order.insert(target, dim)
    return permute_op(input, tuple(order))


# --- size-one dims --------------------------------------------------------------------------------

unsqueeze_op = linear(
    "unsqueeze",
    core.unsqueeze_kernel,
    lambda g, dim: squeeze_op(g, (dim,)),
    params=("dim",),
    batch=shifting(dims=("dim",)),
    view=True,
    quiet=True,
)


def _unsqueeze_all(x: Any, dims: tuple[int, ...]) -> Any:
    for dim in dims:
        x = unsqueeze_op(x, dim)
    return x


squeeze_op = linear(
    "squeeze",
    core.squeeze_kernel,
    lambda g, dims: _unsqueeze_all(g, dims),
    params=("dims",),
    batch=shifting(dims=("dims",)),
    view=True,
    quiet=True,
)


@public(inplace=False)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """`input` with a dim of size one inserted at `dim` (a view)."""
    return unsqueeze_op(input, wrap_dim(dim, input, "unsqueeze", added=1))


@public()
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """`input` without its dims of size one, or without those of `dim` that have size one."""
    dims = wrap_dims(dim, input, "squeeze", empty_is_all=False)
    return squeeze_op(input, core.dims_of_size_one(input, dims))


# --- broadcasting ---------------------------------------------------------------------------------


broadcast_shapes_of = core.broadcast_shapes_of


@method()
def expand(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """This tensor repeated along dims of size one, without a copy; -1 keeps a size.

    Raises:
        RuntimeError: if a size does not fit.
    """
    wanted = sizes_of(sizes if size is None else (size,), "expand")
    return _expand(self, wanted, "expand")


def _expand(x: Tensor, wanted: tuple[int, ...], name: str) -> Tensor:
    if core.broadcasts_to(x, wanted):
        return expand_to(x, wanted)
    shape = tuple(x.shape)
    lead = len(wanted) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"{name}(): {len(wanted)} sizes {list(wanted)} are too few for a tensor of shape "
            f"{list(shape)}"
        )
    sizes = list(wanted)
    for i, size in enumerate(wanted):
        have = shape[i - lead] if i >= lead else None
        if size == -1 and have is not None:
            sizes[i] = have
        elif size < 0 or (have is not None and have not in (1, size)):
            raise RuntimeError(
                f"{name}(): size {size} at dim {i} of {list(wanted)} does not fit the tensor's "
                f"shape {list(shape)}"
            )
    return expand_to(x, tuple(sizes))


@method()
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor expanded to the shape of `other`."""
    return _expand(self, tuple(other.shape), "expand_as")


@public()
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """`input` broadcast to `size`, without a copy."""
    return _expand(input, sizes_of((size,), "broadcast_to"), "broadcast_to")


@public(method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors broadcast to their common shape, without copies."""
    shape = broadcast_shapes_of("broadcast_tensors", *[x.shape for x in tensors])
    return tuple(expand_to(x, shape) for x in tensors)


@public(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that the given shapes broadcast to."""
    return Size(
        broadcast_shapes_of(
            "broadcast_shapes", *[(s,) if isinstance(s, int) else s for s in shapes]
        )
    )


@method()
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """This tensor summed down to `size`, which broadcasts to its shape; integers as int64.

    Raises:
        RuntimeError: if it does not.
    """
    sizes = sizes_of(size, "sum_to_size")
    if self.shape == sizes:
        return self
    own = tuple(self.shape)[max(self.ndim - len(sizes), 0) :]
    if len(sizes) > self.ndim or any(a not in (1, b) for a, b in zip(sizes, own, strict=True)):
        raise RuntimeError(
            f"sum_to_size(): size {list(sizes)} does not broadcast to the tensor's shape "
            f"{list(self.shape)}"
        )
    if not core.is_differentiable_dtype(self):
        self = cast(self, dtypes.int64)
    return sum_to(self, sizes)


install_method("T", property(lambda self: permute_op(self, core.reversed_dims(self))))
install_method("mT", property(lambda self: self.transpose(-2, -1)))

core.register_layer(
    sum_to=lambda x, shape: sum_to(x, tuple(shape)),
    expand=lambda x, shape: expand_to(x, tuple(shape)),
    movedim=movedim,
    unsqueeze=unsqueeze_op,
    clone=clone,
    view_scatter=core.registry["view_scatter"],
)
