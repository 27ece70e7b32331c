"""Text of tensors: PyTorch's layout, from a NumPy array and the suffixes to append."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay.base import dtypes

# The text of one element, padded to a common width, and that width.
_Formatter = tuple[Callable[[Any], str], int]


@dataclasses.dataclass(frozen=True)
class PrintOptions:
    """How tensors are shown; see `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None

    def __post_init__(self) -> None:
        for name in ("precision", "edgeitems", "linewidth"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"set_printoptions(): {name} must be an int, got {value!r}")
            if value < 0:
                raise ValueError(f"set_printoptions(): {name} must not be negative, got {value}")
        if not isinstance(self.threshold, int | float):
            raise TypeError(
                f"set_printoptions(): threshold must be a number, got {self.threshold!r}"
            )


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

_options = PROFILES["default"]


def get_printoptions() -> PrintOptions:
    """Return the options in force.

    Example:
        >>> get_printoptions().precision
        4
    """
    return _options


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are shown. An option that is not given keeps its value.

    Args:
        precision: digits after the decimal point (4).
        threshold: number of elements above which only the edges are shown (1000).
        edgeitems: elements shown at each end of a shortened dimension (3).
        linewidth: characters per line (80).
        profile: ``'default'``, ``'short'`` or ``'full'``: starting point that sets every option.
        sci_mode: whether to use scientific notation; None, which every call without this
            argument sets, decides from the values.

    Raises:
        TypeError, ValueError: for values out of place. Unlike PyTorch, which ignores them,
            unknown profiles are errors too.

    Example:
        >>> set_printoptions(precision=2)
        >>> format_tensor(np.array([0.125, 1.0], np.float32))
        'tensor([0.12, 1.00])'
        >>> set_printoptions(profile='default')
    """
    global _options
    base = _options
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(
                f"set_printoptions(): profile must be one of {', '.join(map(repr, PROFILES))}, "
                f"got {profile!r}"
            )
        base = PROFILES[profile]
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
    _options = dataclasses.replace(base, **changes, sci_mode=sci_mode)


def format_tensor(
    array: np.ndarray[Any, Any],
    *,
    suffixes: Sequence[str] = (),
    prefix: str = "tensor(",
    options: PrintOptions | None = None,
) -> str:
    """Return the text of a tensor with the elements of an array.

    Args:
        array: any shape, of a supported type in native byte order.
        suffixes: what follows the elements, such as ``'requires_grad=True'``. The size of an
            empty tensor and a dtype that cannot be guessed from the elements are added here.
        prefix: text before the elements, on one line; lines below are indented to its end.
        options: options to use in place of those set by `set_printoptions`.

    Raises:
        TypeError: if no tensor can have the array's type.

    Example:
        >>> print(format_tensor(np.array([[1.5, -2.0], [0.0, 4.0]])))
        tensor([[ 1.5000, -2.0000],
                [ 0.0000,  4.0000]], dtype=tensorplay.float64)
        >>> format_tensor(np.zeros((0, 3), np.float32), suffixes=['requires_grad=True'])
        'tensor([], size=(0, 3), requires_grad=True)'
    """
    options = options or _options
    indent = len(prefix)
    summarize = array.size > options.threshold
    if array.size == 0:
        body = "[]"
    else:
        shown = _edges(array, options.edgeitems) if summarize else array
        body = _Layout(_formatter(shown, options), indent, summarize, options).text(array)
    own = _own_suffixes(array, options.edgeitems == 0)
    return _append(prefix + body, [*own, *suffixes], indent, options.linewidth)


def _own_suffixes(array: np.ndarray[Any, Any], edges_are_hidden: bool) -> list[str]:
    dtype = dtypes.from_numpy(array.dtype)
    default = dtypes.get_default_dtype()
    result = []
    if edges_are_hidden if array.size > 0 else array.ndim != 1:
        result.append(f"size={array.shape}")
    guessed = [default]
    if array.size > 0:
        guessed += [default.to_complex(), dtypes.int64, dtypes.bool]
    if dtype not in guessed:
        result.append(f"dtype={dtype!r}")
    return result


def _append(text: str, suffixes: Sequence[str], indent: int, linewidth: int) -> str:
    """Add the suffixes and the closing parenthesis, breaking lines where they get too long."""
    # PyTorch keeps two columns free, for the closing parenthesis and one more, until it has
    # broken a line for the first time, and none after that.
    column = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        # Lines break where PyTorch breaks them, although our name is longer.
        length = len(suffix.replace("tensorplay.", "torch."))
        if column + length + 2 > linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + length
        else:
            text += ", " + suffix
            column += length + 2
    return text + ")"


def _edges(array: np.ndarray[Any, Any], edgeitems: int) -> np.ndarray[Any, Any]:
    """The elements that are shown when a tensor is shortened, in a smaller array."""
    for axis, size in enumerate(array.shape):
        if size > 2 * edgeitems:
            ends = [*range(edgeitems), *range(size - edgeitems, size)]
            array = np.take(array, np.array(ends, dtype=np.intp), axis=axis)
    return array


@dataclasses.dataclass
class _Layout:
    """Brackets, commas and line breaks around formatted elements."""

    formatter: _Formatter
    indent: int
    summarize: bool
    options: PrintOptions

    def text(self, array: np.ndarray[Any, Any], depth: int = 0) -> str:
        """The text of the part of the tensor that lies `depth` brackets deep."""
        if array.ndim == 0:
            return self.formatter[0](array.item())
        size, edge = len(array), self.options.edgeitems
        shorten = self.summarize and size > 2 * edge
        head, tail = (array[:edge], array[size - edge :]) if shorten else (array, array[:0])
        if array.ndim == 1:
            return self._row(head, tail, shorten, depth)
        rows = [self.text(row, depth + 1) for row in head]
        if shorten:
            rows.append("...")
        rows += [self.text(row, depth + 1) for row in tail]
        separator = "," + "\n" * (array.ndim - 1) + " " * (self.indent + depth + 1)
        return "[" + separator.join(rows) + "]"

    def _row(
        self,
        head: np.ndarray[Any, Any],
        tail: np.ndarray[Any, Any],
        shorten: bool,
        depth: int,
    ) -> str:
        format_one, width = self.formatter
        items = [format_one(value) for value in head.tolist()]
        if shorten:
            items.append(" ..." if items else "...")
        items += [format_one(value) for value in tail.tolist()]
        indent = self.indent + depth
        per_line = max(1, (self.options.linewidth - indent) // max(1, width + len(", ")))
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# --- Elements -------------------------------------------------------------------------------


def _formatter(shown: np.ndarray[Any, Any], options: PrintOptions) -> _Formatter:
    category = dtypes.from_numpy(shown.dtype).category
    if category == dtypes.COMPLEX:
        return _complex_formatter(shown, options)
    if category == dtypes.FLOAT:
        return _float_formatter(shown, options)
    width = max((len(str(value)) for value in shown.ravel().tolist()), default=0)
    return (lambda value: str(value).rjust(width)), width


def _float_formatter(shown: np.ndarray[Any, Any], options: PrintOptions) -> _Formatter:
    # PyTorch aligns by the ordinary numbers alone: zeros, infinities and nan may stick out.
    values = shown.ravel().astype(np.float64)
    ordinary = values[np.isfinite(values) & (values != 0)]
    style = _float_style(np.abs(ordinary), options)
    width = max((len(style(value)) for value in ordinary.tolist()), default=1)
    # float(), because bfloat16 scalars do not take a format.
    return (lambda value: style(float(value)).rjust(width)), width


def _float_style(magnitudes: np.ndarray[Any, Any], options: PrintOptions) -> Callable[[float], str]:
    """Choose one notation for all values: ``2.``, ``2.5000`` or ``2.5000e+00``."""
    if magnitudes.size == 0:
        return _integral
    fixed = f".{options.precision}f"
    scientific = f".{options.precision}e"
    smallest, largest = float(magnitudes.min()), float(magnitudes.max())
    integral = bool((magnitudes == np.floor(magnitudes)).all())
    use_scientific = options.sci_mode
    if use_scientific is None:
        wide = largest > 1000 * smallest or largest > 1e8
        use_scientific = wide or (smallest < 1e-4 and not integral)
    if use_scientific:
        return lambda value: format(value, scientific)
    return _integral if integral else lambda value: format(value, fixed)


def _integral(value: float) -> str:
    return format(value, ".0f") + ("." if math.isfinite(value) else "")


def _complex_formatter(shown: np.ndarray[Any, Any], options: PrintOptions) -> _Formatter:
    format_real, real_width = _float_formatter(shown.real, options)
    format_imag, imag_width = _float_formatter(shown.imag, options)

    def format_one(value: complex) -> str:
        imag = format_imag(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{format_real(value.real)}{sign}{imag}j"

    return format_one, real_width + imag_width + len("j")
