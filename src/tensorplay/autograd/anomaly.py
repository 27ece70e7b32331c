"""Anomaly detection: errors of a backward pass that say which forward operation they belong to."""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Node, Tensor
from tensorplay.autograd._observe import Observed

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
           "set_detect_anomaly"]  # fmt: skip

_OBSERVED_BIT = 2
_ANOMALY_BIT = 4


class _State(threading.local):
    def __init__(self) -> None:
        self.check_nan = True
        self.evaluated: list[Node] = []  # nodes whose backward is running, innermost last


_state = _State()


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on in this thread."""
    return bool(core.get_mode(_ANOMALY_BIT))


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, where it is on, looks for NaN in gradients."""
    return _state.check_nan


class set_detect_anomaly:
    """Turn anomaly detection on or off: at once as a function, until the exit in a `with`.

    mode: on or off, in this thread. check_nan: whether a NaN in a gradient is an error.

    See `detect_anomaly`.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = (is_anomaly_enabled(), _state.check_nan)
        core.set_mode(_ANOMALY_BIT, bool(mode))
        _state.check_nan = bool(check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        core.set_mode(_ANOMALY_BIT, self.previous[0])
        _state.check_nan = self.previous[1]


class detect_anomaly:
    """Context manager that finds the forward operation behind an error of the backward pass.

    Operations inside remember where they were called. An error in a backward pass inside carries
    that traceback as a note (see `BaseException.__notes__`; Python prints it below the error), and
    a backward pass that makes a NaN raises an error, which names the operation, and shape and dtype
    of the gradient. It slows everything down: use it to debug.

    check_nan: whether a NaN in a gradient is an error.

    Raises:
        RuntimeError: in the backward pass, for a NaN.

    >>> import tensorplay as tp
    >>> with tp.autograd.set_detect_anomaly(True):
    ...     x = tp.zeros(2, requires_grad=True)
    ...     (x.sqrt() * 0).sum().backward()
    Traceback (most recent call last):
    RuntimeError: SqrtBackward0: it returned a gradient with NaN ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = bool(check_nan)
        warnings.warn(
            "detect_anomaly(): anomaly detection is enabled; it costs time and is meant for "
            "debugging only",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._setting = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *arguments: Any) -> None:
        self._setting.__exit__(*arguments)


# --- what the core calls --------------------------------------------------------------------------


def _on_record(node: Node) -> None:
    """A node was recorded: remember by which line of the program, and inside which backward."""
    node.metadata["traceback_"] = traceback.format_stack()[:-1]
    if _state.evaluated:
        node.metadata["parent_"] = _state.evaluated[-1]


def _observe_node(node: Node, run: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Run the backward of a node with a profiler or anomaly detection watching."""
    if not core.get_mode(_OBSERVED_BIT):
        return _checked(node, run)
    with Observed(type(node).name(node), ()) as observed:
        result = _checked(node, run)
        observed.outputs = tuple(x for x in result if x is not None)
    return result


def _checked(node: Node, run: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    if not core.get_mode(_ANOMALY_BIT):
        return run()
    _state.evaluated.append(node)
    try:
        result = run()
        if _state.check_nan:
            _check_nan(node, result)
    except Exception as error:
        # The innermost node of nested passes has told its story already.
        if not getattr(error, "_tensorplay_anomaly", False):
            error.add_note(_story(node))
            error._tensorplay_anomaly = True  # type: ignore[attr-defined]
        raise
    finally:
        _state.evaluated.pop()
    return result


def _check_nan(node: Node, gradients: tuple[Any, ...]) -> None:
    for i, g in enumerate(gradients):
        if isinstance(g, Tensor) and core.is_differentiable_dtype(g) and _has_nan(g):
            raise RuntimeError(
                f"{type(node).name(node)}: it returned a gradient with NaN for its input {i}, of "
                f"shape {list(g.shape)} and dtype {g.dtype}"
            )


def _has_nan(x: Tensor) -> bool:
    while x.is_box:
        x = core.unboxed(x)
    with np.errstate(all="ignore"):
        return bool(np.isnan(core.array_of(x)).any())


def _story(node: Node) -> str:
    """Where a node was recorded, and the nodes in whose backward that happened."""
    name = type(node).name(node)
    lines = [f"Error detected in {name}. Traceback of the forward call that caused the error:\n"]
    lines += _trace(node)
    parent = node.metadata.get("parent_")
    while parent is not None:
        lines.append(
            f"\nThat call was part of the backward of {type(parent).name(parent)}, which was "
            "recorded by:\n"
        )
        lines += _trace(parent)
        parent = parent.metadata.get("parent_")
    return "".join(lines)


def _trace(node: Node) -> list[str]:
    found: Any = node.metadata.get("traceback_")
    if found is None:
        return ["  (none: the operation was recorded outside of anomaly detection)\n"]
    return list(found)


core.register_layer(on_record=_on_record, observe_node=_observe_node)
