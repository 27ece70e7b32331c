"""Joining tensors (cat, stack and their kin) and taking them apart (split, chunk, unbind)."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import (
    batch_size,
    front,
    linear,
    materialize,
    public,
    publish,
    wrap_dim,
)
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.slicing import cut
from tensorplay.ops.structure import expand_to

# --- primitives -----------------------------------------------------------------------------------


def _batch_joined(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = batch_size(values, bdims)
    moved = [materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]
    return p.apply(moved, params[0] + 1), 0


def _cat_transpose(g: Any, tensors_shape: Any, dim: int) -> Any:
    parts, start = [], 0
    for shape in tensors_shape:
        parts.append(cut(g, dim, start, start + shape[dim]))
        start += shape[dim]
    return tuple(parts)


cat_op = linear(
    "cat",
    core.concatenate_kernel,
    _cat_transpose,
    inputs=("tensors",),
    params=("dim",),
    batch=_batch_joined,
    variadic=True,
    promote="same",
    quiet=True,
)

stack_op = linear(
    "stack",
    core.stack_kernel,
    lambda g, dim: tuple(unbind_op(g, dim)),
    inputs=("tensors",),
    params=("dim",),
    batch=_batch_joined,
    variadic=True,
    promote="same",
    quiet=True,
)


def _batch_split(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    *sizes, dim = params
    return p(front(values[0], bdims[0]), *sizes, dim + 1), 0


def _parts(g: Any) -> Any:
    """The cotangents of the parts: an operator that gave a single part has its own alone."""
    return (g,) if isinstance(g, Tensor) else g


def _unbind_transpose(g: Any, x_shape: Any, dim: int) -> Any:
    g = _parts(g)
    some = next(part for part in g if part is not None)
    shape = x_shape[:dim] + x_shape[dim + 1 :]
    return stack_op([core.zeros_shaped(some, shape) if part is None else part for part in g], dim)


unbind_op = linear(
    "unbind",
    core.unbind_kernel,
    _unbind_transpose,
    params=("dim",),
    batch=_batch_split,
    outputs=-1,
    view=True,
    quiet=True,
)


def _split_transpose(g: Any, x_shape: Any, sizes: tuple[int, ...], dim: int) -> Any:
    g = _parts(g)
    some = next(part for part in g if part is not None)
    before, after = x_shape[:dim], x_shape[dim + 1 :]
    parts = [
        core.zeros_shaped(some, (*before, size, *after)) if part is None else part
        for part, size in zip(g, sizes, strict=True)
    ]
    return cat_op(parts, dim)


def _splitting(name: str) -> Any:
    return linear(
        name, core.split_kernel, _split_transpose, params=("sizes", "dim"), batch=_batch_split,
        outputs=-1, view=True, quiet=True,
    )  # fmt: skip


# Equal parts and listed sizes are one operation under PyTorch's two names of graph nodes.
split_op = _splitting("split")
split_with_sizes_op = _splitting("split_with_sizes")


# --- joining --------------------------------------------------------------------------------------


def tensor_list(tensors: Any, name: str) -> list[Tensor]:
    """A sequence of tensors as a list.

    Raises:
        TypeError: if it is no sequence of tensors.
    """
    if isinstance(tensors, Tensor):
        raise TypeError(
            f"{name}(): argument 'tensors' must be a tuple or list of Tensors, not Tensor; "
            "write [a, b]"
        )
    found = list(tensors)
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {i} of argument 'tensors', got "
                f"{type(x).__name__}"
            )
    return found


@public(method=False, out=True, aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along an existing dim, in their common dtype.

    tensors: of equal shape except along `dim`; empty tensors of shape (0,) are skipped.

    Raises:
        ValueError: if there is no tensor.
        RuntimeError: if the shapes do not fit, or a tensor has no dims.

    >>> import tensorplay as tp
    >>> tp.cat([tp.tensor([1, 2]), tp.tensor([3.5])])
    tensor([1.0000, 2.0000, 3.5000])
    """
    if type(tensors) in (list, tuple) and tensors and type(dim) is int:
        try:  # NumPy checks the shapes; what is wrong is said below
            return cat_op(tensors, dim if dim >= 0 else dim + tensors[0].ndim)
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError):
            pass
    found = tensor_list(tensors, "cat")
    if not found:
        raise ValueError("cat(): expected a non-empty list of tensors")
    shapes = [tuple(x.shape) for x in found]
    if any(shape == (0,) for shape in shapes) and any(len(shape) != 1 for shape in shapes):
        target = core.result_dtype(found)
        found = [x.to(target) for x in found if tuple(x.shape) != (0,)]
        shapes = [tuple(x.shape) for x in found]
    first = shapes[0]
    if () in shapes:
        raise RuntimeError(
            f"cat(): tensor {shapes.index(())} has no dims and cannot be concatenated; use stack()"
        )
    dim = wrap_dim(dim, found[0], "cat")
    for i, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise RuntimeError(
                f"cat(): tensors must have the same number of dims, got shapes {list(first)} and "
                f"{list(shape)} (tensor {i})"
            )
        if shape[:dim] != first[:dim] or shape[dim + 1 :] != first[dim + 1 :]:
            raise RuntimeError(
                f"cat(): sizes of the tensors must match except in dim {dim}, got shapes "
                f"{list(first)} and {list(shape)} (tensor {i})"
            )
    return cat_op(found, dim)


