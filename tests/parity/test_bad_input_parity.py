"""Calls that PyTorch refuses (bad_calls.txt, one a line, T being either library) are refused here.

With an exception that the same `except` clause catches, and a message of our own that begins with
the function's name.
"""

import pathlib
import re
import warnings

import pytest
import torch

import tensorplay as tp

CALLS = [
    line
    for line in (pathlib.Path(__file__).parent / "bad_calls.txt").read_text().splitlines()
    if line and not line.startswith("#")
]

#: call -> why it is taken, or refused with another type.
DIFFERENT = {
    "T.ones(2,3)['a']": "an index of a wrong type is an IndexError, as in NumPy",
    "T.nan_to_num(T.ones(2),nan='a')": "numbers are not looked at where nothing is replaced",
    "T.nonzero(T.ones(2),as_tuple=3)": "truth values may be of any type",
    "T.logcumsumexp(T.ones(2).long(),0)": "integers become floating point",
    "T.igamma(T.ones(2).long(),T.ones(2).long())": "integers become floating point",
    "T.heaviside(T.ones(2),T.ones(2).double())": "dtypes are promoted",
    "~T.ones(2)": "as bitwise_not() is refused, in both libraries",
    "int(T.tensor(1+1j))": "a TypeError, as Python's for its complex numbers",
}  # fmt: skip

#: Messages that are Python's or NumPy's own: of what is no function of ours.
OTHER_MESSAGES = re.compile(r"len\(|iter\(|T\.tensor\(|int\(|T\.zeros\(|T\.full\(|\.type\(")


def attempt(call, library):
    """The exception that a call raises, or None."""
    names = {"T": library, "F": library.nn.functional, "inf": float("inf"), "nan": float("nan")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, names)
        except Exception as error:
            return error
    return None


def same_type(ours, theirs):
    """Whether `except` clauses for PyTorch's type catch our error."""
    name = type(theirs).__name__.removeprefix("_")
    return name in {cls.__name__ for cls in type(ours).__mro__}


@pytest.mark.parametrize("call", CALLS)
def test_bad_call(call):
    theirs, ours = attempt(call, torch), attempt(call, tp)
    assert theirs is not None, "PyTorch takes it now"
    if call in DIFFERENT:
        assert ours is None or not same_type(ours, theirs), f"{call} agrees now"
        return
    assert ours is not None, f"it is taken; PyTorch: {theirs!r}"
    assert same_type(ours, theirs), f"{ours!r}; PyTorch: {theirs!r}"
    if not OTHER_MESSAGES.search(call):
        assert re.match(r"[\w.]+\(\)?", str(ours)), f"does not begin with a function: {ours}"
        assert len(str(ours)) > 25, str(ours)


def test_exceptions_are_listed_calls():
    assert set(DIFFERENT) <= set(CALLS)
    assert len(CALLS) == len(set(CALLS)) > 350
