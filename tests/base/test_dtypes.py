"""Element types: identity, attributes, conversions, promotion, limits."""

import copy
import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest

from tensorplay.base import dtypes as d

LIMITED = {d.uint16, d.uint32, d.uint64}

# Each row: what the type at its head promotes to with the types of ORDER; "-" is an error.
ORDER = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
SHORT = {
    "?": "bool", "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16", "bf": "bfloat16",
    "f4": "float32", "f8": "float64", "c4": "complex64", "c8": "complex128",
}  # fmt: skip
TABLE = """
bool       ?  u1 i1 i2 i4 i8 f2 bf f4 f8 c4 c8
uint8      u1 u1 i2 i2 i4 i8 f2 bf f4 f8 c4 c8
int8       i1 i2 i1 i2 i4 i8 f2 bf f4 f8 c4 c8
int16      i2 i2 i2 i2 i4 i8 f2 bf f4 f8 c4 c8
int32      i4 i4 i4 i4 i4 i8 f2 bf f4 f8 c4 c8
int64      i8 i8 i8 i8 i8 i8 f2 bf f4 f8 c4 c8
uint16     -  -  -  -  -  -  f2 bf f4 f8 -  -
uint32     -  -  -  -  -  -  f2 bf f4 f8 -  -
uint64     -  -  -  -  -  -  f2 bf f4 f8 -  -
float16    f2 f2 f2 f2 f2 f2 f2 f4 f4 f8 c4 c8
bfloat16   bf bf bf bf bf bf f4 bf f4 f8 c4 c8
float32    f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c4 c8
float64    f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c8 c8
complex64  c4 c4 c4 c4 c4 c4 c4 c4 c4 c8 c4 c8
complex128 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8
"""


@pytest.fixture
def restored_default():
    before = d.get_default_dtype()
    yield
    d.set_default_dtype(before)


def entry(operand):
    """`t:float32` is a tensor with dimensions, `0:float32` a 0-dim one, else a number."""
    if isinstance(operand, str):
        kind, name = operand.split(":")
        return getattr(d, name), d.DIMENSIONED if kind == "t" else d.ZERO_DIM
    return d.number_entry(operand)


# --- the objects ---------------------------------------------------------------------------


def test_every_type_is_listed_once_at_its_index():
    assert len(set(d.ALL)) == len(d.ALL) == 15
    assert [each.index for each in d.ALL] == list(range(15))
    assert all(getattr(d, each.name) is each for each in d.ALL)


@pytest.mark.parametrize(
    ("name", "itemsize", "category", "signed", "numpy"),
    [
        ("bool", 1, 0, False, np.bool_),
        ("uint8", 1, 1, False, np.uint8),
        ("int8", 1, 1, True, np.int8),
        ("int16", 2, 1, True, np.int16),
        ("int32", 4, 1, True, np.int32),
        ("int64", 8, 1, True, np.int64),
        ("uint16", 2, 1, False, np.uint16),
        ("uint32", 4, 1, False, np.uint32),
        ("uint64", 8, 1, False, np.uint64),
        ("float16", 2, 2, True, np.float16),
        ("bfloat16", 2, 2, True, ml_dtypes.bfloat16),
        ("float32", 4, 2, True, np.float32),
        ("float64", 8, 2, True, np.float64),
        ("complex64", 8, 3, True, np.complex64),
        ("complex128", 16, 3, True, np.complex128),
    ],
)
def test_attributes(name, itemsize, category, signed, numpy):
    self = getattr(d, name)
    assert repr(self) == str(self) == f"tensorplay.{name}"
    assert (self.name, self.itemsize, self.category) == (name, itemsize, category)
    assert self.is_signed is signed
    assert self.is_floating_point is (category == 2)
    assert self.is_complex is (category == 3)
    assert self.numpy == np.dtype(numpy)


def test_aliases():
    pairs = {
        "half": "float16", "float": "float32", "double": "float64", "short": "int16",
        "int": "int32", "long": "int64", "cfloat": "complex64", "cdouble": "complex128",
    }  # fmt: skip
    assert all(getattr(d, alias) is getattr(d, name) for alias, name in pairs.items())


@pytest.mark.parametrize("self", d.ALL, ids=repr)
def test_copies_and_pickles_are_the_same_object(self):
    assert copy.copy(self) is self
    assert copy.deepcopy([self])[0] is self
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(self, protocol)) is self


def test_types_are_closed():
    with pytest.raises(TypeError, match="cannot create"):
        d.dtype("float32")
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("mine", (d.dtype,), {})
    with pytest.raises(AttributeError):
        d.float32.name = "float33"
    with pytest.raises(AttributeError):
        d.float32.new = 1
    with pytest.raises(AttributeError):
        del d.float32.name
    assert d.float32.name == "float32"


