"""Forward-mode levels: dual tensors that carry a tangent per level.

Levels nest. A tensor's tangent at a level may itself carry tangents of outer levels (those entered
before), which is how higher derivatives come out right: at level L the forward rules see primals
with their tangents of the levels below L.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorplay._core import core
from tensorplay._core.core import Tensor


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the primal, and the tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_level() -> Any:
    """Open a forward-mode level inside those that are open."""
    return core.push_level("forward")


def exit_level(level: Any) -> None:
    """Close a forward-mode level; its tangents are gone."""
    core.pop_level(level)


def forward_levels() -> list[Any]:
    """The open forward-mode levels of this thread, outermost first.

    A thread that has opened none works at the levels of the other threads, as in PyTorch.
    """
    own = [level for level in core.active_levels() if level.kind == "forward"]
    return own or core.open_forward_levels()


def check_dual(primal: Any, tangent: Any, name: str) -> None:
    """Raise where a tangent does not fit its primal."""
    for label, value in (("tensor", primal), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{label}' must be a Tensor, got {type(value).__name__}"
            )
    if not core.is_differentiable_dtype(primal):
        raise ValueError(
            f"{name}(): expected the primal to be floating point or complex, got {primal.dtype}"
        )
    if not core.is_differentiable_dtype(tangent):
        raise ValueError(
            f"{name}(): expected the tangent to be floating point or complex, got {tangent.dtype}"
        )
    if tuple(primal.shape) != tuple(tangent.shape):
        raise RuntimeError(
            f"{name}(): the tangent has shape {list(tangent.shape)}, but its primal has shape "
            f"{list(primal.shape)}; they must be equal"
        )
    if primal.dtype is not tangent.dtype:
        raise RuntimeError(
            f"{name}(): the tangent has dtype {tangent.dtype}, but its primal has dtype "
            f"{primal.dtype}; they must be equal"
        )


def attach_tangent(primal: Tensor, tangent: Tensor, level: Any) -> Tensor:
    """An alias of `primal` with a tangent at a level.

    The primal is lifted to the innermost vmap or gradient level, so that a tangent that lives there
    never meets the values inside a box. A tangent that itself carries tangents of levels inside
    `level` is put in order: those belong to the inner levels' tangents.
    """
    primal = core.lift(primal)
    tangents = core.tangents_of(primal)
    if level.id in tangents:
        raise RuntimeError(
            "make_dual(): the tensor already has a tangent at this level; unpack it first"
        )
    inner = {k: t for k, t in core.tangents_of(tangent).items() if k > level.id}
    outer_part = {k: t for k, t in core.tangents_of(tangent).items() if k < level.id}
    if inner:
        tangent = core.with_tangents(tangent, outer_part)
    new = {**tangents, level.id: tangent}
    for k, mixed in inner.items():
        base = new.get(k, core.zeros_of(primal))
        new[k] = attach_tangent(base, mixed, level)
    return core.with_tangents(primal, new)


def tangent_at(x: Tensor, level: Any) -> Tensor | None:
    """The tangent of x at a level; also where it sits inside x's boxes."""
    found = core.tangents_of(x).get(level.id)
    if not x.is_box:
        return found
    inner = core.map_box(x, lambda value: tangent_at(value, level))
    if found is None or inner is None:
        return inner if found is None else found
    return found + inner


def without_level(x: Tensor, level: Any) -> Tensor:
    """x without its tangent at a level (and at levels inside it)."""
    return core.primal_below(x, level.id)
