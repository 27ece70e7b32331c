"""`jacrev`, `jacfwd`, `hessian`: whole derivative matrices by one vmap over vjps or jvps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.func._trees import (
    check_argnums,
    check_tensors,
    flatten,
    function_of,
    split_aux,
    unflatten,
)
from tensorplay.func.forward import jvp
from tensorplay.func.reverse import vjp
from tensorplay.transforms.vmap import vmap


def _unit_vectors(leaves: list[Tensor]) -> list[Tensor]:
    """Per leaf a batch of cotangents: together the unit vectors of the joined space."""
    total = sum(x.numel() for x in leaves)
    found, start = [], 0
    for x in leaves:
        count = x.numel()
        block = core.unit_block(total, start, count, x.dtype)
        found.append(block.reshape((total, *x.shape)))
        start += count
    return found


def _split_rows(batch: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    """The rows of a batch over the joined space, apart by leaf and in its shape."""
    found, start = [], 0
    for x in leaves:
        count = x.numel()
        rows = batch.narrow(0, start, count)
        found.append(rows.reshape((*x.shape, *tuple(batch.shape)[1:])))
        start += count
    return found


def jacrev(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """A function that returns the Jacobian of `func`, computed in reverse mode.

    Args:
        func: a function of pytrees of tensors that returns a pytree of tensors.
        argnums: which positional arguments to differentiate by.
        has_aux: `func` returns (output, aux).
        chunk_size: how many rows to compute at a time. Default: all.

    Returns:
        A function that returns, structured as the output and in it as the argument (a tuple for a
        tuple of argnums), tensors of shape (*output.shape, *input.shape).

    >>> import tensorplay as tp
    >>> tp.func.jacrev(tp.sin)(tp.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers = check_argnums(argnums, len(args), "jacrev")
        chosen = tuple(args[i] for i in numbers)
        results = vjp(function_of(func, args, kwargs, numbers), *chosen, has_aux=has_aux)
        output, pull = results[:2]
        outputs, out_spec = flatten(output)
        leaves, spec = flatten(chosen)
        cotangents = _unit_vectors(outputs)
        rows = vmap(
            lambda *units: tuple(flatten(pull(unflatten(out_spec, list(units))))[0]),
            chunk_size=chunk_size,
        )(*cotangents)
        parts = [_split_rows(batch, outputs) for batch in rows]  # [input leaf][output leaf]
        table = unflatten(
            out_spec,
            [
                _only(unflatten(spec, [parts[k][i] for k in range(len(leaves))]), argnums)
                for i in range(len(outputs))
            ],
        )
        return (table, results[2]) if has_aux else table

    return wrapped


def _only(values: Any, argnums: Any) -> Any:
    return values[0] if isinstance(argnums, int) else values


def jacfwd(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *,
    randomness: str = "error", chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """A function that returns the Jacobian of `func`, computed in forward mode.

    Arguments and results as for `jacrev`; randomness: what random operators do, as in `vmap`.

    >>> import tensorplay as tp
    >>> tp.func.jacfwd(tp.sin)(tp.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers = check_argnums(argnums, len(args), "jacfwd")
        chosen = tuple(args[i] for i in numbers)
        leaves, spec = flatten(chosen)
        check_tensors(leaves, "the arguments to differentiate by", "jacfwd")
        inner = function_of(func, args, kwargs, numbers)
        structure: list[Any] = []  # of the output and of aux, the same for every tangent

        def push(*units: Tensor) -> Any:
            tangents = unflatten(spec, list(units))
            output, moved, aux = jvp(
                lambda *values: split_aux(inner(*values), has_aux, "jacfwd"), chosen, tangents,
                has_aux=True,
            )  # fmt: skip
            aux_leaves, aux_spec = flatten(aux)
            others = [_TENSOR if isinstance(x, Tensor) else x for x in aux_leaves]
            structure[:] = flatten(output)[1], aux_spec, others
            return tuple(flatten(moved)[0]), tuple(x for x in aux_leaves if isinstance(x, Tensor))

        columns, aux_tensors = vmap(
            push, out_dims=(0, None), randomness=randomness, chunk_size=chunk_size
        )(*_unit_vectors(leaves))
        out_spec, aux_spec, others = structure
        parts = []
        for batch in columns:  # per output leaf: (total inputs, *output shape)
            pieces = _split_rows(batch, leaves)
            shaped = []
            for piece, x in zip(pieces, leaves, strict=True):
                moved = tuple(range(x.ndim, piece.ndim)) + tuple(range(x.ndim))
                shaped.append(piece.permute(moved))
            parts.append(_only(unflatten(spec, shaped), argnums))
        table = unflatten(out_spec, parts)
        if not has_aux:
            return table
        tensors = iter(aux_tensors)
        return table, unflatten(aux_spec, [next(tensors) if x is _TENSOR else x for x in others])

    return wrapped


_TENSOR = object()  # stands for a tensor among the leaves of aux


def hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that returns the Hessian of a scalar `func`: forward over reverse mode.

    Arguments as for `jacrev`.

    >>> import tensorplay as tp
    >>> tp.func.hessian(lambda x: (x ** 3).sum())(tp.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums, chunk_size=chunk_size), argnums, chunk_size=chunk_size)
