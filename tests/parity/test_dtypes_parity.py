"""Attributes, promotion, casting and limits of every element type agree with PyTorch."""

import itertools

import pytest
import torch

from tensorplay.base import dtypes

ALL = dtypes.ALL
ENTRIES = [(each, priority) for priority in (1, 2) for each in ALL]
ENTRIES += [dtypes.number_entry(number) for number in (True, 1, 1.0, 1j)]
NUMBERS = {"bool": True, "int64": 1, "float64": 1.0, "complex128": 1j}


def theirs(dtype):
    return getattr(torch, dtype.name)


def name_or_error(function, *args):
    """The name of the resulting type; complex32, which we lack, counts as complex64."""
    try:
        name = str(function(*args)).split(".")[1]
    except (RuntimeError, TypeError):
        return "error"
    return "complex64" if name == "complex32" else name


@pytest.fixture(params=["float32", "float64", "float16", "bfloat16"])
def default(request):
    dtypes.set_default_dtype(getattr(dtypes, request.param))
    torch.set_default_dtype(getattr(torch, request.param))
    yield request.param
    dtypes.set_default_dtype(dtypes.float32)
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_attributes(dtype):
    for name in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
        assert getattr(dtype, name) == getattr(theirs(dtype), name)
    for name in ("to_complex", "to_real"):
        ours = name_or_error(getattr(dtype, name))
        assert ours == name_or_error(getattr(theirs(dtype), name))


@pytest.mark.parametrize("a", ALL, ids=repr)
def test_promote_types_and_can_cast(a):
    for b in ALL:
        ours = name_or_error(dtypes.promote_types, a, b)
        assert ours == name_or_error(torch.promote_types, theirs(a), theirs(b)), b
        assert dtypes.can_cast(a, b) == torch.can_cast(theirs(a), theirs(b)), b


def operand(entry):
    dtype, priority = entry
    if priority == dtypes.NUMBER:
        return NUMBERS[dtype.name]
    return torch.ones((2,) if priority == dtypes.DIMENSIONED else (), dtype=theirs(dtype))


def refused_by_pytorch_only(*entries):
    """A bool tensor with a 0-dim uint16, uint32 or uint64 one: the result is clear."""
    limited = any(d.name in ("uint16", "uint32", "uint64") and p == 1 for d, p in entries)
    return limited and (dtypes.bool, dtypes.DIMENSIONED) in entries


def test_result_type(default):
    for a, b in itertools.product(ENTRIES, ENTRIES):
        expected = name_or_error(torch.result_type, operand(a), operand(b))
        if refused_by_pytorch_only(a, b):
            assert expected == "error"
            continue
        assert name_or_error(dtypes.promote, [a, b]) == expected, (a, b)


def test_result_type_of_three():
    plain = [e for e in ENTRIES if e[1] != dtypes.NUMBER and not e[0].name.startswith("uint")]
    # float16 with complex gives complex32 in PyTorch, which addcmul does not compute.
    plain = [e for e in plain if e[0].name not in ("bool", "float16")]
    for three in itertools.product(plain[::2], plain[1::2], plain[::3]):
        expected = name_or_error(lambda a, b, c: torch.addcmul(a, b, c).dtype, *map(operand, three))
        assert name_or_error(dtypes.promote, three) == expected, three


@pytest.mark.parametrize("dtype", ALL, ids=repr)
@pytest.mark.parametrize("kind", ["finfo", "iinfo"])
def test_limits(dtype, kind):
    try:
        expected = getattr(torch, kind)(theirs(dtype))
    except TypeError:
        with pytest.raises(TypeError):
            getattr(dtypes, kind)(dtype)
        return
    ours = getattr(dtypes, kind)(dtype)
    assert repr(ours) == repr(expected)
    for name in type(ours).__slots__:
        assert getattr(ours, name) == getattr(expected, name)
        assert type(getattr(ours, name)) is type(getattr(expected, name))
