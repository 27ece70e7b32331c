"""Telling observers, such as a profiler, about stretches of work that are no single operation."""

from __future__ import annotations

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
