"""Checkpointing by hooks: operations save a place in a list, and what belongs there is recomputed.

While a checkpointed function runs, each tensor that is saved for the backward pass is replaced by a
`Slot`, which knows how many were saved before it. When a backward pass asks for one, the function
runs again under hooks that count in the same way and keep what is still wanted. The graph that this
makes is thrown away: the values take their places in the first one.

Inside transforms, several levels save tensors side by side. The levels that were active are opened
again for the recomputation, so that it saves the same tensors in the same order.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import optree

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd.grad_mode import is_inference_mode_enabled
from tensorplay.autograd.graph import saved_tensors_hooks
from tensorplay.base import random
from tensorplay.utils._operator_log import OperatorLog

_HOOKS_BIT = 1
_PULLING_BIT = 16


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed function differs from its first run."""


class _Enough(BaseException):
    """Everything that a backward pass may need has been recomputed.

    No `Exception`, so that no function to be recomputed catches it by accident.
    """


class Options(NamedTuple):
    """How a call is checkpointed; see `checkpoint`."""

    preserve_rng_state: bool
    context_fn: Callable[[], tuple[Any, Any]]
    check: bool
    debug: bool
    early_stop: bool


class Slot:
    """What a graph node keeps in place of a tensor."""

    __slots__ = ("__weakref__", "index", "region")

    def __init__(self, region: Region, index: int) -> None:
        self.region = region
        self.index = index


