"""Parameters of the generic tests: the rows that an aspect applies to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tensorplay.base import dtypes
from tests.optable import ROWS, Op, Sample


def cases(aspect: str, applies: Callable[[Op], Any] = lambda op: True) -> list[Any]:
    """Rows with results that do not depend on chance, that apply and are not skipped."""
    found = [
        pytest.param(op, id=f"{op.family}/{op.name}")
        for op in ROWS.values()
        if aspect not in op.skip and not op.random and named(op) and applies(op)
    ]
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="no row applies"))]


def named(op: Op) -> bool:
    """Whether the row's function exists (`tests/test_registry.py` says when it does not)."""
    try:
        return op.call is not None
    except LookupError:
        return False


def make_samples(op: Op, dtype: Any = dtypes.float64) -> list[Sample]:
    """The row's samples in a dtype."""
    return op.make(dtype)