@public(method=False, out=True)
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape joined along a new dim.

    Raises:
        RuntimeError: if there is no tensor, or the shapes differ.

    >>> import tensorplay as tp
    >>> tp.stack([tp.tensor([1, 2]), tp.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    if type(tensors) in (list, tuple) and tensors and type(dim) is int:
        try:  # NumPy checks the shapes; what is wrong is said below
            return stack_op(tensors, dim if dim >= 0 else dim + tensors[0].ndim + 1)
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError):
            pass
    found = tensor_list(tensors, "stack")
    if not found:
        raise RuntimeError("stack(): expected a non-empty list of tensors")
    first = found[0].shape
    for i, x in enumerate(found):
        if x.shape != first:
            raise RuntimeError(
                f"stack(): tensors must have the same shape, got {list(first)} and "
                f"{list(x.shape)} (tensor {i})"
            )
    return stack_op(found, wrap_dim(dim, found[0], "stack", added=1))


def _at_least(x: Tensor, ndim: int) -> Tensor:
    shape = tuple(x.shape)
    if len(shape) >= ndim:
        return x
    if ndim == 3:  # the dims of a matrix come first
        return x.reshape((1, shape[0] if shape else 1, 1)) if len(shape) < 2 else x.unsqueeze(2)
    return x.reshape((1,) * (ndim - len(shape)) + shape)


def _atleast(ndim: int) -> Any:
    def atleast(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _at_least(tensors[0], ndim)
        if len(tensors) == 1:
            tensors = tuple(tensors[0])
        return tuple(_at_least(x, ndim) for x in tensors)

    atleast.__name__ = atleast.__qualname__ = f"atleast_{ndim}d"
    atleast.__doc__ = f"""The tensor, or the tuple of tensors, with {ndim} dims or more.

    Dims of size one are added in front{" and behind: (n,) becomes (1, n, 1)" if ndim == 3 else ""}.
    """
    return publish(atleast, f"atleast_{ndim}d", method=False)


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


def _some(name: str, tensors: Any, dims: int) -> list[Tensor]:
    """At least one tensor, each with at least so many dims."""
    found = [_at_least(x, dims) for x in tensor_list(tensors, name)]
    if not found:
        raise RuntimeError(f"{name}(): expected a non-empty list of tensors")
    return found


@public(method=False, out=True)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors side by side: along dim 1, or along dim 0 when they have only that one.

    Raises:
        RuntimeError: for no tensors, or shapes that do not fit.
    """
    found = _some("hstack", tensors, 1)
    return cat(found, 0 if found[0].ndim == 1 else 1)


@public(method=False, out=True, aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors below each other: along dim 0, vectors being rows.

    Raises:
        RuntimeError: for no tensors, or shapes that do not fit.
    """
    return cat(_some("vstack", tensors, 2), 0)


@public(method=False, out=True)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors behind each other: along dim 2.

    Raises:
        RuntimeError: for no tensors, or shapes that do not fit.
    """
    return cat(_some("dstack", tensors, 3), 2)


@public(method=False, out=True)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors side by side, vectors being columns.

    Raises:
        RuntimeError: for no tensors, or shapes that do not fit.
    """
    found = _some("column_stack", tensors, 0)
    return hstack([x.reshape(x.numel(), 1) if x.ndim <= 1 else x for x in found])


row_stack = vstack


@public(method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """The matrices (or rows, or numbers) along the diagonal of a matrix of zeros.

    Raises:
        RuntimeError: if a tensor has more than two dims.
    """
    blocks = [_at_least(x, 2) for x in tensor_list(tensors, "block_diag")]
    if not blocks:
        blocks = [core.from_array(np.empty((1, 0), np.float32))]
    for i, x in enumerate(blocks):
        if x.ndim > 2:
            raise RuntimeError(
                f"block_diag(): tensors must have at most 2 dims, got {x.ndim} (tensor {i})"
            )
    width, left, rows = sum(x.shape[1] for x in blocks), 0, []
    dtype = core.result_dtype(blocks).numpy
    for x in blocks:
        height, own = x.shape
        before = core.from_array(np.zeros((height, left), dtype))
        after = core.from_array(np.zeros((height, width - left - own), dtype))
        rows.append(cat_op([before, x, after], 1))
        left += own
    return cat_op(rows, 0)


@public(method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates from vectors, as views.

    indexing: 'ij' (the first vector varies along dim 0) or 'xy' (it varies along dim 1).

    Raises:
        RuntimeError: for a tensor of two or more dims, differing dtypes or another `indexing`.
    """
    found = tensor_list(
        tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors,
        "meshgrid",
    )
    if not found:
        raise RuntimeError("meshgrid(): expected a non-empty list of tensors")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid(): indexing must be 'ij' or 'xy', got {indexing!r}")
    for x in found:
        if x.ndim > 1:
            raise RuntimeError(f"meshgrid(): expected 0-dim or 1-dim tensors, got {x.ndim} dims")
        if x.dtype is not found[0].dtype:
            raise RuntimeError(
                f"meshgrid(): tensors must have one dtype, got {found[0].dtype} and {x.dtype}"
            )
    count = len(found)
    dims = [1, 0, *range(2, count)] if indexing == "xy" and count >= 2 else list(range(count))
    shape = tuple(found[d].numel() for d in dims)  # `dims` is its own inverse
    return tuple(
        expand_to(x.reshape((1,) * d + (x.numel(),) + (1,) * (count - 1 - d)), shape)
        for d, x in zip(dims, found, strict=True)
    )


@public(method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of elements of the vectors, one a row, as itertools.product orders them.

    Raises:
        RuntimeError: if a tensor is not a vector.
    """
    found = tensor_list(tensors, "cartesian_prod")
    for x in found:
        if x.ndim != 1:
            raise RuntimeError(f"cartesian_prod(): expected 1-dim tensors, got {x.ndim} dims")
    if len(found) == 1:
        return found[0]
    return stack_op([grid.reshape(-1) for grid in meshgrid(*found)], 1)


@public(method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every combination of `r` elements of a vector, one a row, as itertools orders them.

    Raises:
        RuntimeError: if the input is not a vector or r is negative.
    """
    if input.ndim != 1:
        raise RuntimeError(f"combinations(): expected a 1-dim tensor, got {input.ndim} dims")
    if r < 0:
        raise RuntimeError(f"combinations(): r must not be negative, got {r}")
    if r == 0:
        return cut(input, 0, 0, 0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input.numel()), r)), np.int64).reshape(-1, r)
    return input[core.from_array(rows)]


# --- taking apart ---------------------------------------------------------------------------------


@public(aliases=("unsafe_split",))
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `tensor` along one dim: of one size (the last may be smaller) or of listed sizes.

    Raises:
        RuntimeError: if the size is negative, or listed sizes do not add up to the size of the dim.

    >>> import tensorplay as tp
    >>> tp.split(tp.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not isinstance(split_size_or_sections, (int, np.integer, Tensor)):
        return _split_by_sizes(tensor, split_size_or_sections, dim, "split")
    size = int(split_size_or_sections)
    _needs_dims(tensor, 1, "split")
    dim = wrap_dim(dim, tensor, "split")
    total = tensor.shape[dim]
    if size < 0:
        raise RuntimeError(f"split(): split_size must not be negative, got {size}")
    if size == 0 and total:
        raise RuntimeError(
            f"split(): split_size can only be 0 if the dim has size 0, but dim {dim} has size "
            f"{total}"
        )
    return split_op(tensor, _parts_of_size(total, size), dim)


def _parts_of_size(total: int, size: int) -> tuple[int, ...]:
    count = -(-total // size) if size and total else 1
    return (size,) * (count - 1) + (total - size * (count - 1),)


def _needs_dims(tensor: Tensor, least: int, name: str) -> None:
    if tensor.ndim < least:
        raise RuntimeError(
            f"{name}(): expected a tensor with at least {least} dims, got one with {tensor.ndim}"
        )


@public(aliases=("unsafe_split_with_sizes",))
def split_with_sizes(
    tensor: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Views of `tensor` of the listed sizes along one dim.

    Raises:
        RuntimeError: if a size is negative, or they do not add up to the size of the dim.
    """
    return _split_by_sizes(tensor, split_sizes, dim, "split_with_sizes")


def _split_by_sizes(
    tensor: Tensor, split_sizes: Sequence[int], dim: int, name: str
) -> tuple[Tensor, ...]:
    _needs_dims(tensor, 1, name)
    dim = wrap_dim(dim, tensor, name)
    sizes = tuple(int(s) for s in split_sizes)
    total = tensor.shape[dim]
    if sum(sizes) != total or min(sizes, default=0) < 0:
        raise RuntimeError(
            f"{name}(): split_sizes {list(sizes)} must not be negative and must add up "
            f"to {total}, the size of dim {dim} of shape {list(tensor.shape)}"
        )
    return split_with_sizes_op(tensor, sizes, dim)


@public(aliases=("unsafe_chunk",))
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size along one dim (the last may be smaller).

    Raises:
        RuntimeError: if `chunks` is not positive.
    """
    _needs_dims(input, 1, "chunk")
    if chunks < 1:
        raise RuntimeError(f"chunk(): chunks must be greater than 0, got {chunks}")
    total = input.shape[wrap_dim(dim, input, "chunk")]
    size = -(-total // chunks)
    if size == 0:  # nothing to divide, but the number of parts is known
        return split_with_sizes(input, (0,) * chunks, dim)
    return split_op(input, _parts_of_size(total, size), wrap_dim(dim, input, "chunk"))


@public()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `input` along one dim: `n` nearly equal ones, or those between listed indices.

    Raises:
        RuntimeError: if the number of parts is not positive.

    >>> import tensorplay as tp
    >>> tp.tensor_split(tp.arange(5), (1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    _needs_dims(input, 1, "tensor_split")
    dim = wrap_dim(dim, input, "tensor_split")
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    total = input.shape[dim]
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if count < 1:
            raise RuntimeError(f"tensor_split(): number of parts must be positive, got {count}")
        small, larger = divmod(total, count)
        sizes = [small + 1] * larger + [small] * (count - larger)
        bounds = [0, *itertools.accumulate(sizes)]
    else:
        bounds = [0, *_indices(indices_or_sections, "tensor_split"), total]
    return tuple(cut(input, dim, a, b) for a, b in itertools.pairwise(bounds))


def _indices(given: Any, name: str) -> list[int]:
    """The places to split at.

    Raises:
        TypeError: if they are not ints.
    """
    try:
        return [operator.index(i) for i in given]
    except TypeError:
        raise TypeError(
            f"{name}(): argument 'indices_or_sections' must be an int or a tuple of ints, got "
            f"{given!r}"
        ) from None


def _directed_split(name: str, least: int, along: int, where: str) -> Any:
    def directed(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        _needs_dims(input, least, name)
        dim = min(along, input.ndim - 1)
        if isinstance(indices_or_sections, int):
            total = input.shape[dim]
            if indices_or_sections < 1 or total % indices_or_sections:
                raise RuntimeError(
                    f"{name}(): the size {total} of dim {dim} cannot be divided into "
                    f"{indices_or_sections} equal parts; use tensor_split()"
                )
        return tensor_split(input, indices_or_sections, dim)

    directed.__name__ = directed.__qualname__ = name
    directed.__doc__ = f"""Views of `input` along {where}: equal parts, or those between indices.

    Raises:
        RuntimeError: if the tensor has too few dims, or cannot be divided evenly.
    """
    return publish(directed, name)


hsplit = _directed_split("hsplit", 1, 1, "dim 1 (dim 0 of a vector)")
vsplit = _directed_split("vsplit", 2, 0, "dim 0")
dsplit = _directed_split("dsplit", 3, 2, "dim 2")


@public()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The parts of `input` along one dim, without that dim (views).

    Raises:
        IndexError: if the dim is out of range, or the tensor has no dims.
    """
    if input.ndim == 0:
        raise IndexError("unbind(): a 0-dim tensor has no dim to unbind")
    return unbind_op(input, wrap_dim(dim, input, "unbind"))


def join_columns(columns: Sequence[Tensor]) -> Tensor:
    """Index tensors broadcast to a common shape and stacked in front."""
    if not any(x.is_box for x in columns):
        arrays = [core.array_of(x) for x in columns]
        if any(a.shape != arrays[0].shape for a in arrays):
            shape = broadcast_shapes_of("index", *[a.shape for a in arrays])
            arrays = [np.broadcast_to(a, shape) for a in arrays]
        return core.from_array(np.array(arrays))
    shape = broadcast_shapes_of("index", *[x.shape for x in columns])
    return stack_op([expand_to(x, shape) for x in columns], 0)
