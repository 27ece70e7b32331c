"""Grad mode: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

from tensorplay._core import core

_INFERENCE_BIT = 8


class _Mode:
    """A context manager, re-entrant and reusable, that also decorates functions of every sort."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *_: Any) -> None:
        raise NotImplementedError

    def _again(self) -> _Mode:
        """A fresh manager of the same kind, for one call of a decorated function."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            raise TypeError(
                f"{type(self).__name__}(): decorating a class is not supported; decorate its "
                "methods"
            )
        if inspect.isasyncgenfunction(function):
            return self._wrap_async_generator(function)
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapped_async(*args: Any, **kwargs: Any) -> Any:
                # Each stretch between awaits runs under the mode, as other tasks run in between.
                return await _Stepwise(function(*args, **kwargs), self._again)

            return wrapped_async

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                generator = function(*args, **kwargs)
            return (yield from _steps(generator, self._again))

        return wrapped

    def _wrap_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            step = generator.__anext__()
            try:
                while True:
                    try:
                        value = await _Stepwise(step, self._again)
                    except StopAsyncIteration:
                        return
                    try:
                        sent = yield value
                    except GeneratorExit:
                        await _Stepwise(generator.aclose(), self._again)
                        raise
                    except BaseException as error:
                        step = generator.athrow(error)
                    else:
                        step = generator.asend(sent)
            finally:
                await generator.aclose()

        return wrapped


def _steps(generator: Any, mode: Callable[[], _Mode]) -> Any:
    """Drive a generator, each step under the mode, the pauses outside of it."""
    call: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            with mode():
                value = call()
        except StopIteration as stop:
            return stop.value
        try:
            sent = yield value
        except GeneratorExit:
            with mode():
                generator.close()
            raise
        except BaseException as error:
            call = functools.partial(generator.throw, error)
        else:
            call = functools.partial(generator.send, sent)


class _Stepwise:
    """An awaitable that resumes another one under a mode."""

    def __init__(self, awaitable: Any, mode: Callable[[], _Mode]) -> None:
        self._awaitable = awaitable
        self._mode = mode

    def __await__(self) -> Any:
        return _steps(self._awaitable.__await__(), self._mode)


class _GradMode(_Mode):
    _enabled = True

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(core.set_grad_mode(self._enabled))

    def __exit__(self, *_: Any) -> None:
        core.set_grad_mode(self._previous.pop())

    def __new__(cls, function: Any = None, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        if callable(function) and cls in (no_grad, enable_grad):
            made.__init__()  # type: ignore[misc]
            return made(function)  # used as a decorator without parentheses
        return made


class no_grad(_GradMode):
    """Context manager or decorator: operations are not recorded for reverse mode.

    >>> import tensorplay as tp
    >>> x = tp.ones(2, requires_grad=True)
    >>> with tp.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _enabled = False


class enable_grad(_GradMode):
    """Context manager or decorator: operations are recorded, also inside `no_grad`."""

    _enabled = True


class set_grad_enabled(_Mode):
    """Turn grad mode on or off: at once as a function, until the exit as a context manager."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self.prev = core.set_grad_mode(self.mode)

    def __enter__(self) -> None:
        core.set_grad_mode(self.mode)

    def __exit__(self, *_: Any) -> None:
        core.set_grad_mode(self.prev)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        core.set_grad_mode(self.prev)
        return super().__call__(function)

    def _again(self) -> _Mode:
        return set_grad_enabled(self.mode)


class inference_mode(_Mode):
    """Context manager or decorator: as `no_grad`, and results can never be part of a graph.

    Forward-mode levels that are open around it are switched off too; those opened inside work.

    mode: False turns inference mode off inside.
    """

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if callable(mode):
            made.__init__()  # type: ignore[misc]
            return made(mode)
        return made

    def __init__(self, mode: bool = True) -> None:
        self.mode = bool(mode)
        self._previous: list[tuple[bool, bool, int]] = []

    def __enter__(self) -> None:
        # Leaving inference mode turns grad mode on, as entering turns it off.
        inference = core.set_mode(_INFERENCE_BIT, self.mode)
        grad = core.set_grad_mode(not self.mode)
        floor = core.set_forward_floor(core.last_level() if self.mode else 0)
        self._previous.append((inference, grad, floor))

    def __exit__(self, *_: Any) -> None:
        inference, grad, floor = self._previous.pop()
        core.set_forward_floor(floor)
        core.set_mode(_INFERENCE_BIT, inference)
        core.set_grad_mode(grad)

    def _again(self) -> _Mode:
        return inference_mode(self.mode)


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread."""
    return bool(core.get_mode(_INFERENCE_BIT))


class _Threads(threading.local):
    enabled = True


_threads = _Threads()


class set_multithreading_enabled(_Mode):
    """PyTorch's switch between one thread and several in backward passes, as function or context.

    A backward pass here runs in the thread that called it, and compiled loops over large arrays
    use `tensorplay.get_num_threads()` threads in either case; so this only remembers what was
    asked for, and code that uses it runs unchanged.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self.prev = _threads.enabled
        _threads.enabled = self.mode

    def __enter__(self) -> None:
        _threads.enabled = self.mode

    def __exit__(self, *_: Any) -> None:
        _threads.enabled = self.prev

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _threads.enabled = self.prev
        return super().__call__(function)

    def _again(self) -> _Mode:
        return set_multithreading_enabled(self.mode)


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last called with, in this thread."""
    return _threads.enabled
