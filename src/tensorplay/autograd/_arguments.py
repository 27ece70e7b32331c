"""What the functions of `autograd.functional` share: checking inputs, vectors and results."""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor


def as_tuple(value: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """(was a tuple, its tensors) of a tensor or tuple of tensors.

    Raises:
        TypeError: if it is neither.
    """
    given = isinstance(value, tuple)
    items = value if given else (value,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            if given:
                raise TypeError(
                    f"{name}(): {what} must be a tensor or a tuple of tensors, but element {i} is "
                    f"{type(item).__name__}"
                )
            raise TypeError(
                f"{name}(): {what} must be a tensor or a tuple of tensors, got "
                f"{type(item).__name__}"
            )
    return given, items


def check_differentiable(inputs: tuple[Tensor, ...], name: str) -> None:
    """Raise RuntimeError unless every input is floating point or complex."""
    for i, x in enumerate(inputs):
        if not core.is_differentiable_dtype(x):
            raise RuntimeError(
                f"{name}(): the inputs must be floating point or complex to be differentiated by, "
                f"but number {i} has dtype {x.dtype}; convert it first, e.g. with .float()"
            )


def fresh_inputs(inputs: tuple[Tensor, ...], create_graph: bool, name: str) -> tuple[Tensor, ...]:
    """Inputs to differentiate by: aliases in the graph with create_graph, else new leaves.

    Raises:
        RuntimeError: if one is neither floating point nor complex.
    """
    check_differentiable(inputs, name)
    if create_graph:
        return tuple(
            x.view_as(x) if x.requires_grad else core.detach(x).requires_grad_() for x in inputs
        )
    return tuple(core.detach(x).requires_grad_() for x in inputs)


def result(value: Any, given: bool, create_graph: bool) -> Any:
    """Results as they were asked for: detached unless create_graph, a tuple if inputs were one."""
    items = tuple(x if create_graph else core.detach(x) for x in value)
    return items if given else items[0]


def check_vectors(v: Any, like: tuple[Tensor, ...], given: bool, what: str, name: str) -> tuple:
    """The vector argument as a tuple that matches `like` in length and shapes.

    Raises:
        RuntimeError: if it does not.
    """
    _, vectors = as_tuple(v, "v", name)
    if len(vectors) != len(like):
        if given:
            raise RuntimeError(
                f"{name}(): v is a tuple of length {len(vectors)}, but {what} has {len(like)}"
            )
        raise RuntimeError(f"{name}(): v has {len(vectors)} tensors, but {what} is a single tensor")
    for i, (vector, x) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != x.shape:
            raise RuntimeError(
                f"{name}(): entry {i} of v has shape {list(vector.shape)}, but {what} has "
                f"{list(x.shape)}; they must have the same size"
            )
    return vectors


def ones_for_single(like: tuple[Tensor, ...], what: str, name: str) -> tuple[Tensor, ...]:
    """The vector [1] that is implied for a single element.

    Raises:
        RuntimeError: if there is more than one.
    """
    if len(like) != 1 or like[0].numel() != 1:
        raise RuntimeError(
            f"{name}(): v can be left out only if {what} has a single element, but it has shapes "
            f"{[list(x.shape) for x in like]}; give v"
        )
    return tuple(x.new_ones(tuple(x.shape)) for x in like)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of x's shape and dtype."""
    return core.new_zeros(tuple(x.shape), x.dtype)


def strict_failure(name: str, text: str) -> RuntimeError:
    """The error of strict mode."""
    return RuntimeError(f"{name}(): {text}; with strict=True this is an error, with strict=False "
                        "it counts as zero")  # fmt: skip