class Region:
    """One call of a checkpointed function; it lives as long as a node has a slot of it."""

    def __init__(self, function: Any, args: Any, kwargs: Any, options: Options) -> None:
        self.function = function
        self.arguments = _Arguments(args, kwargs)
        self.options = options
        self.contexts = options.context_fn()
        self.state = random.get_rng_state() if options.preserve_rng_state else None
        self.levels = core.active_levels()
        self.pulling = core.get_mode(_PULLING_BIT)
        self.slots: list[weakref.ref[Slot]] = []
        self.metas: list[Any] = []
        self.complete = False
        self.log = OperatorLog() if options.debug else None
        # Per backward pass: what was recomputed for it and not yet used.
        self.passes: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def run(self, args: Any, kwargs: Any) -> Any:
        """The first run."""
        with (
            self.contexts[0],
            self.log or contextlib.nullcontext(),
            saved_tensors_hooks(self._pack, _unpack),
        ):
            result = self.function(*args, **kwargs)
        self.complete = True
        return result

    def _pack(self, x: Tensor) -> Slot:
        slot = Slot(self, len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.metas.append(_meta(x))
        return slot

    def value(self, index: int) -> Any:
        """The tensor of a slot."""
        current = core.current_run()
        if current is None:  # somebody looks at what a node has saved
            return self._recompute()[index]
        found = self.passes.get(current, {})
        if index not in found:
            found = self.passes[current] = self._recompute()
        return found.pop(index)

    def _recompute(self) -> dict[int, Any]:
        again = _Again(self)
        args, kwargs = self.arguments.get()
        before = core.reopen_levels(self.levels)
        pulling = core.set_mode(_PULLING_BIT, self.pulling)
        grad_mode = core.set_grad_mode(True)
        try:
            with _restored(self.state), self.contexts[1], again:
                self.function(*args, **kwargs)
        except _Enough as enough:
            if enough.args[0] is not again:
                raise
        finally:
            core.set_grad_mode(grad_mode)
            core.set_mode(_PULLING_BIT, pulling)
            core.close_levels(before)
        again.check()
        return again.values


def _unpack(slot: Slot) -> Any:
    return slot.region.value(slot.index)


class _Again:
    """Context manager: a recomputation, whose saved tensors are those that the slots stand for."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.values: dict[int, Any] = {}
        self.metas: list[Any] = []
        # During the first run, when a derivative is taken inside, it is so many up to now.
        self.expected = len(region.slots)
        self.log = OperatorLog() if region.options.debug else None

    def __enter__(self) -> None:
        self._outer = core.get_mode(_HOOKS_BIT)
        core.mode_data.saved_hooks.append((self._pack, _unchanged))
        core.set_mode(_HOOKS_BIT, True)
        if self.log is not None:
            self.log.__enter__()

    def __exit__(self, *arguments: Any) -> None:
        if self.log is not None:
            self.log.__exit__(*arguments)
        core.mode_data.saved_hooks.pop()
        core.set_mode(_HOOKS_BIT, self._outer)

    def _pack(self, x: Tensor) -> Tensor:
        index = len(self.metas)
        if index >= self.expected:
            if self.region.complete:
                raise CheckpointError(
                    "checkpoint(): the recomputation saves more tensors for the backward pass than "
                    f"the first run of the function, which saved {self.expected}" + self._advice()
                )
            return x
        self.metas.append(_meta(x))
        slot = self.region.slots[index]()
        if slot is not None:
            self.values[index] = core.without_history(x)
        if self.region.options.early_stop and index + 1 == self.expected:
            raise _Enough(self)
        return x

    def check(self) -> None:
        """Raise where the recomputation has not saved what the first run did."""
        region = self.region
        if len(self.metas) < self.expected:
            raise CheckpointError(
                "checkpoint(): the recomputation has saved another number of tensors for the "
                f"backward pass than the first run of the function: {len(self.metas)}, expected "
                f"{self.expected}" + self._advice()
            )
        if not region.options.check:
            return
        wrong = [
            f"  number {i}: {_shown(found)}, expected {_shown(expected)}"
            for i, (found, expected) in enumerate(zip(self.metas, region.metas, strict=False))
            if found != expected
        ]
        if wrong:
            raise CheckpointError(
                "checkpoint(): recomputed tensors have another shape or dtype than in the first "
                "run of the function:\n" + "\n".join(wrong) + self._advice()
            )

    def _advice(self) -> str:
        text = (
            "\nThe function must do the same whenever it is called with the same arguments and the "
            "same random numbers."
        )
        if self.log is None or self.region.log is None:
            return text + " Give debug=True to see the operators of both runs."
        return (
            f"{text}\n\nOperators of the original run:\n{self.region.log}\n\n"
            f"Operators of the recomputation:\n{self.log}"
        )


def _unchanged(x: Tensor) -> Tensor:
    return x


def _meta(x: Tensor) -> Any:
    return tuple(x.shape), x.dtype


def _shown(meta: Any) -> str:
    return f"shape {list(meta[0])} and dtype {meta[1]}"


class _Arguments:
    """A call's arguments. Tensors go through the hooks in force, or are checked for changes."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        given: Any = (args, kwargs)
        leaves, self.spec = optree.tree_flatten(given, none_is_leaf=True)
        hooked = core.get_mode(_HOOKS_BIT)
        self.leaves = [
            x if not isinstance(x, Tensor)
            else (True, core.pack_tensor(x)) if hooked
            else (False, x, x._version)
            for x in leaves
        ]  # fmt: skip
        self.tensors = [isinstance(x, Tensor) for x in leaves]

    def get(self) -> Any:
        """The arguments again."""
        found = [
            self._tensor(i, kept) if tensor else kept
            for i, (kept, tensor) in enumerate(zip(self.leaves, self.tensors, strict=True))
        ]
        return optree.tree_unflatten(self.spec, found)

    @staticmethod
    def _tensor(i: int, kept: Any) -> Tensor:
        if kept[0]:
            return core.unpack_tensor(kept[1])
        _, x, version = kept
        if x._version != version:
            raise RuntimeError(
                f"checkpoint(): argument {i} was changed by an in-place operation, so the function "
                f"cannot be recomputed: {x.dtype} of shape {list(x.shape)} is at version "
                f"{x._version}, expected version {version}; change a .clone() of it"
            )
        return x


@contextlib.contextmanager
def _restored(state: Any) -> Iterator[None]:
    """A stretch of code with the random numbers of another one (state None: with new ones)."""
    if state is None:
        yield
        return
    with random.fork_rng():
        random.set_rng_state(state)
        yield


def run_without_reentry(function: Any, args: Any, kwargs: Any, options: Options) -> Any:
    """Call a function so that the backward pass recomputes what it saves."""
    if not core.is_grad_enabled() or is_inference_mode_enabled():
        return function(*args, **kwargs)
    return Region(function, args, kwargs, options).run(args, kwargs)
