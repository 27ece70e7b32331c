"""Reductions, scans and order statistics: conventions, edges and messages."""

import math
import pickle
import warnings

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._core import core

INF = math.inf


def leaf(values, dtype=tp.float64):
    return tp.tensor(values, dtype=dtype, requires_grad=True)


def gradient(f, x):
    (found,) = tp.autograd.grad(f(x), [x], create_graph=True)
    return found


def nested_gradient(f, x, order):
    """The derivative of that order of a function of a scalar, by repeated reverse mode."""
    y = f(x)
    for _ in range(order):
        if not y.requires_grad:
            return tp.zeros_like(x)
        (y,) = tp.autograd.grad(
            y, [x], create_graph=True, allow_unused=True, materialize_grads=True
        )
    return y


# --- dtypes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [tp.bool, tp.uint8, tp.int8, tp.int32, tp.int64])
@pytest.mark.parametrize("name", ["sum", "prod", "nansum"])
def test_integers_reduce_to_int64(name, dtype):
    x = tp.ones(300, dtype=dtype)
    assert getattr(tp, name)(x).dtype is tp.int64
    assert tp.sum(x).item() == 300


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_integers_scan_to_int64(name):
    assert getattr(tp, name)(tp.ones(300, dtype=tp.uint8), 0).dtype is tp.int64


@pytest.mark.parametrize("name", ["mean", "var", "std", "norm", "nanmean"])
def test_integers_have_no_mean(name):
    with pytest.raises(RuntimeError, match=rf"^{name}\(\): .*int64"):
        getattr(tp, name)(tp.arange(3))


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "norm", "amax", "median"])
def test_half_precision_stays_and_is_computed_in_single(name, dtype):
    x = tp.tensor([0.5] * 40 + [1.5] * 40, dtype=tp.float32)
    found = getattr(x.to(dtype), name)()
    assert found.dtype is dtype
    expected = getattr(x, name)().to(dtype)
    assert found.item() == expected.item()


def test_dtype_argument_converts_first():
    x = tp.tensor([1e30, 1e30], dtype=tp.float32)
    assert tp.prod(x, dtype=tp.float64).item() == pytest.approx(1e60, rel=1e-6)
    assert tp.sum(tp.tensor([True, True]), dtype=tp.float32).dtype is tp.float32
    assert tp.cumsum(tp.tensor([1, 2]), 0, dtype=tp.float64).dtype is tp.float64


@pytest.mark.parametrize("dtype", [tp.int32, tp.bool, tp.float16])
@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod"])
def test_dtype_argument_is_the_dtype_of_the_result(name, dtype):
    dims = (0,) if name.startswith("cum") else ()
    assert getattr(tp, name)(tp.ones(3), *dims, dtype=dtype).dtype is dtype


def test_running_sums_of_float32_do_not_drift():
    x = tp.full((100_000,), 0.1, dtype=tp.float32)
    assert tp.cumsum(x, 0)[-1].item() == pytest.approx(10_000, rel=1e-6)


# --- arguments ------------------------------------------------------------------------------------


def test_numpy_names_of_arguments():
    x = tp.ones(2, 3)
    assert tuple(tp.sum(x, axis=1, keepdims=True).shape) == (2, 1)
    assert tuple(x.mean(axis=(0, 1), keepdims=True).shape) == (1, 1)
    assert tuple(tp.max(x, axis=0).values.shape) == (3,)
    with pytest.raises(TypeError, match="both 'dim' and 'axis'"):
        tp.sum(x, dim=0, axis=0)


def test_dims_may_be_any_sequence_of_ints():
    x = tp.ones(2, 3, 4)
    for dims in ((0, -1), [0, 2], tp.Size([0, 2])):
        assert tuple(x.sum(dims).shape) == (3,)
    assert x.sum([]).ndim == 0
    assert tuple(x.all(()).shape) == (2, 3, 4)


def test_both_signatures_of_the_standard_deviation():
    x = tp.tensor([[1.0, 2.0, 4.0]])
    population = x.std(1, correction=0)
    assert tp.std(x, 1, False).item() == population.item()
    assert tp.std(x, False).item() == population.item()
    assert tuple(tp.std(x, 1, True, True).shape) == (1, 1)
    with pytest.raises(TypeError, match="unbiased"):
        tp.std(x, unbiased=True, correction=1)


def test_three_forms_of_max():
    x, y = tp.tensor([[1.0, 5.0], [7.0, 2.0]]), tp.tensor([[3.0, 3.0], [3.0, 3.0]])
    assert x.max().item() == 7
    assert x.max(1).indices.tolist() == [1, 0]
    assert x.max(y).tolist() == tp.maximum(x, y).tolist()
    assert tp.min(x, other=y).tolist() == [[1.0, 3.0], [3.0, 2.0]]


