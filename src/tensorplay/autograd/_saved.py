"""Saved tensors: hooks on them, and what a custom function keeps for its backward."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor

_HOOKS_BIT = 1

INPUT, OUTPUT, OTHER = "input", "output", "other"


# --- hooks ----------------------------------------------------------------------------------------


class saved_tensors_hooks:
    """Context manager: what operations save for the backward pass goes through a pair of hooks.

    Args:
        pack_hook: from the tensor to be saved to anything. It runs unrecorded, and must not change
            the tensor. Leaves are seen as they are, other tensors without history and tangents,
            and of tensors inside transforms the plain values: all of that is kept for them.
        unpack_hook: from what `pack_hook` returned to a tensor of the same values.

    The innermost pair in force takes all. Inside a pack hook no hooks are in force.

    Raises:
        RuntimeError: on entering inside `disable_saved_tensors_hooks`.
        TypeError: if a hook is not callable; in the backward pass, if `unpack_hook` returned
            something else than a tensor.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> with tp.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), tp.from_numpy):
    ...     y = x.exp().exp()
    >>> y.sum().backward()
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(
                    f"saved_tensors_hooks(): {name} must be callable, got {type(hook).__name__}"
                )
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> Any:
        message = core.mode_data.saved_hooks_disabled
        if message is not None:
            raise RuntimeError(message)
        core.mode_data.saved_hooks.append((self.pack_hook, self.unpack_hook))
        core.set_mode(_HOOKS_BIT, True)
        return self

    def __exit__(self, *_: Any) -> None:
        core.mode_data.saved_hooks.pop()
        core.set_mode(_HOOKS_BIT, bool(core.mode_data.saved_hooks))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context manager in which hooks on saved tensors are refused, with this message.

    Raises:
        RuntimeError: if hooks are in force already.

    >>> import tensorplay as tp
    >>> with tp.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     with tp.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    ...         pass
    Traceback (most recent call last):
    RuntimeError: no hooks here
    """
    if core.mode_data.saved_hooks:
        raise RuntimeError(error_message)
    previous = core.mode_data.saved_hooks_disabled
    core.mode_data.saved_hooks_disabled = error_message
    try:
        yield
    finally:
        core.mode_data.saved_hooks_disabled = previous


# --- what a custom function keeps -----------------------------------------------------------------


class Reference:
    """A tensor handed to `save_for_backward`, named by what it is to the function.

    An input or output stands for itself at every transform level; any other tensor is boxed where
    a level needs it so.
    """

    __slots__ = ("index", "kind", "value")

    def __init__(self, kind: str, index: int, value: Tensor | None) -> None:
        self.kind = kind
        self.index = index
        self.value = value


def refer(tensors: Any, inputs: Any, outputs: Any) -> list[Reference]:
    """References for tensors (or None), found among inputs and outputs by identity."""
    places = {id(x): (INPUT, i) for i, x in enumerate(inputs) if isinstance(x, Tensor)}
    # An input changed in place is an output as well: what is saved is the new value.
    places.update({id(x): (OUTPUT, i) for i, x in enumerate(outputs) if isinstance(x, Tensor)})
    return [Reference(*places.get(id(x), (OTHER, 0)), x) for x in tensors]


class SavedValue:
    """One saved tensor: packed by the hooks in force, else checked against in-place changes."""

    __slots__ = ("hooked", "index", "kind", "value", "version")

    def __init__(self, reference: Reference, value: Tensor | None) -> None:
        self.kind = reference.kind
        self.index = reference.index
        self.hooked = False
        self.version = 0
        if self.kind == OUTPUT and value is not None:
            value = _without_history(value)  # the output's node keeps it: no cycle
        self.value: Any = value
        if value is None:
            return
        if core.get_mode(_HOOKS_BIT):
            self.value = core.pack_tensor(value)
            self.hooked = True
        else:
            self.version = value._version

    def set_tangents(self, tangents: dict[int, Tensor]) -> None:
        """Let a saved output carry the tangents that the output has got since."""
        if self.value is not None:
            core.keep_tangents(self.value, dict(tangents))

    def get(self, node: Any, name: str) -> Tensor | None:
        """The tensor, at its place in the graph of `node` (None: there is no graph)."""
        value = self.value
        if value is None:
            return None
        if self.hooked:
            value = core.unpack_tensor(value)
        elif value._version != self.version:
            raise RuntimeError(
                f"{name}: a tensor saved with save_for_backward() was changed by an in-place "
                f"operation: {value.dtype} of shape {list(value.shape)} is at version "
                f"{value._version}, expected version {self.version}; save a .clone(), or change "
                "it out of place"
            )
        if node is None or self.kind == OTHER:
            return value
        if self.kind == OUTPUT:
            return (
                core.at_edge(value, node, self.index) if node.differentiable(self.index) else value
            )
        edge, number = node.next_functions[self.index]
        if edge is None or core.gradient_edge(value) == (edge, number):
            return value
        return core.at_edge(value, edge, number)


def _without_history(x: Tensor) -> Tensor:
    kept = core.without_history(x)
    core.replace_tangents(kept, core.tangents_of(x))
    return kept
