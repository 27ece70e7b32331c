"""Element types: the `dtype` objects, promotion between them, and their numeric limits.

Every element type is one immutable `dtype` object, so types are compared with ``is``.
The module defines names such as ``bool`` and ``float`` because the public package has them;
the Python types of those names are reached through `builtins` in here.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

BOOL, INTEGER, FLOAT, COMPLEX = range(4)

# Priorities of operands in `promote`.
NUMBER, ZERO_DIM, DIMENSIONED = range(3)


class dtype:
    """The type of the elements of a tensor.

    There is exactly one object per element type; none can be created by users, and copies and
    pickles give back that same object.

    Attributes:
        name: the name in the public package, such as ``'float32'``.
        numpy: the equivalent `numpy.dtype`, in native byte order.
        itemsize: bytes per element.
        category: 0 for bool, 1 for integers, 2 for floating point, 3 for complex.
        index: position in `ALL`, for use in tables.
        is_floating_point, is_complex, is_signed: as in PyTorch (bool is not signed).
        abbr: a short name, such as ``'f32'``.

    Example:
        >>> float32
        tensorplay.float32
        >>> float32.itemsize, float32.is_floating_point, float32.to_complex()
        (4, True, tensorplay.complex64)
    """

    __slots__ = (
        "abbr", "category", "index", "is_complex", "is_floating_point", "is_signed", "itemsize",
        "name", "numpy",
    )  # fmt: skip

    abbr: str
    category: builtins.int
    index: builtins.int
    is_complex: builtins.bool
    is_floating_point: builtins.bool
    is_signed: builtins.bool
    itemsize: builtins.int
    name: str
    numpy: np.dtype[Any]

    def __new__(cls, *args: object, **kwargs: object) -> dtype:
        raise TypeError("cannot create 'tensorplay.dtype' instances")

    def __init_subclass__(cls, **kwargs: object) -> NoReturn:
        raise TypeError("type 'tensorplay.dtype' is not an acceptable base type")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'tensorplay.dtype' object: attribute '{name}' cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'tensorplay.dtype' object: attribute '{name}' cannot be deleted")

    def __repr__(self) -> str:
        return f"tensorplay.{self.name}"

    def __reduce__(self) -> str:
        # A string names a global of this module, so unpickling and copying find the singleton.
        return self.name

    def to_complex(self) -> dtype:
        """Return the complex type whose real part has this type.

        float16 gives complex64, because NumPy has no complex type of two halves (PyTorch:
        complex32).

        Raises:
            RuntimeError: for bool and integer types.

        Example:
            >>> float64.to_complex()
            tensorplay.complex128
        """
        if self.is_complex:
            return self
        if self.category != FLOAT:
            raise RuntimeError(f"to_complex(): {self!r} has no corresponding complex type")
        return complex128 if self is float64 else complex64

    def to_real(self) -> dtype:
        """Return the type of the real part: itself, unless this type is complex.

        Example:
            >>> complex64.to_real(), int8.to_real()
            (tensorplay.float32, tensorplay.int8)
        """
        if not self.is_complex:
            return self
        return float64 if self is complex128 else float32


ALL: list[dtype] = []


def _define(name: str, numpy_type: Any, category: builtins.int, abbr: str) -> dtype:
    self = object.__new__(dtype)
    numpy_dtype = np.dtype(numpy_type)
    fields = {
        "name": name,
        "numpy": numpy_dtype,
        "itemsize": numpy_dtype.itemsize,
        "category": category,
        "index": len(ALL),
        "is_floating_point": category == FLOAT,
        "is_complex": category == COMPLEX,
        "is_signed": category in (FLOAT, COMPLEX) or name.startswith("int"),
        "abbr": abbr,
    }
    for field, value in fields.items():
        object.__setattr__(self, field, value)
    ALL.append(self)
    return self


bool = _define("bool", np.bool_, BOOL, "b8")
uint8 = _define("uint8", np.uint8, INTEGER, "u8")
int8 = _define("int8", np.int8, INTEGER, "i8")
int16 = _define("int16", np.int16, INTEGER, "i16")
int32 = _define("int32", np.int32, INTEGER, "i32")
int64 = _define("int64", np.int64, INTEGER, "i64")
uint16 = _define("uint16", np.uint16, INTEGER, "u16")
uint32 = _define("uint32", np.uint32, INTEGER, "u32")
uint64 = _define("uint64", np.uint64, INTEGER, "u64")
float16 = _define("float16", np.float16, FLOAT, "f16")
bfloat16 = _define("bfloat16", ml_dtypes.bfloat16, FLOAT, "bf16")
float32 = _define("float32", np.float32, FLOAT, "f32")
float64 = _define("float64", np.float64, FLOAT, "f64")
complex64 = _define("complex64", np.complex64, COMPLEX, "c64")
complex128 = _define("complex128", np.complex128, COMPLEX, "c128")

half = float16
float = float32
double = float64
short = int16
int = int32
long = int64
cfloat = complex64
cdouble = complex128


# --- Conversion from other descriptions of a type ------------------------------------------

_FROM_NUMPY = {each.numpy: each for each in ALL}
_FROM_PYTHON = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
}


def from_numpy(numpy_dtype: np.dtype[Any]) -> dtype:
    """Return the `dtype` that holds the elements of arrays of a NumPy type.

    A type in foreign byte order gives the native type of the same kind: an array whose
    ``array.dtype != from_numpy(array.dtype).numpy`` must be converted by the caller.

    Raises:
        TypeError: for types without counterpart (objects, strings, dates, records, ...).

    Example:
        >>> from_numpy(np.dtype('>f8'))
        tensorplay.float64
    """
    found = _FROM_NUMPY.get(numpy_dtype)
    if found is None:
        found = _FROM_NUMPY.get(numpy_dtype.newbyteorder("="))
    if found is None:
        supported = ", ".join(each.name for each in reversed(ALL))
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. "
            f"The only supported types are: {supported}."
        )
    return found


def as_dtype(obj: Any) -> dtype:
    """Return the `dtype` meant by an argument named ``dtype``.

    Args:
        obj: a `dtype`; one of Python's ``bool``, ``int``, ``float``, ``complex`` (meaning bool,
            int64, float64, complex128, as in PyTorch); a `numpy.dtype` or NumPy scalar type.

    Raises:
        TypeError: for anything else.

    Example:
        >>> as_dtype(builtins.float), as_dtype(np.int8)
        (tensorplay.float64, tensorplay.int8)
    """
    if isinstance(obj, dtype):
        return obj
    if isinstance(obj, type):
        if obj in _FROM_PYTHON:
            return _FROM_PYTHON[obj]
        if issubclass(obj, np.generic):
            return from_numpy(np.dtype(obj))
    elif isinstance(obj, np.dtype):
        return from_numpy(obj)
    got = obj.__name__ if isinstance(obj, type) else type(obj).__name__
    raise TypeError(f"argument 'dtype' must be tensorplay.dtype, not {got}")


# --- The default type -----------------------------------------------------------------------

_default = float32


def get_default_dtype() -> dtype:
    """Return the floating-point type that Python floats become, float32 unless changed.

    Example:
        >>> get_default_dtype()
        tensorplay.float32
    """
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the type that Python floats become; Python complex numbers follow it.

    Raises:
        TypeError: if `d` is not a floating-point `dtype`.

    Example:
        >>> set_default_dtype(float64)
        >>> promote([(int32, DIMENSIONED), number_entry(1.5)])
        tensorplay.float64
        >>> set_default_dtype(float32)
    """
    global _default
    if not isinstance(d, dtype) or d.category != FLOAT:
        raise TypeError(
            "set_default_dtype(): only floating-point types are supported as the default type, "
            f"got {d!r}"
        )
    _default = d


