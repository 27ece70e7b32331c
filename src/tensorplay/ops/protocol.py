"""A tensor as a Python object: its text, iteration, membership, equality, hooks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import printing
from tensorplay.ops.kinds import method, public

# --- text -----------------------------------------------------------------------------------------


@method("__repr__")
def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    if self.is_box:
        return _box_repr(self)
    suffixes = []
    grad_fn = self.grad_fn
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn.name()}>")
    elif self.requires_grad:
        suffixes.append("requires_grad=True")
    for tangent in core.tangents_of(self).values():
        suffixes.append(f"tangent={tangent!r}")
    kind = type(self)
    plain = kind is Tensor or kind.__name__ in ("Parameter", "Buffer")
    prefix = "tensor(" if plain else f"{kind.__name__}("
    return printing.format_tensor(core.array_of(self), suffixes=suffixes, prefix=prefix)


def _box_repr(x: Tensor) -> str:
    level = core.box_level(x)
    found = [each for each in core.active_levels() if each.id == level]
    if not found:
        return f"Tensor(shape={list(x.shape)}, dtype={x.dtype}, of a transform that has ended)"
    value, bdim = core.unbox(x, found[0])
    inner = textwrap.indent(repr(value), "    ")
    if bdim is None:
        return f"GradTrackingTensor(lvl={level}, value=\n{inner}\n)"
    return f"BatchedTensor(lvl={level}, bdim={bdim}, value=\n{inner}\n)"


core.set_operator("repr", _repr)


@method("__format__")
def _format(self: Tensor, format_spec: str) -> str:
    if self.ndim == 0 and type(self) is Tensor and not core.batched_levels(self):
        return format(self.item(), format_spec)
    return object.__format__(self, format_spec)


# --- as a sequence --------------------------------------------------------------------------------


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, np.ndarray, np.generic, bool, int, float, complex)):
        raise RuntimeError(
            f"__contains__(): only a Tensor or a number can be in a tensor, not "
            f"{type(element).__name__}"
        )
    return bool(core.array_of(self == element, "'in'").any())


core.set_operator("iter", _iter)
core.set_operator("contains", _contains)


@method("__reversed__")
def _reversed(self: Tensor) -> Tensor:
    return self.flip(0) if self.ndim else self


# --- whole-tensor comparisons ---------------------------------------------------------------------


@public()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements.

    Raises:
        RuntimeError: if their dtypes differ; inside vmap.

    >>> import tensorplay as tp
    >>> tp.equal(tp.tensor([1, 2]), tp.tensor([1, 2]))
    True
    """
    given: tuple[Any, ...] = (input, other)
    for each in given:
        if not isinstance(each, Tensor):
            raise TypeError(f"equal(): arguments must be Tensors, not {type(each).__name__}")
    if input.shape != other.shape:
        return False
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"equal(): expected tensors of the same dtype, got {input.dtype} and {other.dtype}"
        )
    x, y = core.array_of(input, "equal()"), core.array_of(other, "equal()")
    return core.same_elements(x, y)


@public()
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether `|input - other| <= atol + rtol * |other|` for all elements.

    Raises:
        RuntimeError: if the dtypes differ, or a tolerance is negative; inside vmap.

    >>> import tensorplay as tp
    >>> tp.allclose(tp.tensor([1.0]), tp.tensor([1.0 + 1e-7]))
    True
    """
    close = input.isclose(other, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return bool(core.array_of(close, "allclose()").all())


@public()
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of a tensor is not zero.

    Raises:
        RuntimeError: if there are several elements or none.
    """
    return bool(input)


# --- hooks ----------------------------------------------------------------------------------------


@method()
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Any:
    """Call `hook(grad)` whenever the gradient of this tensor has been computed.

    What it returns, unless None, takes the place of the gradient; it must not change it in place.
    Hooks run in the order in which they were registered. Returns a handle with `remove()`.

    Raises:
        RuntimeError: if this tensor does not require grad.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 10)
    >>> x.sum().backward()
    >>> x.grad
    tensor([10., 10.])
    >>> handle.remove()
    """
    if not self.requires_grad:
        raise RuntimeError(
            "register_hook(): this tensor has requires_grad=False, so there is no gradient to call "
            "a hook with"
        )
    node = self.grad_fn
    hooks = core.leaf_hooks(self, False) if node is None else node.hooks_of(self.output_number)
    return core.RemovableHandle(hooks, hook)


@method()
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> Any:
    """Call `hook(tensor)` after a gradient has been accumulated into the `grad` of this leaf.

    Returns a handle with `remove()`.

    Raises:
        RuntimeError: if this tensor does not require grad, or is not a leaf.
    """
    if not self.requires_grad:
        raise RuntimeError(
            "register_post_accumulate_grad_hook(): this tensor has requires_grad=False"
        )
    if self.grad_fn is not None:
        raise RuntimeError(
            "register_post_accumulate_grad_hook(): this tensor is not a leaf, so no gradient is "
            "accumulated into it"
        )
    return core.RemovableHandle(core.leaf_hooks(self, True), hook)
