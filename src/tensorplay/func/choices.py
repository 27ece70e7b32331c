"""`safe_where`: a function of the elements for which a condition holds, with finite derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.ops.choices import where


def safe_where(
    condition: Tensor, func: Callable[..., Tensor], inputs: Any, other: Any, *, safe: Any = 1.0
) -> Tensor:
    """`func(inputs)` where `condition` holds, else `other`; what is not chosen has no influence.

    `where(x > 0, sqrt(x), 0)` has a nan gradient at 0: the branch that is not taken has an infinite
    derivative there, and 0 times infinity is nan. Here `func` sees `safe` in place of the elements
    that are not chosen, so its value and all its derivatives are finite there.

    Args:
        condition: a bool tensor.
        func: an elementwise function of one tensor or more.
        inputs: its argument, or a tuple of its arguments, broadcast with the condition.
        other: a tensor or number for where the condition does not hold.
        safe: a number in the domain of `func`, or a tuple with one for each argument.

    Raises:
        TypeError: if the condition is not a tensor.
        RuntimeError: if the condition is not bool.
        ValueError: if `safe` is a tuple of another length than `inputs`.

    >>> import tensorplay as tp
    >>> x = tp.tensor([0., 4.], requires_grad=True)
    >>> tp.func.safe_where(x > 0, tp.sqrt, x, 0.).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """
    values = inputs if isinstance(inputs, tuple) else (inputs,)
    fills = safe if isinstance(safe, tuple) else (safe,) * len(values)
    if len(fills) != len(values):
        raise ValueError(
            f"safe_where(): safe has {len(fills)} values for {len(values)} inputs; give one number "
            "for all of them, or one for each"
        )
    chosen = [where(condition, x, fill) for x, fill in zip(values, fills, strict=True)]
    return where(condition, func(*chosen), other)