def test_results_have_names_and_can_be_pickled():
    found = tp.tensor([[1.0, 5.0]]).max(1)
    assert found._fields == ("values", "indices")
    assert repr(found) == (
        "tensorplay.return_types.max(\nvalues=tensor([5.]),\nindices=tensor([1]))"
    )
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy) is type(found)
    assert copy.values.item() == 5
    assert tp.aminmax(tp.tensor([1.0, 5.0]))._fields == ("min", "max")


def test_out_may_be_a_tuple():
    values, indices = tp.empty(2), tp.empty(2, dtype=tp.int64)
    found = tp.max(tp.tensor([[1.0, 5.0], [7.0, 2.0]]), 1, out=(values, indices))
    assert values.tolist() == [5, 7]
    assert indices.tolist() == [1, 0]
    assert found.values is values


# --- zeros and subgradients -----------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_products_of_powers_differentiate_like_polynomials(order):
    """prod(x, x, x) is x ** 3, whose derivatives at 0 are 0, 0, 6, 0."""
    for f in (
        lambda x: tp.stack([x, x, x]).prod(),
        lambda x: tp.stack([x, x, x]).cumprod(0)[-1],
        lambda x: tp.stack([x, x, x, tp.ones_like(x)]).reshape(2, 2).prod(0).prod(),
    ):
        found = nested_gradient(f, leaf(0.0), order)
        assert found.item() == {3: 6.0}.get(order, 0.0)


@pytest.mark.parametrize("p", [1, 1.5, 2, 2.5, 3, 4, 0.5, -1, INF, -INF, 0])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_norms_at_zero_have_finite_derivatives(p, order):
    found = nested_gradient(lambda x: tp.stack([x, 2 * x, -x]).norm(p), leaf(0.0), order)
    assert found.item() == 0


@pytest.mark.parametrize("p", [4, 6])
def test_even_norms_are_smooth_where_one_element_is_zero(p):
    """(1 + x ** p) ** (1 / p) has the p-th derivative (p - 1)! at 0."""
    found = nested_gradient(lambda x: tp.stack([x, tp.ones_like(x)]).norm(p), leaf(0.0), p)
    assert found.item() == pytest.approx(math.factorial(p) / p)


def test_standard_deviation_without_spread():
    x = leaf([3.0, 3.0, 3.0])
    first = gradient(tp.std, x)
    assert first.tolist() == [0, 0, 0]
    assert gradient(lambda x: (gradient(tp.std, x) ** 2).sum(), x).tolist() == [0, 0, 0]


def test_distances_of_equal_points():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for p in (1.0, 1.5, 2.0, 3.0, INF):
        found = gradient(lambda x, p=p: tp.cdist(x, x.detach(), p).sum(), x)
        assert np.isfinite(found.tolist()).all()
    far = tp.randn(80, 3, dtype=tp.float32) + 1000
    assert tp.cdist(far, far).diagonal().abs().max().item() == 0


def test_large_distance_matrices_are_accurate():
    x, y = tp.randn(70, 4, dtype=tp.float64) + 1e4, tp.randn(60, 4, dtype=tp.float64) + 1e4
    a, b = x.numpy(), y.numpy()
    expected = np.sqrt(np.square(a[:, None] - b[None]).sum(-1))
    np.testing.assert_allclose(tp.cdist(x, y).numpy(), expected, rtol=1e-6)
    single = tp.cdist(x.float(), y.float()).numpy()
    a, b = a.astype("f"), b.astype("f")
    np.testing.assert_allclose(single, np.sqrt(np.square(a[:, None] - b[None]).sum(-1)), rtol=1e-3)


def test_ties_share_or_one_is_picked():
    x = leaf([2.0, 5.0, 5.0, 5.0])
    third = [0, *[pytest.approx(1 / 3)] * 3]
    assert gradient(tp.amax, x).tolist() == third
    assert gradient(tp.max, x).tolist() == third
    assert gradient(tp.median, x).tolist() == third
    assert gradient(lambda x: x.norm(INF), x).tolist() == third
    assert gradient(lambda x: x.max(0).values, x).tolist() == [0, 1, 0, 0]
    assert sum(gradient(lambda x: x.median(0).values, x).tolist()) == 1
    assert gradient(lambda x: x.cummax(0).values.sum(), x).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_log_sums_of_nothing(order):
    for f in (
        lambda x: tp.stack([x, x]).logsumexp(0),
        lambda x: tp.stack([x, x]).logcumsumexp(0).sum(),
    ):
        assert nested_gradient(f, leaf(-INF), order).item() == 0
    y = leaf([-INF, 0.0])
    assert gradient(lambda y: y.logsumexp(0), y).tolist() == [0, 1]


def test_log_sums_with_an_infinite_element():
    x = leaf([INF, 1.0])
    assert x.logsumexp(0).item() == INF
    assert gradient(lambda x: x.logsumexp(0), x).tolist() == [1, 0]


