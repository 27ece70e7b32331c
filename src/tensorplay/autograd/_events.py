"""Events of a profile, their averages, and how both are shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any


class _Times:
    """What events and averages have in common: times in microseconds, and how they print."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """Time per call, in microseconds, with the operators called inside."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time`, readable."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total`, readable."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total`, readable."""
        return format_time(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One call of an operator, of a node's backward, or one stretch of `record_function`."""

    def __init__(self, name: str, kind: str, thread: int) -> None:
        self.name = name
        self.kind = kind  # 'operator', 'function' or 'user'
        self.thread = thread
        self.start_ns = 0
        self.end_ns = 0
        self.input_shapes: list[Any] = []
        self.stack: list[str] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.self_cpu_memory_usage = 0
        self.count = 1

    @property
    def key(self) -> str:
        """What calls are grouped by: the name."""
        return self.name

    @property
    def is_user_annotation(self) -> bool:
        """Whether `record_function` made it."""
        return self.kind == "user"

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Say inside which event this one runs."""
        self.cpu_parent = parent
        parent.cpu_children.append(self)

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Time from start to end, in microseconds."""
        return max(self.end_ns - self.start_ns, 0) / 1000

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Time without that of the events inside."""
        return max(self.cpu_time_total - sum(x.cpu_time_total for x in self.cpu_children), 0.0)

    @property
    def cpu_memory_usage(self) -> int:
        """Bytes of the arrays made here and in the events inside."""
        return self.self_cpu_memory_usage + sum(x.cpu_memory_usage for x in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent name={self.name} cpu_time={self.cpu_time_str} "
            f"self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_memory_usage={self.cpu_memory_usage} input_shapes={self.input_shapes}>"
        )


class FunctionEventAvg(_Times):
    """Calls of one operator taken together."""

    def __init__(self, key: str = "Total") -> None:
        self.key = key
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.input_shapes: list[Any] = []
        self.stack: list[str] = []
        self.is_user_annotation = False

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.key

    def add(self, event: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add a call."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.is_user_annotation = event.is_user_annotation
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={self.cpu_time_str} "
            f"self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_memory_usage={self.cpu_memory_usage} input_shapes={self.input_shapes}>"
        )


_SORT_KEYS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
              "self_cpu_memory_usage", "count")  # fmt: skip


class EventList(list[Any]):
    """Events, or averages of them."""

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all operators, in microseconds, each counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """One average per operator (and input shapes, and the innermost n lines of its stack)."""
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n])
            key = (event.key, shapes, stack)
            if key not in found:
                found[key] = FunctionEventAvg(event.key)
                found[key].input_shapes = event.input_shapes if group_by_input_shapes else []
                found[key].stack = list(stack)
            found[key].add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """All of them taken together."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as text, a line each.

        sort_by: 'cpu_time', 'cpu_time_total', 'self_cpu_time_total', 'cpu_memory_usage',
        'self_cpu_memory_usage' or 'count', the largest first; by default as they came.
        row_limit: how many lines; -1 for all.

        Raises:
            ValueError: for another `sort_by`.
        """
        if sort_by is not None and sort_by not in _SORT_KEYS:
            raise ValueError(f"table(): sort_by must be one of {_SORT_KEYS}, got {sort_by!r}")
        events = list(self)
        if sort_by is not None:
            events.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if top_level_events_only:
            events = [event for event in events if getattr(event, "cpu_parent", None) is None]
        shown = events if row_limit < 0 else events[:row_limit]
        whole = self.self_cpu_time_total or 1.0
        with_shapes = any(event.input_shapes for event in shown)
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
                  "CPU Mem", "Self CPU Mem", "# of Calls"]  # fmt: skip
        titles += ["Input Shapes"] if with_shapes else []
        rows = [
            [
                _cut(event.key, max_name_column_width),
                f"{100 * event.self_cpu_time_total / whole:.2f}%",
                event.self_cpu_time_total_str,
                f"{100 * event.cpu_time_total / whole:.2f}%",
                event.cpu_time_total_str,
                event.cpu_time_str,
                format_bytes(event.cpu_memory_usage),
                format_bytes(event.self_cpu_memory_usage),
                str(event.count),
                *([_cut(str(event.input_shapes), max_shapes_column_width)] if with_shapes else []),
            ]
            for event in shown
        ]
        lines = [] if header is None else [header]
        lines += _aligned(titles, rows)
        lines.append(f"Self CPU time total: {format_time(self.self_cpu_time_total)}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: Any) -> None:
        """Write a trace that chrome://tracing and ui.perfetto.dev show.

        Raises:
            TypeError: for averages, which have no start.
        """
        if any(isinstance(event, FunctionEventAvg) for event in self):
            raise TypeError(
                "export_chrome_trace(): averages have no place in time; export the profile itself"
            )
        first = min((event.start_ns for event in self), default=0)
        threads = {event.thread: i for i, event in enumerate(self)}
        trace = [
            {
                "name": event.name,
                "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
                "ph": "X",
                "ts": (event.start_ns - first) / 1000,
                "dur": event.cpu_time_total,
                "pid": os.getpid(),
                "tid": threads[event.thread],
                "args": {"bytes": event.self_cpu_memory_usage, "shapes": str(event.input_shapes)},
            }
            for event in self
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": trace, "displayTimeUnit": "ms"}, file)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _aligned(titles: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of a table whose columns are as wide as their longest entry, numbers to the right."""
    table = [titles, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(titles))]
    rule = "  ".join("-" * width for width in widths)
    lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
             for row in table]  # fmt: skip
    return [rule, lines[0], rule, *lines[1:], rule]


def format_time(microseconds: float) -> str:
    """A time with a unit that keeps it readable."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def format_bytes(count: int) -> str:
    """A number of bytes with a unit that keeps it readable."""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if abs(value) < 1024:
            return f"{count} B" if unit == "B" else f"{value:.2f} {unit}"
        value /= 1024
    return f"{value:.2f} GB"
