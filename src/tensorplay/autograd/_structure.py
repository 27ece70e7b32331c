"""Arguments and results of custom functions: tuples whose items may be containers of tensors."""

from __future__ import annotations

from typing import Any

import optree

from tensorplay._core.core import Tensor


class Structure:
    """How a tuple of items is made of leaves. Only containers that hold tensors are opened."""

    __slots__ = ("counts", "specs")

    def __init__(self, specs: list[Any]) -> None:
        nested = any(spec is not None for spec in specs)
        self.specs = specs if nested else None
        self.counts = [1 if spec is None else spec.num_leaves for spec in specs]

    @property
    def items(self) -> int:
        """How many items the tuple has."""
        return len(self.counts)

    def build(self, leaves: Any) -> tuple[Any, ...]:
        """The tuple with these leaves."""
        if self.specs is None:
            return tuple(leaves)
        parts = iter(leaves)
        return tuple(
            next(parts) if spec is None else optree.tree_unflatten(spec, _take(parts, count))
            for spec, count in zip(self.specs, self.counts, strict=True)
        )

    def per_item(self, flags: Any) -> tuple[bool, ...]:
        """Per item, whether the flag of any of its leaves is set."""
        if self.specs is None:
            return tuple(flags)
        parts = iter(flags)
        return tuple(any(_take(parts, count)) for count in self.counts)

    def leaves_like(self, items: Any, what: str) -> list[Any]:
        """The leaves of a tuple of the same structure, where an item may be None for all of its
        leaves.

        Raises:
            RuntimeError: if an item has another structure; `what` begins the message.
        """
        if self.specs is None:
            return list(items)
        found: list[Any] = []
        for k, (item, spec) in enumerate(zip(items, self.specs, strict=True)):
            if spec is None:
                found.append(item)
            elif item is None:
                found += [None] * self.counts[k]
            else:
                leaves, given = optree.tree_flatten(item, none_is_leaf=True)
                if given != spec:
                    raise RuntimeError(
                        f"{what} item {k} has the structure {given}, expected {spec} (or None)"
                    )
                found += leaves
        return found


def _take(parts: Any, count: int) -> list[Any]:
    return [next(parts) for _ in range(count)]


def take_apart(items: tuple[Any, ...]) -> tuple[list[Any], Structure]:
    """The leaves of a tuple of items, and its structure."""
    leaves: list[Any] = []
    specs: list[Any] = []
    for item in items:
        spec = None
        if isinstance(item, (list, tuple, dict)):
            whole: Any = item
            inner, opened = optree.tree_flatten(whole, none_is_leaf=True)
            if any(isinstance(x, Tensor) for x in inner):
                spec = opened
                leaves += inner
        if spec is None:
            leaves.append(item)
        specs.append(spec)
    return leaves, Structure(specs)
