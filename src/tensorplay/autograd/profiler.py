"""Profiler: where the time and the memory of a stretch of code go, by operator.

>>> import tensorplay as tp
>>> with tp.autograd.profiler.profile() as prof:
...     x = tp.ones(100, 100, requires_grad=True)
...     (x @ x).sum().backward()
>>> print(prof.key_averages().table(sort_by="count", row_limit=3))  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._events import EventList as EventList
from tensorplay.autograd._events import FunctionEvent as FunctionEvent
from tensorplay.autograd._events import FunctionEventAvg as FunctionEventAvg
from tensorplay.autograd._observe import Observed, program_lines

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_OBSERVED_BIT = 2


class profile:
    """Context manager that records every operator run by this thread, forward and backward.

    Args:
        enabled: False makes it do nothing.
        record_shapes: also record the shapes of the inputs.
        profile_memory: kept for PyTorch's sake; bytes are always counted.
        with_stack: also record the line of the program that called each operator.
        use_cpu, use_cuda, use_device, with_flops, with_modules, use_kineto, experimental_config,
            acc_events: accepted as PyTorch has them, and without effect.

    After the block, `key_averages()` has a line per operator, `table()` prints them,
    `export_chrome_trace(path)` writes a file for chrome://tracing or ui.perfetto.dev, and
    `function_events` lists every call.

    Raises:
        RuntimeError: if it is entered twice, or read before its block has ended.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: Any = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
    ) -> None:
        self.enabled = bool(enabled)
        self.record_shapes = record_shapes
        self.with_stack = with_stack
        self.profile_memory = profile_memory
        self.entered = False
        self.function_events: EventList | None = None
        self._events: list[FunctionEvent] = []
        self._open: list[FunctionEvent] = []

    def __enter__(self) -> profile:
        if self.entered:
            raise RuntimeError("profile(): a profiler cannot be entered twice; make a new one")
        self.entered = True
        if self.enabled:
            core.mode_data.observers.append(self)
            core.set_mode(_OBSERVED_BIT, True)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.enabled:
            core.mode_data.observers.remove(self)
            core.set_mode(_OBSERVED_BIT, bool(core.mode_data.observers))
            self.function_events = EventList(self._events)

    # --- what the core calls ---

    def enter(self, name: str, inputs: Any, kind: str = "operator") -> FunctionEvent:
        """An operator starts."""
        event = FunctionEvent(name, kind, threading.get_ident())
        if self.record_shapes:
            event.input_shapes = [list(x.shape) if isinstance(x, Tensor) else [] for x in inputs]
        if self.with_stack:
            event.stack = program_lines()
        if self._open:
            event.set_cpu_parent(self._open[-1])
        self._open.append(event)
        self._events.append(event)
        event.start_ns = time.perf_counter_ns()
        return event

    def leave(self, event: FunctionEvent, outputs: Any) -> None:
        """An operator has ended (`outputs` is None where it failed)."""
        event.end_ns = time.perf_counter_ns()
        while self._open and self._open.pop() is not event:
            pass  # an inner one that an error cut short
        if event.kind == "operator":
            event.self_cpu_memory_usage = _new_bytes(outputs)

    # --- results ---

    def _results(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError(
                "profile(): there are no results yet; read them after the end of the with block"
            )
        return self.function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One entry per operator; with `group_by_input_shape`, per operator and input shapes."""
        return self._results().key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """All calls as a table; `key_averages().table()` has a line per operator."""
        return self._results().table(sort_by, row_limit, **options)

    def total_average(self) -> FunctionEventAvg:
        """All calls taken together."""
        return self._results().total_average()

    def export_chrome_trace(self, path: Any) -> None:
        """Write a trace that chrome://tracing and ui.perfetto.dev show."""
        self._results().export_chrome_trace(path)

    @property
    def self_cpu_time_total(self) -> float:
        """The time spent in operators, in microseconds."""
        return self._results().self_cpu_time_total

    def __repr__(self) -> str:
        if self.function_events is None:
            return "<unfinished profile>"
        return repr(self.function_events)

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else self.table()


def _new_bytes(outputs: Any) -> int:
    """Bytes of the arrays that an operator made; views and boxes hold none of their own."""
    total = 0
    for x in outputs if isinstance(outputs, tuple) else (outputs,):
        if isinstance(x, Tensor) and not x.is_box and x._base is None:
            total += x.nbytes
    return total


class record_function:
    """Context manager and decorator: a named stretch of code in the profile.

    >>> import tensorplay as tp
    >>> with tp.autograd.profiler.profile() as prof:
    ...     with tp.autograd.profiler.record_function("my block"):
    ...         y = tp.ones(3).exp()
    >>> [event.name for event in prof.function_events]
    ['my block', 'exp']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        self._observed = Observed(self.name, (), "user")
        self._observed.__enter__()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self._observed.__exit__(*arguments)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped
