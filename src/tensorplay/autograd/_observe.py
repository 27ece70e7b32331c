"""Telling observers, such as a profiler, about stretches of work that are no single operation."""

from __future__ import annotations

import inspect
import os
from typing import Any

from tensorplay._core import core


class Observed:
    """Context manager: a named stretch of work; what it produced may be set as `outputs`."""

    def __init__(self, name: str, inputs: Any, kind: str = "function") -> None:
        self._name = name
        self._inputs = inputs
        self._kind = kind
        self.outputs: Any = None

    def __enter__(self) -> Observed:
        self._open = [
            (observer, observer.enter(self._name, self._inputs, self._kind))
            for observer in core.mode_data.observers
        ]
        return self

    def __exit__(self, *_: Any) -> None:
        for observer, token in self._open:
            observer.leave(token, self.outputs)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program_lines() -> list[str]:
    """The lines of the program, innermost first, that led to an operator."""
    frame = inspect.currentframe()
    lines = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines
