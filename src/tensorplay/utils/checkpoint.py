"""Checkpointing: keep less for the backward pass, and compute it again when it is needed.

>>> import tensorplay as tp
>>> from tensorplay.utils.checkpoint import checkpoint
>>> def block(x):
...     return x.sin().exp().tanh()
>>> x = tp.ones(3, requires_grad=True)
>>> y = checkpoint(block, x, use_reentrant=False)   # keeps x only
>>> y.sum().backward()                              # runs block once more
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd.backward import backward
from tensorplay.autograd.function import Function
from tensorplay.autograd.grad_mode import enable_grad
from tensorplay.base import random
from tensorplay.utils._recomputation import CheckpointError as CheckpointError
from tensorplay.utils._recomputation import Options, run_without_reentry
from tensorplay.utils._selective import CheckpointPolicy as CheckpointPolicy
from tensorplay.utils._selective import SelectiveCheckpointContext as SelectiveCheckpointContext
from tensorplay.utils._selective import (
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

_CHECKS = ("default", "none")


class _Settings(threading.local):
    debug: bool | None = None
    early_stop = True


_settings = _Settings()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Context manager that decides on `debug` in place of the argument of `checkpoint`.

    enabled: None leaves the decision to the argument.
    """
    previous, _settings.debug = _settings.debug, enabled
    try:
        yield
    finally:
        _settings.debug = previous


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context manager: whether recomputations of the calls inside stop as soon as they can.

    >>> import tensorplay as tp
    >>> x = tp.ones(3, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(lambda x: x.sin() + 1, x, use_reentrant=False)
    >>> y.sum().backward()
    """
    previous, _settings.early_stop = _settings.early_stop, bool(enable)
    try:
        yield
    finally:
        _settings.early_stop = previous


def noop_context_fn() -> tuple[Any, Any]:
    """The default `context_fn` of `checkpoint`: two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)` and keep only its arguments for the backward pass.

    The backward pass calls the function again, and takes what it needs from there. The variant with
    `use_reentrant=False` does so through hooks on saved tensors: it is the better one, supports
    `autograd.grad`, second derivatives, keyword arguments and nested containers, and works inside
    `vmap`, forward mode and the transforms of `tensorplay.func`. The one with `use_reentrant=True`
    is a custom Function whose backward runs a backward pass of its own.

    Args:
        function: anything that does the same whenever it is called with the same arguments.
        args, kwargs: its arguments. Tensors among them must not be changed in place before the
            backward pass. `preserve_rng_state` (default True), which is not handed on, says that
            the recomputation gets the same random numbers, and leaves the generator as it was.
        use_reentrant: which variant; give it explicitly (the default is True, with a warning).
        context_fn: returns two context managers, for the first run and for the recomputation.
        determinism_check: 'default' compares shapes and dtypes of what is recomputed, 'none' does
            not.
        debug: errors list the operators of both runs.
        early_stop: the recomputation ends as soon as everything is there that was saved.

    Returns:
        What the function returns.

    Raises:
        CheckpointError: in the backward pass, if the recomputation saves other tensors.
        RuntimeError: in the backward pass, if an argument was changed in place; for
            `use_reentrant=True`, if it computes particular gradients, or inside a transform.
        TypeError: if `function` cannot be called.
        ValueError: for options that the variant does not have, or another `determinism_check`.
    """
    if not callable(function):
        raise TypeError(
            f"checkpoint(): argument 'function' must be callable, got {type(function).__name__}"
        )
    if use_reentrant is None:
        _warn_of_default("checkpoint")
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"checkpoint(): unexpected keyword arguments: {', '.join(kwargs)}; only the "
                "variant with use_reentrant=False hands them on to the function"
            )
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "checkpoint(): context_fn and debug are options of the variant with "
                "use_reentrant=False only"
            )
        return _run_reentrant(function, preserve, args)
    if determinism_check not in _CHECKS:
        raise ValueError(
            f"checkpoint(): determinism_check must be one of {_CHECKS}, got {determinism_check!r}"
        )
    debug = bool(debug if _settings.debug is None else _settings.debug)
    if debug and context_fn is not noop_context_fn:
        raise ValueError("checkpoint(): debug=True cannot be combined with a context_fn")
    options = Options(
        preserve, context_fn, determinism_check == "default", debug,
        bool(early_stop) and _settings.early_stop,
    )  # fmt: skip
    return run_without_reentry(function, args, kwargs, options)


def _warn_of_default(name: str) -> None:
    warnings.warn(
        f"{name}(): give use_reentrant explicitly: use_reentrant=False is recommended, "
        "use_reentrant=True is the present default",
        UserWarning,
        stacklevel=3,
    )


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules or functions one after the other, checkpointed in segments, but for the last one.

    Args:
        functions: a `Sequential`, or a list of functions of one argument.
        segments: into how many parts of about equal length to cut it.
        input: the argument of the first function.
        use_reentrant: as for `checkpoint`.
        kwargs: `preserve_rng_state` (default True) only.

    Raises:
        ValueError: for other keyword arguments, or if `segments` is not between 1 and the number of
            functions.

    >>> import tensorplay as tp
    >>> x = tp.zeros(2, requires_grad=True)
    >>> layers = [tp.exp, tp.sin, tp.exp, tp.cos]
    >>> checkpoint_sequential(layers, 2, x, use_reentrant=False).shape
    tensorplay.Size([2])
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint_sequential")
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if kwargs:
        raise ValueError(
            f"checkpoint_sequential(): unexpected keyword arguments: {', '.join(kwargs)}"
        )
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    if not 1 <= segments <= len(steps):
        raise ValueError(
            f"checkpoint_sequential(): segments must be between 1 and {len(steps)}, the number of "
            f"functions, got {segments}"
        )
    length = len(steps) // segments
    for start in range(0, length * (segments - 1), length):
        part = _Chain(steps[start : start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _Chain(steps[length * (segments - 1) :])(input)


class _Chain:
    """Functions called one after the other."""

    def __init__(self, steps: list[Callable[[Any], Any]]) -> None:
        self.steps = steps

    def __call__(self, x: Any) -> Any:
        for step in self.steps:
            x = step(x)
        return x


# --- the reentrant variant ------------------------------------------------------------------------


def _run_reentrant(function: Any, preserve: bool, args: tuple[Any, ...]) -> Any:
    if core.active_levels():
        raise RuntimeError(
            "checkpoint(): the variant with use_reentrant=True works neither inside vmap and the "
            "transforms of tensorplay.func nor in forward mode; give use_reentrant=False"
        )
    if core.is_grad_enabled():
        check_backward_validity(args)
    return CheckpointFunction.apply(function, preserve, *args)


class CheckpointFunction(Function):
    """The variant of `checkpoint` whose backward runs a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function unrecorded, and keep its arguments."""
        ctx.run_function = run_function
        ctx.state = random.get_rng_state() if preserve_rng_state else None
        ctx.save_for_backward(*[x for x in args if isinstance(x, Tensor)])
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again, recorded, and a backward pass through that."""
        if not core.fills_every_leaf():
            raise RuntimeError(
                "checkpoint(): the variant with use_reentrant=True supports neither "
                "autograd.grad() nor backward(inputs=...); give use_reentrant=False, or call "
                "backward() without inputs"
            )
        inputs = list(ctx.others)
        for i, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = x
        detached = detach_variable(tuple(inputs))
        with random.fork_rng(enabled=ctx.state is not None), enable_grad():
            if ctx.state is not None:
                random.set_rng_state(ctx.state)
            outputs = ctx.run_function(*detached)
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (y, g) for y, g in zip(given, grads, strict=True)
            if isinstance(y, Tensor) and y.requires_grad
        ]  # fmt: skip
        if not pairs:
            raise RuntimeError(
                "checkpoint(): no output of the function has requires_grad=True in the "
                "recomputation, so there is nothing to differentiate; do not checkpoint it"
            )
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in detached])


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same arguments, each tensor now a leaf that requires grad as it did before.

    Raises:
        RuntimeError: if `inputs` is not a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"detach_variable(): inputs must be a tuple, got {type(inputs).__name__}"
        )
    found = []
    for x in inputs:
        if isinstance(x, Tensor):
            detached = core.detach(x)
            detached.requires_grad = x.requires_grad
            x = detached
        found.append(x)
    return tuple(found)


def check_backward_validity(inputs: Any) -> None:
    """Warn where none of the arguments requires grad, so that the reentrant variant gives none."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn(
            "checkpoint(): none of the inputs has requires_grad=True, so with use_reentrant=True "
            "gradients will be None",
            UserWarning,
            stacklevel=2,
        )
