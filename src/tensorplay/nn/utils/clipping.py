"""Gradients clipped, and parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.joining import cat, stack


def _gradients(parameters: Any) -> list[Tensor]:
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [core.detach(p.grad) for p in tensors if p.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """The norm of all tensors taken as one vector.

    Raises:
        RuntimeError: where it is not finite, with error_if_nonfinite.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return core.weak_tensor(0.0).float()
    total = stack([x.norm(float(norm_type)) for x in tensors]).norm(float(norm_type))
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"get_total_norm(): the total norm of order {norm_type} is non-finite, so it cannot be "
            "clipped; give error_if_nonfinite=False to go on"
        )
    return total


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Tensor:  # fmt: skip
    """Scale gradients in place so that their norm, all taken as one vector, is at most `max_norm`.

    Returns the norm before.

    >>> import tensorplay as tp
    >>> p = tp.zeros(2, requires_grad=True)
    >>> p.grad = tp.tensor([3., 4.])
    >>> tp.nn.utils.clip_grad_norm_(p, 1.0), p.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Tensor, foreach: Any = None
) -> None:
    """Scale gradients in place by max_norm / total_norm, if that is less than 1."""
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(factor.to(gradient.dtype))


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Limit every element of the gradients in place to [-clip_value, clip_value]."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, flattened, one after the other.

    >>> import tensorplay as tp
    >>> tp.nn.utils.parameters_to_vector([tp.ones(2), tp.zeros(1, 1)])
    tensor([1., 1., 0.])
    """
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let parameters share the memory of the pieces of a vector.

    Raises:
        TypeError: if `vec` is not a tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters(): expected a Tensor, got {type(vec).__name__}")
    at = 0
    for p in parameters:
        size = p.numel()
        core.set_data(p, core.detach(vec[at : at + size].reshape(p.shape)))
        at += size
