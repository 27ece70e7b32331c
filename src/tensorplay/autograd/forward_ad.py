"""Forward-mode differentiation with dual tensors; levels nest to any depth.

>>> import tensorplay as tp
>>> import tensorplay.autograd.forward_ad as fwAD
>>> with fwAD.dual_level():
...     dual = fwAD.make_dual(tp.tensor(2.), tp.tensor(1.))
...     fwAD.unpack_dual(dual ** 3).tangent
tensor(12.)
"""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.transforms import forward
from tensorplay.transforms.forward import UnpackedDualTensor as UnpackedDualTensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


def enter_dual_level() -> int:
    """Open a forward-mode level inside the open ones and return its number (0 is the outermost)."""
    forward.enter_level()
    return len(forward.forward_levels()) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost forward-mode level.

    Raises:
        RuntimeError: if no level is open, or `level` is not the innermost.
    """
    levels = [level for level in core.active_levels() if level.kind == "forward"]
    if not levels:
        raise RuntimeError(
            "exit_dual_level(): no dual level is open; call enter_dual_level() first"
        )
    if level is not None and level != len(levels) - 1:
        raise RuntimeError(
            f"exit_dual_level(): level {level} is not the innermost one, {len(levels) - 1}; close "
            "levels in the opposite order of opening"
        )
    forward.exit_level(levels[-1])


class dual_level:
    """Context manager of one forward-mode level; tangents made inside are gone at its end."""

    def __enter__(self) -> int:
        self._level = forward.enter_level()
        return len(forward.forward_levels()) - 1

    def __exit__(self, *_: Any) -> None:
        forward.exit_level(self._level)


def _level_at(level: int | None, name: str) -> Any:
    levels = forward.forward_levels()
    if not levels:
        raise RuntimeError(
            f"{name}(): a dual tensor needs a dual level; use `with dual_level():` around it"
        )
    if level is None:
        return levels[-1]
    if not 0 <= level < len(levels):
        raise RuntimeError(f"{name}(): level {level} is not open; {len(levels)} levels are")
    return levels[level]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with the values of `tensor` that carries `tangent`, of the same shape and dtype.

    level: which open level the tangent belongs to. Default: the innermost.

    Raises:
        RuntimeError: outside of a dual level, or if shape or dtype of the tangent differ.
        TypeError, ValueError: if an argument is no tensor of floating point or complex dtype.
    """
    forward.check_dual(tensor, tangent, "make_dual")
    return forward.attach_tangent(tensor, tangent, _level_at(level, "make_dual"))


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal of a tensor, and its tangent at a level (None where it has none)."""
    levels = forward.forward_levels()
    if not levels:
        return UnpackedDualTensor(tensor, None)
    at = _level_at(level, "unpack_dual")
    return UnpackedDualTensor(forward.without_level(tensor, at), forward.tangent_at(tensor, at))