def test_to_complex_and_to_real():
    complexes = {
        d.float16: d.complex64, d.bfloat16: d.complex64, d.float32: d.complex64,
        d.float64: d.complex128, d.complex64: d.complex64, d.complex128: d.complex128,
    }  # fmt: skip
    for each in d.ALL:
        if each in complexes:
            assert each.to_complex() is complexes[each]
        else:
            with pytest.raises(RuntimeError, match=each.name):
                each.to_complex()
    assert d.complex64.to_real() is d.float32
    assert d.complex128.to_real() is d.float64
    assert all(each.to_real() is each for each in d.ALL if not each.is_complex)


# --- conversion ----------------------------------------------------------------------------


@pytest.mark.parametrize("self", d.ALL, ids=repr)
def test_numpy_round_trip(self):
    assert d.from_numpy(self.numpy) is self
    assert d.from_numpy(np.zeros(2, self.numpy).dtype) is self
    assert d.as_dtype(self) is d.as_dtype(self.numpy) is d.as_dtype(self.numpy.type) is self


@pytest.mark.parametrize("code", ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8"])
def test_foreign_byte_order_names_the_native_type(code):
    foreign = np.dtype(code).newbyteorder("S")
    found = d.from_numpy(foreign)
    assert found.numpy == np.dtype(code)
    assert found.numpy != foreign  # which tells the caller to convert


@pytest.mark.parametrize(
    "unsupported",
    ["O", "U3", "S2", "M8[s]", "m8[s]", "V2", "i4,f4", np.longdouble, ml_dtypes.float8_e5m2],
    ids=str,
)
def test_from_numpy_rejects(unsupported):
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy\.\w+.*supported"):
        d.from_numpy(np.dtype(unsupported))


def test_as_dtype_of_python_types():
    assert d.as_dtype(bool) is d.bool
    assert d.as_dtype(int) is d.int64
    assert d.as_dtype(float) is d.float64
    assert d.as_dtype(complex) is d.complex128


@pytest.mark.parametrize("wrong", [None, "float32", 1.0, str, object, np.zeros(1)], ids=repr)
def test_as_dtype_rejects(wrong):
    with pytest.raises(TypeError, match="'dtype' must be tensorplay.dtype"):
        d.as_dtype(wrong)


# --- default -------------------------------------------------------------------------------


@pytest.mark.usefixtures("restored_default")
def test_default_dtype():
    assert d.get_default_dtype() is d.float32
    for each in (d.float64, d.float16, d.bfloat16):
        d.set_default_dtype(each)
        assert d.get_default_dtype() is each
        assert d.promote([d.number_entry(1.0)]) is each
        assert d.promote([d.number_entry(1j)]) is each.to_complex()
        assert d.finfo().dtype == each.name


@pytest.mark.parametrize("wrong", [d.int32, d.bool, d.complex64, float, "float32", None], ids=repr)
def test_set_default_dtype_rejects(wrong):
    with pytest.raises(TypeError, match="only floating-point types"):
        d.set_default_dtype(wrong)
    assert d.get_default_dtype() is d.float32


# --- promotion -----------------------------------------------------------------------------


@pytest.mark.parametrize("row", TABLE.strip().splitlines(), ids=lambda row: row.split()[0])
def test_promote_types(row):
    head, *results = row.split()
    a = getattr(d, head)
    for name, result in zip(ORDER.split(), results, strict=True):
        b = getattr(d, name)
        if result == "-":
            for pair in ((a, b), (b, a)):
                with pytest.raises(RuntimeError, match="uint16, uint32, uint64"):
                    d.promote_types(*pair)
        else:
            assert d.promote_types(a, b) is getattr(d, SHORT[result])
            assert d.promote_types(b, a) is getattr(d, SHORT[result])


def test_promote_types_among_the_limited_ones():
    for a, b in itertools.product(LIMITED, LIMITED):
        if a is b:
            assert d.promote_types(a, b) is a
        else:
            with pytest.raises(RuntimeError):
                d.promote_types(a, b)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        # numbers alone
        ([True], "bool"),
        ([True, 2], "int64"),
        ([1, 2.0], "float32"),
        ([1.0, 1j], "complex64"),
        # a number beside a tensor matters by its category only
        (["t:uint8", 1000], "uint8"),
        (["t:bool", 1], "int64"),
        (["t:int8", True], "int8"),
        (["t:int64", 1.5], "float32"),
        (["t:uint16", 1.5], "float32"),
        (["t:int32", 1j], "complex64"),
        (["t:float16", 1.5], "float16"),
        (["t:float64", 1], "float64"),
        (["t:float16", 1j], "complex64"),
        (["t:float32", 1j], "complex64"),
        (["t:float64", 1j], "complex128"),
        (["t:complex64", 1.5], "complex64"),
        (["0:int16", 70000], "int16"),
        (["0:float64", 1j], "complex128"),
        # a 0-dim tensor beside a dimensioned one, too, but it keeps its own precision
        (["t:float32", "0:float64"], "float32"),
        (["t:int8", "0:int64"], "int8"),
        (["t:int64", "0:float16"], "float16"),
        (["t:int64", "0:float64"], "float64"),
        (["t:bool", "0:uint8"], "uint8"),
        (["t:bool", "0:uint16"], "uint16"),
        (["t:float32", "0:complex128"], "complex64"),
        (["t:float64", "0:complex64"], "complex128"),
        (["t:int64", "0:complex128"], "complex128"),
        # equals promote among themselves
        (["0:float32", "0:float64"], "float64"),
        (["t:uint8", "t:int8"], "int16"),
        (["t:float16", "t:bfloat16"], "float32"),
        # three of each kind
        (["t:int8", "0:int64", 2.5], "float32"),
        (["t:int8", "0:float64", 2.5], "float64"),
        (["t:float16", "0:int64", 1j], "complex64"),
        (["t:int8", "0:float64", 1j], "complex128"),
        (["t:int8", "0:float32", "0:float64", "t:int32"], "float64"),
    ],
    ids=str,
)
def test_promote(operands, expected):
    for order in itertools.permutations(operands):
        assert d.promote(map(entry, order)) is getattr(d, expected)


