"""`vmap`: run a function written for one sample on a whole batch.

Inside, every mapped tensor is a box that hides its batch dimension; the batching rules of the
operators see the boxes' values. Nothing loops over the batch in Python.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import get_rng_state, set_rng_state

RANDOMNESS = ("error", "same", "different")


def _is_dim(value: Any) -> bool:
    return value is None or isinstance(value, int)


def broadcast_dims(dims: Any, tree: Any, message: str) -> list[Any]:
    """One dim per leaf of `tree`, from a prefix structure of dims; ValueError with the message."""
    if type(tree) is tuple and type(dims) is tuple and len(tree) == len(dims):
        if all(isinstance(x, Tensor) and _is_dim(d) for x, d in zip(tree, dims, strict=True)):
            return list(dims)
    try:
        full = optree.tree_broadcast_prefix(dims, tree, is_leaf=_is_dim, none_is_leaf=True)
    except (ValueError, TypeError):
        raise ValueError(message) from None
    return list(optree.tree_leaves(full, is_leaf=_is_dim, none_is_leaf=True))


def flat_in_dims(
    in_dims: Any, args: tuple[Any, ...], name: str
) -> tuple[list[Any], Any, list[Any]]:
    """The leaves of the arguments, their structure, and a checked in_dim per leaf.

    Raises:
        ValueError: if in_dims does not fit the arguments.
    """
    if not isinstance(in_dims, (int, tuple, list)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{name}(): in_dims must be an int or a tuple matching the inputs, got "
            f"{type(in_dims).__name__}"
        )
    tree: Any = args
    leaves: list[Any]
    leaves, spec = optree.tree_flatten(tree, none_is_leaf=True)
    if isinstance(in_dims, int):
        dims: list[Any] = [in_dims] * len(leaves)
    elif len(in_dims) != len(args):
        raise ValueError(
            f"{name}(): in_dims={in_dims} has {len(in_dims)} entries for {len(args)} positional "
            "arguments; give one (an int, None, or a structure of them) for each"
        )
    else:
        message = f"{name}(): in_dims={in_dims} is not compatible with the structure of the inputs"
        dims = broadcast_dims(tuple(in_dims), args, message)
    checked = [_check_dim(x, d, in_dims, name) for x, d in zip(leaves, dims, strict=True)]
    return leaves, spec, checked


def _check_dim(leaf: Any, dim: Any, in_dims: Any, name: str) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"{name}(): in_dims={in_dims} must hold ints and None, got {dim!r}")
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{name}(): in_dims={in_dims} maps over dim {dim} of an input that is not a tensor but "
            f"{type(leaf).__name__}; use None for it"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{name}(): in_dims={in_dims} maps over dim {dim} of an input of shape "
            f"{list(leaf.shape)}, which has {leaf.ndim} dims"
        )
    return dim % leaf.ndim


def batch_size_of(leaves: list[Any], dims: list[Any], in_dims: Any, name: str) -> int:
    """The common size of the mapped dims.

    Raises:
        ValueError: if nothing is mapped, or sizes differ.
    """
    sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            f"{name}(): in_dims={in_dims} maps over no input; at least one tensor must be mapped"
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            f"{name}(): expected the mapped dims of all inputs to have one size, got sizes {sizes}"
        )
    return sizes[0]


def _flat_out_dims(out_dims: Any, outputs: Any, count: int) -> list[Any]:
    if _is_dim(out_dims):
        return [out_dims] * count
    message = f"vmap(): out_dims={out_dims} is not compatible with the structure of the outputs"
    if isinstance(outputs, Tensor):
        single = isinstance(out_dims, (tuple, list)) and len(out_dims) == 1
        dims = [out_dims[0]] if single else [out_dims]
    else:
        if type(outputs) in (tuple, list) and type(out_dims) in (tuple, list):
            out_dims = type(outputs)(out_dims)
        dims = broadcast_dims(out_dims, outputs, message)
    if not all(map(_is_dim, dims)):
        raise ValueError(message)
    return dims


def remove_batch(x: Tensor, level: Any, out_dim: int | None, size: int) -> Tensor:
    """A result of the mapped function, with its batch at `out_dim`."""
    value, bdim = core.unbox(x, level)
    if out_dim is None:
        if bdim is not None:
            raise ValueError(
                "vmap(): out_dims has None for an output that differs between samples; give the "
                "dim at which to put the batch"
            )
        return value
    ndim = value.ndim + (bdim is None)
    if not -ndim <= out_dim < ndim:
        raise IndexError(
            f"vmap(): out_dims has {out_dim} for an output that has {ndim} dims with its batch"
        )
    if bdim is None:
        value = value.unsqueeze(0).expand((size, *value.shape))
        bdim = 0
    return value if bdim == out_dim % ndim else value.movedim(bdim, out_dim % ndim)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Turn a function of one sample into a function of a batch, computed in one go.

    Args:
        func: a function of tensors (positional arguments may be nested containers) that returns
            tensors, nested or not.
        in_dims: which dim of each input is the batch: an int for all, or a tuple with an int, None
            (not mapped) or a matching structure per argument. Keyword arguments are not mapped.
        out_dims: where the batch goes in the outputs: an int, or a structure of ints.
        randomness: what random operators inside do: 'error' refuse, 'same' for all samples,
            'different' for each.
        chunk_size: how many samples to do at a time, to bound memory. Default: all.

    Returns:
        A function with the arguments of `func`, each mapped one with a batch dimension.

    Raises:
        ValueError: from the returned function, if in_dims or out_dims do not fit.

    >>> import tensorplay as tp
    >>> tp.vmap(tp.dot)(tp.ones(2, 3), tp.ones(2, 3))
    tensor([3., 3.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"vmap(): randomness must be one of {RANDOMNESS}, got {randomness!r}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap(): chunk_size must be None or a positive int, got {chunk_size}")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec, dims = flat_in_dims(in_dims, args, "vmap")
        size = batch_size_of(leaves, dims, in_dims, "vmap")

        def run(chunk: list[Any], length: int) -> tuple[list[Any], list[Any], Any]:
            level = core.push_level("vmap", length, randomness)
            try:
                boxed = [
                    x if d is None else core.box(x, d, level)
                    for x, d in zip(chunk, dims, strict=True)
                ]
                inputs = optree.tree_unflatten(spec, boxed)
                return _collect(func(*inputs, **kwargs), level, out_dims, length)
            finally:
                core.pop_level(level)

        if chunk_size is None or chunk_size >= size:
            results, _, out_spec = run(leaves, size)
        else:
            same = randomness == "same"
            results, out_spec = _in_chunks(run, leaves, dims, size, chunk_size, same)
        return optree.tree_unflatten(out_spec, results)

    return mapped


def _collect(
    outputs: Any, level: Any, out_dims: Any, size: int
) -> tuple[list[Any], list[Any], Any]:
    """The outputs without their boxes, the dims of their batches, and their structure."""
    flat, spec = optree.tree_flatten(outputs, none_is_leaf=True)
    for item in flat:
        if not isinstance(item, Tensor):
            raise ValueError(
                "vmap(): the function must return tensors (nested or not), got a "
                f"{type(item).__name__}"
            )
    places = _flat_out_dims(out_dims, outputs, len(flat))
    results = [remove_batch(x, level, d, size) for x, d in zip(flat, places, strict=True)]
    return results, places, spec


def _in_chunks(
    run: Any, leaves: list[Any], dims: list[Any], size: int, chunk_size: int, same: bool
) -> tuple[list[Any], Any]:
    """The results of `run` on parts of the batch, joined; `same`: they draw the same numbers."""
    state = get_rng_state() if same else None
    parts: list[list[Any]] = []
    places: list[Any] = []
    spec = None
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        if state is not None:
            set_rng_state(state)
        chunk = [
            x if d is None else x.narrow(d, start, length)
            for x, d in zip(leaves, dims, strict=True)
        ]
        results, places, spec = run(chunk, length)
        parts.append(results)
    joined = [
        pieces[0] if d is None else core.registry["cat"](list(pieces), d % pieces[0].ndim)
        for d, pieces in zip(places, zip(*parts, strict=True), strict=True)
    ]
    return joined, spec
