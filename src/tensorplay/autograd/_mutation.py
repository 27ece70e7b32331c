"""`allow_mutation_on_saved_tensors`: saved tensors are copied just before they are changed."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._saved import saved_tensors_hooks

_MUTATION_BIT = 32

_local = threading.local()


class _Kept:
    """A saved tensor; a copy of it once its memory was about to be changed."""

    __slots__ = ("__weakref__", "context", "tensor")

    def __init__(self, tensor: Tensor, context: AllowMutationContext) -> None:
        self.tensor: Tensor | None = tensor
        self.context = context


class AllowMutationContext:
    """What `allow_mutation_on_saved_tensors` keeps of the graphs made inside."""

    def __init__(self) -> None:
        self.active = True
        # Memory is told apart by its counter of changes, which views and aliases share; the
        # counter itself is kept, so that its id stays its own.
        self._by_memory: dict[int, tuple[Any, list[Any]]] = {}

    def pack(self, x: Tensor) -> _Kept:
        """Remember where a saved tensor's memory is."""
        kept = _Kept(x, self)
        memory = core.version_object(x)
        self._by_memory.setdefault(id(memory), (memory, []))[1].append(weakref.ref(kept))
        return kept

    def before_write(self, x: Tensor) -> None:
        """Copy what was saved from the memory of x, which is about to be changed."""
        copies: dict[int, Tensor] = {}
        _, references = self._by_memory.pop(id(core.version_object(x)), (None, []))
        for reference in references:
            kept = reference()
            if kept is None or kept.tensor is None:
                continue
            source = kept.tensor
            if id(source) not in copies:
                copies[id(source)] = core.from_array(core.array_of(source).copy(order="K"))
            kept.tensor = copies[id(source)]

    def clear(self) -> None:
        """Let go of every saved tensor; the graphs cannot be run backward any more."""
        for _, references in self._by_memory.values():
            for reference in references:
                kept = reference()
                if kept is not None:
                    kept.tensor = None
        self._by_memory.clear()


def _unpack(kept: _Kept) -> Tensor:
    if not kept.context.active:
        raise AssertionError(
            "allow_mutation_on_saved_tensors(): the backward pass runs outside of the context in "
            "which the graph was recorded; call it inside"
        )
    if kept.tensor is None:
        raise RuntimeError(
            "allow_mutation_on_saved_tensors(): the saved tensors were let go of by clear()"
        )
    return kept.tensor


def _before_write(x: Tensor) -> None:
    _local.context.before_write(x)


core.register_layer(before_write=_before_write)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowMutationContext]:
    """Context manager: tensors that were saved for the backward pass may be changed in place.

    What was saved is copied just before such a change, and only then. Run the backward pass inside.

    Raises:
        RuntimeError: if it is nested.
        AssertionError: in a backward pass after the end of the context.

    >>> import tensorplay as tp
    >>> with tp.autograd.graph.allow_mutation_on_saved_tensors():
    ...     a = tp.ones(2, requires_grad=True)
    ...     b = a.clone()
    ...     c = b ** 2
    ...     _ = b.sin_()
    ...     c.sum().backward()
    >>> a.grad
    tensor([2., 2.])
    """
    if core.get_mode(_MUTATION_BIT):
        raise RuntimeError(
            "allow_mutation_on_saved_tensors(): it is in force already and cannot be nested"
        )
    context = AllowMutationContext()
    _local.context = context
    core.set_mode(_MUTATION_BIT, True)
    try:
        with saved_tensors_hooks(context.pack, _unpack):
            yield context
    finally:
        core.set_mode(_MUTATION_BIT, False)
        context.active = False
        context.clear()
        _local.context = None
