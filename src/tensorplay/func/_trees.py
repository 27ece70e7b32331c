"""Arguments and results as pytrees: choosing arguments by number, flattening, checking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import optree

from tensorplay._core import core
from tensorplay._core.core import Tensor


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a pytree and its structure."""
    leaves, spec = optree.tree_flatten(tree)
    return list(leaves), spec


def unflatten(spec: Any, leaves: Any) -> Any:
    """The pytree of a structure with other leaves."""
    return optree.tree_unflatten(spec, leaves)


def check_argnums(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """Argument numbers as a tuple of non-negative ints.

    Raises:
        RuntimeError: if one is out of range or appears twice.
    """
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise RuntimeError(
            f"{name}(): argnums must be an int or a tuple of ints, got {type(argnums).__name__}"
        )
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError(f"{name}(): argnums is empty; name at least one argument")
    found = []
    for number in numbers:
        if not isinstance(number, int) or not -count <= number < count:
            raise RuntimeError(
                f"{name}(): argnums has {number!r}, but the function was called with {count} "
                "positional arguments"
            )
        found.append(number % count)
    if len(set(found)) != len(found):
        raise RuntimeError(f"{name}(): argnums={argnums} names an argument twice")
    return tuple(found)


def check_tensors(leaves: list[Any], what: str, name: str) -> None:
    """Raise ValueError unless every leaf is a tensor."""
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{name}(): {what} must be tensors (nested or not), got {type(leaf).__name__}"
            )


def check_differentiable(leaves: list[Any], name: str) -> None:
    """Raise RuntimeError unless every tensor is floating point or complex."""
    for i, leaf in enumerate(leaves):
        if not core.is_differentiable_dtype(leaf):
            raise RuntimeError(
                f"{name}(): argument {i} to differentiate by must be floating point or complex, "
                f"got dtype {leaf.dtype}; convert it first, e.g. with .float()"
            )


def split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """(output, aux) of a function that returns both when has_aux."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{name}(): with has_aux=True the function must return a tuple (output, aux)"
        )
    return result


def unbox_tree(tree: Any, level: Any) -> Any:
    """A pytree whose tensors are taken out of a level; other leaves stay."""
    if isinstance(tree, Tensor):
        return core.unbox(tree, level)[0]
    return optree.tree_map(lambda x: core.unbox(x, level)[0] if isinstance(x, Tensor) else x, tree)


def replace_args(args: tuple[Any, ...], numbers: tuple[int, ...], values: Any) -> list[Any]:
    """The arguments with those of the given numbers replaced."""
    changed = list(args)
    for number, value in zip(numbers, values, strict=True):
        changed[number] = value
    return changed


def function_of(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, numbers: tuple[int, ...]
) -> Callable[..., Any]:
    """`func` as a function of the chosen arguments alone."""
    return lambda *values: func(*replace_args(args, numbers, values), **kwargs)