# --- Promotion ------------------------------------------------------------------------------

# Types that PyTorch promotes with floating point only.
_LIMITED = (uint16, uint32, uint64)


def _promote_pair(a: dtype, b: dtype) -> dtype | None:
    """The rule behind the table; None where promotion is refused."""
    if a is b:
        return a
    low, high = (a, b) if a.category <= b.category else (b, a)
    if low in _LIMITED or high in _LIMITED:
        return high if high.category == FLOAT else None
    if low.category < high.category:
        if low is float64:
            return complex128
        return high
    if {low, high} == {float16, bfloat16}:
        return float32  # neither holds the values of the other
    wide, narrow = (low, high) if low.itemsize >= high.itemsize else (high, low)
    if wide is uint8 or (wide is int8 and narrow is uint8):
        return int16
    return wide


PROMOTION_TABLE = tuple(tuple(_promote_pair(a, b) for b in ALL) for a in ALL)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest type of PyTorch's lattice that both types convert to.

    Raises:
        RuntimeError: for uint16, uint32 or uint64 with another integer, bool or complex type.

    Example:
        >>> promote_types(uint8, int8), promote_types(int64, float16)
        (tensorplay.int16, tensorplay.float16)
    """
    promoted = PROMOTION_TABLE[type1.index][type2.index]
    if promoted is None:
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {type1.name} and {type2.name}"
        )
    return promoted


def number_dtype(number: complex) -> dtype:
    """Return the type of a Python number: bool, int64, float64 or complex128.

    Raises:
        TypeError: if `number` is not a Python number.

    Example:
        >>> number_dtype(True), number_dtype(2j)
        (tensorplay.bool, tensorplay.complex128)
    """
    # bool comes first, because True is also an int.
    for python_type in _FROM_PYTHON:
        if isinstance(number, python_type):
            return _FROM_PYTHON[python_type]
    raise TypeError(f"expected a Python number, got {type(number).__name__}")


def number_entry(number: complex) -> tuple[dtype, builtins.int]:
    """Return the entry of a Python number for `promote`."""
    return number_dtype(number), NUMBER


def promote(entries: Iterable[tuple[dtype, builtins.int]]) -> dtype:
    """Return the type in which an operation on several operands is computed.

    Tensors with dimensions decide. A 0-dim tensor, and below it a Python number, only matters if
    its category (bool < integer < floating point < complex) is higher than that of the operands
    above it. Python floats count as the default dtype.

    Args:
        entries: pairs ``(dtype, priority)``, with priority `DIMENSIONED` (2) for tensors that
            have dimensions, `ZERO_DIM` (1) for 0-dim tensors, `NUMBER` (0) for Python numbers,
            whose dtype is given by `number_dtype`.

    Raises:
        RuntimeError: see `promote_types`.
        ValueError: if there are no entries.

    Example:
        >>> promote([(int8, DIMENSIONED), (int64, ZERO_DIM)])
        tensorplay.int8
        >>> promote([(int8, DIMENSIONED), (float64, ZERO_DIM), (float64, NUMBER)])
        tensorplay.float64
    """
    groups: list[dtype | None] = [None, None, None]
    for entry, priority in entries:
        kind = entry
        if priority == NUMBER and kind.category >= FLOAT:
            kind = _default if kind.category == FLOAT else _default.to_complex()
        present = groups[priority]
        groups[priority] = kind if present is None else promote_types(present, kind)
    result = None
    for group in groups:
        if group is not None:
            result = group if result is None else _combine(group, result)
    if result is None:
        raise ValueError("promote(): expected at least one operand")
    return result


def _combine(strong: dtype, weak: dtype) -> dtype:
    if strong.category == FLOAT and weak.category == COMPLEX:
        return strong.to_complex()  # the weak operand gives the category, not the precision
    return weak if weak.category > strong.category else strong


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Return whether values of one type may be stored in another, in `out=` or in place.

    A value may not lose its category: complex to real, floating point to integer, and anything
    to bool are refused, while a smaller size of the same category is not.

    Example:
        >>> can_cast(float64, float16), can_cast(float32, int64)
        (True, False)
    """
    return from_.category <= to.category