def test_long_recurrences_do_not_overflow_between_steps():
    """Products of neighbouring coefficients overflow, the steps one by one do not."""
    a = tp.tensor([1.0, 0.0, 1e200, 1e200] * 50, dtype=tp.float64)
    b = tp.tensor([0.0, 1e-300, 0.0, 0.0] * 50, dtype=tp.float64)
    found = core.registry["recurrence"](a, b, 0, False)
    np.testing.assert_allclose(found.numpy()[3::4], 1e100, rtol=1e-12)


# --- empty ----------------------------------------------------------------------------------------


def test_reductions_of_nothing():
    x = tp.zeros(0, 3)
    assert x.sum(0).tolist() == [0, 0, 0]
    assert x.prod(0).tolist() == [1, 1, 1]
    assert x.logsumexp(0).tolist() == [-INF] * 3
    assert x.all().item() and not x.any().item()
    assert math.isnan(x.mean().item())
    assert math.isnan(x.median().item())
    assert x.norm().item() == 0
    assert tuple(x.amax(1).shape) == (0,)
    assert x.cumsum(0).shape == x.shape


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min", "argmax", "argmin", "median"])
def test_extrema_of_nothing(name):
    function = getattr(tp, name)
    with pytest.raises(IndexError, match=rf"^{name}\(\): dim 0 .*\[0, 3\]"):
        function(tp.zeros(0, 3), 0)
    if name != "median":
        error = IndexError if name.startswith("arg") else RuntimeError
        with pytest.raises(error, match=rf"^{name}\(\): .*\[0, 3\].*'dim'"):
            function(tp.zeros(0, 3))


@pytest.mark.parametrize("p", [INF, -INF, -1])
def test_norms_of_nothing(p):
    with pytest.raises(RuntimeError, match=r"^norm\(\): .*no elements"):
        tp.norm(tp.zeros(0), p)


def test_too_few_degrees_of_freedom_warn():
    for name in ("var", "std", "var_mean", "std_mean"):
        with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom"):
            getattr(tp, name)(tp.ones(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(tp.ones(1).var().item())
        assert tp.tensor([1.0, 3.0]).var(correction=3).item() == INF


def test_nothing_warns_in_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tp.tensor([INF, -INF, math.nan, 0.0], requires_grad=True)
        for f in (tp.sum, tp.mean, tp.prod, tp.var, tp.std, tp.norm, tp.amax, tp.median):
            f(x).backward()
        for g in (tp.cumsum, tp.cumprod, tp.logcumsumexp, tp.logsumexp):
            g(x, 0).sum().backward()


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call", "error", "mentions"),
    [
        ("sum", lambda x: tp.sum([1.0]), TypeError, "list"),
        ("sum", lambda x: x.sum(2), IndexError, "dim 2"),
        ("sum", lambda x: x.sum((0, 0)), RuntimeError, "more than once"),
        ("max", lambda x: x.max(-3), IndexError, "dim -3"),
        ("amax", lambda x: x.to(tp.complex64).amax(), RuntimeError, "complex"),
        ("cumsum", lambda x: x.cumsum(5), IndexError, "dim 5"),
        ("norm", lambda x: x.norm("two"), RuntimeError, "'two'"),
        ("quantile", lambda x: x.quantile(1.5), RuntimeError, "1.5"),
        ("quantile", lambda x: x.double().quantile(tp.tensor([0.5])), RuntimeError, "float64"),
        ("quantile", lambda x: x.quantile(0.5, interpolation="cubic"), RuntimeError, "cubic"),
        ("cov", lambda x: tp.cov(x, fweights=tp.ones(2, dtype=tp.int64)), RuntimeError, "fweights"),
        ("cdist", lambda x: tp.cdist(x, tp.ones(2, 4)), RuntimeError, "columns"),
        ("pdist", lambda x: tp.nn.functional.pdist(x[0]), RuntimeError, "2 dims"),
        ("renorm", lambda x: x.renorm(2, 0, -1), RuntimeError, "maxnorm"),
        ("diff", lambda x: x.diff(-1), RuntimeError, "-1"),
        ("gradient", lambda x: tp.gradient(x, edge_order=3), RuntimeError, "edge_order"),
        ("gradient", lambda x: tp.gradient(x[:1], dim=0), RuntimeError, "at least"),
        ("trapezoid", lambda x: tp.trapezoid(x, tp.ones(2)), RuntimeError, "2 points"),
        ("trapezoid", lambda x: tp.trapezoid(x, x, dx=1), TypeError, "either x or dx"),
    ],
)
def test_messages(name, call, error, mentions):
    with pytest.raises(error, match=rf"^{name}\(\): ") as caught:
        call(tp.ones(2, 3))
    assert mentions in str(caught.value)