@pytest.mark.usefixtures("restored_default")
def test_promote_follows_the_default_dtype():
    d.set_default_dtype(d.float64)
    assert d.promote([entry("t:int8"), entry(1.0)]) is d.float64
    assert d.promote([entry("t:int8"), entry(1j)]) is d.complex128
    assert d.promote([entry("t:float32"), entry(1j)]) is d.complex64


def test_promote_rejects():
    with pytest.raises(ValueError, match="at least one"):
        d.promote([])
    with pytest.raises(RuntimeError, match="uint16 and int8"):
        d.promote([entry("t:uint16"), entry("t:int8")])


def test_number_dtype():
    numbers = [True, 1, 1.0, 1j]
    assert [d.number_dtype(n) for n in numbers] == [d.bool, d.int64, d.float64, d.complex128]
    with pytest.raises(TypeError, match="got str"):
        d.number_dtype("1")


def test_can_cast_keeps_the_category():
    for a, b in itertools.product(d.ALL, d.ALL):
        assert d.can_cast(a, b) is (a.category <= b.category)
    assert d.can_cast(d.int64, d.uint8)
    assert not d.can_cast(d.uint8, d.bool)


# --- limits --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("self", "bits", "eps", "largest", "tiny", "resolution"),
    [
        (d.float16, 16, 2.0**-10, 65504.0, 2.0**-14, 1e-3),
        (d.bfloat16, 16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 1e-2),
        (d.float32, 32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126, 1e-6),
        (d.float64, 64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022, 1e-15),
    ],
    ids=str,
)
def test_finfo(self, bits, eps, largest, tiny, resolution):
    info = d.finfo(self)
    assert info.dtype == self.name
    assert (info.bits, info.eps, info.max, info.min) == (bits, eps, largest, -largest)
    assert info.tiny == info.smallest_normal == tiny
    assert info.resolution == resolution
    assert all(type(getattr(info, name)) is float for name in ("eps", "max", "min", "tiny"))


def test_finfo_of_other_types():
    assert d.finfo(d.complex64) == d.finfo(d.float32) == d.finfo()
    assert d.finfo(d.complex128) == d.finfo(float) != d.finfo()
    with pytest.raises(TypeError, match="iinfo"):
        d.finfo(d.int32)
    assert repr(d.finfo(d.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )


def test_iinfo():
    for self in d.ALL:
        if self.category == d.INTEGER:
            info = d.iinfo(self)
            values = 2 ** (8 * self.itemsize)
            assert info.max - info.min == values - 1
            assert info.min == (-values // 2 if self.is_signed else 0)
            assert (info.bits, info.dtype) == (8 * self.itemsize, self.name)
        else:
            with pytest.raises(TypeError, match="iinfo"):
                d.iinfo(self)
    assert repr(d.iinfo(d.int32)) == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert d.iinfo(d.int8) == d.iinfo(d.int8) != d.iinfo(d.uint8)