# --- Numeric limits -------------------------------------------------------------------------


class finfo:
    """Numeric limits of a floating-point type; of the real part for a complex type.

    Args:
        type: a floating-point or complex `dtype`; the default dtype if not given.

    Attributes:
        bits: size in bits.
        eps: difference between 1 and the next larger number.
        max, min: largest and smallest finite number.
        tiny, smallest_normal: smallest positive normal number.
        resolution: approximate decimal resolution, ``10 ** -digits``.
        dtype: name of the type, a string.

    Raises:
        TypeError: for bool and integer types.

    Example:
        >>> finfo(float32).eps
        1.1920928955078125e-07
        >>> finfo(bfloat16).max
        3.3895313892515355e+38
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        real = (_default if type is None else as_dtype(type)).to_real()
        if real.category != FLOAT:
            raise TypeError(
                f"finfo() requires a floating point input type, not {real!r}. "
                "Use tensorplay.iinfo for integer types."
            )
        limits = ml_dtypes.finfo(real.numpy)
        self.bits = builtins.int(limits.bits)
        self.dtype = real.name
        self.eps = builtins.float(limits.eps)
        self.max = builtins.float(limits.max)
        self.min = builtins.float(limits.min)
        # Not `limits.resolution`, which is rounded to the type in question.
        self.resolution = builtins.float(f"1e-{limits.precision}")
        self.smallest_normal = self.tiny = builtins.float(limits.smallest_normal)

    def __eq__(self, other: object) -> builtins.bool:
        if not isinstance(other, finfo):
            return NotImplemented
        return self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(("finfo", self.dtype))

    def __repr__(self) -> str:
        shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in shown)
        return f"finfo({values}, dtype={self.dtype})"


class iinfo:
    """Numeric limits of an integer type.

    Args:
        type: an integer `dtype`.

    Attributes:
        bits: size in bits.
        max, min: largest and smallest number.
        dtype: name of the type, a string.

    Raises:
        TypeError: for bool, floating-point and complex types.

    Example:
        >>> iinfo(int8).max, iinfo(int8)
        (127, iinfo(min=-128, max=127, dtype=int8))
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        integer = as_dtype(type)
        if integer.category == BOOL:
            raise TypeError("tensorplay.bool is not supported by tensorplay.iinfo")
        if integer.category != INTEGER:
            raise TypeError(
                f"iinfo() requires an integer input type, not {integer!r}. "
                "Use tensorplay.finfo for floating point types."
            )
        limits = np.iinfo(integer.numpy)
        self.bits = builtins.int(limits.bits)
        self.dtype = integer.name
        self.max = builtins.int(limits.max)
        self.min = builtins.int(limits.min)

    def __eq__(self, other: object) -> builtins.bool:
        if not isinstance(other, iinfo):
            return NotImplemented
        return self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(("iinfo", self.dtype))

    def __repr__(self) -> str:
        # Numbers of more than six digits are abbreviated, as PyTorch shows them.
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
