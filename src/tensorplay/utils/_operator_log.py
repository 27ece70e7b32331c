"""A list of the operators that ran in a stretch of code, and of where the program called them."""

from __future__ import annotations

from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._observe import program_lines

_OBSERVED_BIT = 2


class OperatorLog:
    """Context manager that keeps such a list; its text has a line per operator."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __enter__(self) -> OperatorLog:
        core.mode_data.observers.append(self)
        core.set_mode(_OBSERVED_BIT, True)
        return self

    def __exit__(self, *_: Any) -> None:
        core.mode_data.observers.remove(self)
        core.set_mode(_OBSERVED_BIT, bool(core.mode_data.observers))

    def enter(self, name: str, inputs: Any, kind: str = "operator") -> int:
        """An operator starts."""
        shapes = ", ".join(
            f"{x.dtype.abbr}{list(x.shape)}" for x in inputs if isinstance(x, Tensor)
        )
        where = next(iter(program_lines()), "")
        self.lines.append(f"  {name}({shapes})  {where}")
        return len(self.lines)

    def leave(self, token: int, outputs: Any) -> None:
        """An operator has ended."""

    def __str__(self) -> str:
        return "\n".join(self.lines) or "  (none)"
