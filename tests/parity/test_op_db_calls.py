"""PyTorch's operator database beyond derivatives: every dtype, `out=`, in place, errors."""

from __future__ import annotations

import warnings

import pytest
import torch

from tests.parity import bridge
from tests.parity.bridge import Mismatch, is_tensor, leaves
from tests.parity.op_db_calls import (
    DTYPES,
    Call,
    calls,
    compare,
    erroneous,
    every_entry,
)
from tests.parity.op_db_entries import our_function, their_function

#: What is not compared element by element: random numbers, memory that is not initialised, and
#: vectors that are determined up to a phase.
_NO_ELEMENTS = {
    "cauchy", "exponential", "geometric", "log_normal", "normal", "uniform", "bernoulli",
    "multinomial", "rand_like", "randn_like", "randint_like", "randint", "rand", "randn",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout", "nn.functional.rrelu",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.scaled_dot_product_attention", "nn.functional.multi_head_attention_forward",
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided",
    "svd", "svd_lowrank", "pca_lowrank", "linalg.svd", "linalg.eig", "linalg.eigh",
}  # fmt: skip

#: Which of several equal elements an index names is not specified.
_FIRST_ONLY = {"kthvalue", "topk", "median", "nanmedian", "mode", "sort"}

_BYTES = "bytes are rounded once here, in PyTorch their weights are too"

#: entry -> why some dtypes differ.
_OTHER_DTYPES = {
    "as_strided:partial_views": "half precision has other memory on its way between the libraries",
    "histogramdd": "the database gives edges that do not ascend",
    "masked.argmax": "PyTorch gives indices in the dtype of the input, here they are int64",
    "masked.argmin": "PyTorch gives indices in the dtype of the input, here they are int64",
    "masked.logsumexp": "PyTorch rounds the result for integers to an integer",
    "matrix_exp": "PyTorch's result in float16 is nan",
    "nn.functional.soft_margin_loss": "PyTorch overflows, and takes complex numbers",
    "sum_to_size": "PyTorch makes int64 of a 0-dim integer that it does not sum",
    "view_as_complex": "there is no complex dtype of two halves here, as in NumPy",
}
for _name in (
    "nn.functional.interpolate:bilinear", "nn.functional.interpolate:bicubic",
    "nn.functional.upsample_bilinear", "_upsample_bilinear2d_aa",
):  # fmt: skip
    _OTHER_DTYPES[_name] = _BYTES


def mismatch(op, call):
    """How our result differs from PyTorch's ('' if it does not, or PyTorch refuses the call)."""
    try:
        _, expected = call.theirs(their_function(op))
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, found = call.ours(our_function(op))
        compare(found, expected, elements=op.name not in _NO_ELEMENTS,
                first=op.name in _FIRST_ONLY)  # fmt: skip
    except Exception as error:
        return f"{call}: {type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", every_entry())
def test_values_in_every_dtype(name):
    op = every_entry()[name]
    found = [
        mismatch(op, call) for dtype in DTYPES if dtype in op.dtypes for call in calls(op, dtype, 4)
    ]
    found = [text for text in found if text]
    if name in _OTHER_DTYPES:
        assert found, f"{name} agrees in all dtypes now"
    else:
        assert not found, "\n".join(found[:5])


# --- out= -----------------------------------------------------------------------------------------


def targets(expected, kind):
    """Tensors to write a result into: of its shape, of none, or of a dtype that cannot take it."""
    if kind == "empty":
        return torch.empty(0, dtype=expected.dtype)
    if kind == "integers":
        return torch.zeros(expected.shape, dtype=torch.int32)
    return torch.full(expected.shape, 3).to(expected.dtype)


