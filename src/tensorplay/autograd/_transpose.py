"""Transposing a linear function by differentiating it.

A pullback is linear in its cotangents u, so the derivative of <pullback(u), t> by u is the tangent
of the outputs for the tangent t of the inputs: forward mode from a reverse rule alone. The same
the other way round gives reverse mode from a forward rule. The trick is from Jamie Townsend, "A new
trick for calculating Jacobian vector products" (2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import set_transposition


def transpose(
    linear: Callable[[list[Any]], Any], given: list[Any], metas: list[Any], message: str
) -> list[Any]:
    """The transpose of `linear` applied to `given`.

    Args:
        linear: from a list of tensors described by `metas` to a list of tensors (or None) like
            `given`.
        given: tensors, or None for zero.
        metas: (shape, dtype) of each tensor that `linear` takes, or None where it takes nothing.
        message: what to say where `linear` leaves the library's sight.

    Returns:
        Per entry of `metas` a tensor, or None for zero.
    """
    recorded = core.is_grad_enabled()
    points: list[Any] = [None if meta is None else _point(given, *meta) for meta in metas]
    core.set_grad_mode(True)
    try:
        results = linear(list(points))
    finally:
        core.set_grad_mode(recorded)
    roots, unconnected = [], []
    for i, (result, cotangent) in enumerate(zip(results, given, strict=True)):
        if result is None or cotangent is None:
            continue
        if result.requires_grad:
            roots.append((*core.gradient_edge(result), cotangent))
        else:
            unconnected.append(i)
    if unconnected:
        _check_zero(linear, points, unconnected, message)
    wanted = [j for j, point in enumerate(points) if point is not None]
    found: list[Any] = [None] * len(points)
    if roots and wanted:
        edges = [core.gradient_edge(points[j]) for j in wanted]
        for j, value in zip(wanted, core.run_backward(roots, True, recorded, edges), strict=True):
            found[j] = value
    return found


def _point(among: list[Any], shape: tuple[int, ...], dtype: Any) -> Tensor:
    """Zeros to differentiate by, at the innermost transform level that some tensors live at."""
    point = core.new_zeros(shape, dtype)
    number = max((core.box_level(x) for x in among if x is not None), default=0)
    if number:
        for level in core.active_levels():
            if level.id == number:
                point = core.box(point, None, level)
    point.requires_grad = True
    return point


def _check_zero(linear: Any, points: list[Any], unconnected: list[int], message: str) -> None:
    """A result that does not depend on the argument must be zero, else its dependence was lost."""
    previous = core.set_grad_mode(False)
    try:
        results = linear([None if point is None else point + 1 for point in points])
    finally:
        core.set_grad_mode(previous)
    for i in unconnected:
        value = results[i]
        while isinstance(value, Tensor) and value.is_box:
            value = core.unboxed(value)
        if value is not None and bool((value != 0).any()):
            raise RuntimeError(message)


def tangents_by_transposition(
    pullback: Callable[[list[Any]], Any], tangents: list[Any], outputs: list[Any], name: str
) -> list[Any]:
    """The tangents of `outputs` from a pullback of cotangents alone.

    outputs: per output the tensor, or None where it is not differentiable.
    """
    return transpose(
        pullback,
        tangents,
        [None if x is None else (tuple(x.shape), x.dtype) for x in outputs],
        f"{name}: forward mode transposes its backward, which must do so with tensor operations "
        "all the way from the cotangent; write it so, or give a jvp rule",
    )


def _primitive_tangents(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule of a primitive from its reverse rule."""
    single = p.outputs == 1
    outputs = [out] if single else list(out)
    wanted = tuple(t is not None for t in tangents)

    def pullback(cotangents: list[Any]) -> list[Any]:
        g = cotangents[0] if single else tuple(cotangents)
        if p.vjp_joint is not None:
            found = p.vjp_joint.call(primals, params, out, g, wanted)
            values = list(found) if isinstance(found, (tuple, list)) else [found]
        else:
            values = [
                rule.call(primals, params, out, g) if rule is not None and want else None
                for rule, want in zip(p.vjp_rules, wanted, strict=True)
            ]
        return [
            value if value is None or value.shape == x.shape
            else core.registry["sum_to"](value, tuple(x.shape))
            for value, x in zip(values, primals, strict=True)
        ]  # fmt: skip

    shown = [
        None if j in p.fixed or not core.is_differentiable_dtype(x) else x
        for j, x in enumerate(outputs)
    ]
    found = tangents_by_transposition(pullback, list(tangents), shown, f"{p.name}()")
    return found[0] if single else tuple(found)


set_transposition(_primitive_tangents)