@pytest.fixture(autouse=True)
def quiet():
    """Empty samples have no deviations, which warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*degrees of freedom is <= 0")
        yield


#: Functions whose documented signature has no `out` in PyTorch either.
_NO_OUT = {
    "lu", "native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update",
    "histogramdd", "nn.functional.avg_pool2d", "nn.functional.avg_pool3d",
    "nn.functional.logsigmoid", "nn.functional.softshrink", "nn.functional.hardshrink",
    "nn.functional.gelu", "nn.functional.softplus",
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n, op in every_entry().items() if op.supports_out])
def test_out(name):
    op = every_entry()[name]
    if op.name in _NO_OUT:
        with pytest.raises(TypeError, match="out"):
            for call in calls(op, torch.float32, 2):
                call.ours(lambda *args, **named: our_function(op)(*args, **named, out=None))
        return
    if torch.float32 not in op.dtypes or op.name in _NO_ELEMENTS:
        return
    for call in calls(op, torch.float32, 3):
        try:
            _, expected = call.theirs(their_function(op))
        except (RuntimeError, TypeError, ValueError):
            continue
        if not leaves(expected) or not all(is_tensor(x) for x in leaves(expected)):
            continue
        for kind in ("same", "empty", "integers"):
            check_out(op, call, expected, kind)


def check_out(op, call, expected, kind):
    """One call with `out=`."""
    single = isinstance(expected, torch.Tensor)
    wanted = [bridge.to_ours(targets(x, kind)) for x in leaves(expected)]
    out = wanted[0] if single else tuple(wanted)
    made = bridge.substitute(call.translated, [bridge.to_ours(x) for x in call.tensors])
    if kind == "integers":
        if all(x.dtype in (torch.float32, torch.complex64) for x in leaves(expected)):
            with pytest.raises((RuntimeError, TypeError)):
                our_function(op)(made[0], *made[1], **{**made[2], "out": out})
        return
    found = our_function(op)(made[0], *made[1], **{**made[2], "out": out})
    compare(found, expected, first=op.name in _FIRST_ONLY)
    assert all(a is b for a, b in zip(leaves(found), wanted, strict=True)), "result is not out"


# --- in place, and as a method --------------------------------------------------------------------


def methods(attribute):
    """Entries whose variant is a method of Tensor."""
    found = []
    for name, op in every_entry().items():
        method = getattr(getattr(op, attribute), "__name__", "<lambda>")
        if method != "<lambda>":
            found.append(name)
    return found


@pytest.mark.parametrize("attribute", ["inplace_variant", "method_variant"])
@pytest.mark.parametrize("name", sorted({*methods("inplace_variant"), *methods("method_variant")}))
def test_methods(attribute, name):
    op = every_entry()[name]
    method = getattr(op, attribute)
    if getattr(method, "__name__", "<lambda>") == "<lambda>":
        return
    for dtype in (torch.float32, torch.int64):
        if dtype not in op.dtypes:
            continue
        for call in calls(op, dtype, 3):
            try:
                _, expected = call.theirs(method)
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue
            if not call.tensors or not is_tensor(call.given[0]):
                continue
            if attribute == "inplace_variant" and tuple(expected.shape) != call.given[0].shape:
                continue  # PyTorch resized the tensor
            ours = lambda x, *args, **named: getattr(x, method.__name__)(*args, **named)  # noqa: E731
            made, found = call.ours(ours)
            compare(found, expected, elements=op.name not in _NO_ELEMENTS,
                    first=op.name in _FIRST_ONLY)  # fmt: skip
            if attribute == "inplace_variant":
                assert found is made[0]


# --- errors ---------------------------------------------------------------------------------------

_NUMBERS = "a number beside a tensor is taken for a tensor"
_CASTS = "a result that can be cast is written to an out of another dtype"

#: entry -> why a call that PyTorch refuses is taken, or refused with another type.
_OTHER_ERRORS = {
    "atan2": _NUMBERS, "clamp_max": _NUMBERS, "clamp_min": _NUMBERS, "copysign": _NUMBERS,
    "maximum": _NUMBERS, "minimum": _NUMBERS, "eq": _NUMBERS, "ne": _NUMBERS, "lt": _NUMBERS,
    "le": _NUMBERS, "gt": _NUMBERS, "ge": _NUMBERS,
    "__rdiv__": "numbers are taken as in every division",
    "aminmax": _CASTS, "complex": _CASTS, "gather": _CASTS,
    "index_select": "NumPy writes to memory that overlaps",
    "arange": "PyTorch's type depends on whether out is given",
    "narrow_copy": "a dim out of range is an IndexError, as of narrow()",
}  # fmt: skip
for _name in ("", ":chunked", ":chunked_none"):
    _OTHER_ERRORS[f"nn.functional.linear_cross_entropy{_name}"] = (
        "ignore_index goes with probabilities, and K dims without a batch"
    )


def refusal(op, call):
    """Our error for a call, or how it differs from PyTorch's in type."""
    try:
        call.theirs(their_function(op))
    except Exception as error:
        expected = error
    else:
        return None, ""  # PyTorch takes it on this machine
    try:
        call.ours(our_function(op))
    except Exception as error:
        if same_type(error, expected):
            return error, ""
        return error, f"{call}: {type(error).__name__}: {error}, PyTorch: {expected!r}"
    return None, f"{call} is taken, PyTorch: {expected!r}"


def same_type(ours, theirs):
    """Whether `except` clauses for PyTorch's type catch our error too."""
    name = type(theirs).__name__.removeprefix("_")
    return name in {cls.__name__ for cls in type(ours).__mro__}


@pytest.mark.parametrize("name", [n for n, op in every_entry().items() if op.error_inputs_func])
def test_errors(name):
    op = every_entry()[name]
    found = [refusal(op, call) for call in erroneous(op)]
    wrong = [text for _, text in found if text]
    if name == "multinomial":
        return  # some of its inputs are memory that is not initialised
    short = [
        str(error) for error, text in found
        if error and not text and "(): " not in str(error) and not op.name.startswith("__")
    ]  # fmt: skip
    if name in _OTHER_ERRORS:
        assert wrong, f"{name} agrees now"
    else:
        assert not wrong, "\n".join(wrong[:5])
    assert not short, f"messages that do not begin with the function: {short[:5]}"


def test_a_call_repeats():
    op = every_entry()["add"]
    call = calls(op, torch.float32, 2)[0]
    assert isinstance(call, Call)
    first, second = (call.ours(our_function(op))[1] for _ in range(2))
    compare(first, second)
    with pytest.raises(Mismatch):
        compare(first + 1, second)
