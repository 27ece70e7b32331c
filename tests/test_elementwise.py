"""What elementwise operators refuse, and derivatives of high order at removable singularities."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay._core import core
from tensorplay.ops.special_ops import erfcx_integral


def array(x):
    return core.array_of(x.detach())


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "subtract",
    [
        lambda mask: mask - mask,
        lambda mask: 1 - mask,
        lambda mask: mask - 1,
        lambda mask: tp.tensor([1.0]) - mask,
        lambda mask: tp.sub(tp.tensor([1]), mask, alpha=2),
        lambda mask: -mask,
    ],
)
def test_bool_tensors_are_not_subtracted(subtract):
    with pytest.raises(RuntimeError, match="bool"):
        subtract(tp.tensor([True]))


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integers_are_not_divided_by_zero(name):
    with pytest.raises(RuntimeError, match=f"{name}.*ZeroDivisionError"):
        getattr(tp, name)(tp.tensor([1, 2]), tp.tensor([1, 0]))
    assert getattr(tp, name)(tp.zeros(0, dtype=tp.int64), 0).shape == (0,)


def test_integer_powers():
    with pytest.raises(RuntimeError, match="negative integer powers"):
        tp.tensor([2]) ** -1
    assert (tp.tensor([2]) ** -1.0).tolist() == [0.5]


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("floor", tp.tensor([1j])), ("abs", tp.tensor([True])), ("erf", tp.tensor([1j])),
        ("lt", tp.tensor([1j])), ("bitwise_and", tp.tensor([1.0])), ("frac", tp.tensor([1])),
        ("maximum", tp.tensor([1j])), ("clamp", tp.tensor([1j])), ("pow", tp.tensor([True])),
    ],
)  # fmt: skip
def test_dtypes_are_refused_by_name(name, x):
    args = () if name in ("floor", "abs", "erf", "frac") else (x,)
    with pytest.raises(RuntimeError, match=rf"^{name}\(\).*{x.dtype.name}"):
        getattr(tp, name)(x, *args)


def test_alpha():
    with pytest.raises(RuntimeError, match="alpha"):
        tp.add(tp.tensor([1]), tp.tensor([1]), alpha=0.5)
    assert tp.add(tp.tensor([True]), tp.tensor([True]), alpha=2).dtype is tp.bool
    wide = tp.add(tp.tensor([0.0], dtype=tp.float64), tp.tensor([1]), alpha=0.1)
    assert wide.item() == 0.1


# --- high orders ----------------------------------------------------------------------------------


def taylor(function, x, order):
    """Derivatives 0, ..., order of a function at x, by repeated reverse mode."""
    x = tp.tensor(x, dtype=tp.float64, requires_grad=True)
    found = [function(x)]
    for _ in range(order):
        (g,) = tp.autograd.grad(found[-1], x, create_graph=True)
        found.append(g)
    return [y.item() for y in found]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tp.sinc, [1, 0, -(math.pi**2) / 3, 0, math.pi**4 / 5]),
        (tp.special.spherical_bessel_j0, [1, 0, -1 / 3, 0, 1 / 5]),
        (tp.special.i1, [0, 1 / 2, 0, 3 / 8, 0, 5 / 16]),
        (tp.special.bessel_j0, [1, 0, -1 / 2, 0, 3 / 8]),
        (lambda x: tp.special.legendre_polynomial_p(x, 3), [0, -1.5, 0, 15, 0]),
        (lambda x: tp.special.erfcx(x), [1, -2 / math.sqrt(math.pi), 2, -8 / math.sqrt(math.pi)]),
    ],
)
def test_taylor_series_at_zero(function, expected):
    np.testing.assert_allclose(taylor(function, 0.0, len(expected) - 1), expected, atol=1e-12)


def test_chebyshev_derivatives_at_the_end_of_the_interval():
    # T_n^(k)(1) = product of (n^2 - j^2) / (2 j + 1) for j < k (DLMF 18.9, repeatedly).
    found = taylor(lambda x: tp.special.chebyshev_polynomial_t(x, 5), 1.0, 3)
    np.testing.assert_allclose(found, [1, 25, 25 * 24 / 3, 25 * 24 / 3 * 21 / 5])


def test_far_normal_tail():
    # Derivatives of log(ndtr) far below 0, from its asymptotic series.
    value, first, second = taylor(tp.special.log_ndtr, -40.0, 2)
    assert value == pytest.approx(-0.5 * 1600 - math.log(40 * math.sqrt(2 * math.pi)), abs=1e-3)
    assert first == pytest.approx(40 + 1 / 40 - 2 / 40**3, rel=1e-8)
    assert second == pytest.approx(-1 + 1 / 40**2 - 6 / 40**4, rel=1e-6)


def test_repeated_integrals_far_out():
    x = tp.tensor([1e3, 1e8], dtype=tp.float64)
    expected = 1 / (2 * np.sqrt(np.pi) * array(x) ** 2)  # of the first integral, for large x
    np.testing.assert_allclose(array(erfcx_integral(x, 1)), expected, rtol=1e-5)


# --- views ----------------------------------------------------------------------------------------


def test_parts_are_settable_views():
    z = tp.tensor([1 + 2j, 3 - 1j])
    z.real = tp.tensor([5.0, 6.0])
    z.imag = 0.5
    assert z.tolist() == [5 + 0.5j, 6 + 0.5j]
    tp.view_as_real(z)[0, 1] = -1
    assert z.tolist() == [5 - 1j, 6 + 0.5j]


def test_gradients_through_changed_parts():
    a = tp.tensor([1.0, 2.0], requires_grad=True)
    w = tp.complex(a, a * 2) * 1
    w.real = a**2
    w.imag.mul_(3)
    (w.abs() ** 2).sum().backward()  # a^4 + 36 a^2
    np.testing.assert_allclose(array(a.grad), [4 + 72, 32 + 144], rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 5), (60, 70)])
def test_choices_without_branches(shape):
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64, np.complex64, np.complex128, np.int16, np.uint8):
        x, y = rng.integers(0, 9, (2, *shape)).astype(dtype)
        c = rng.random(shape) < 0.5
        found = tp.where(tp.from_numpy(c), tp.from_numpy(x), tp.from_numpy(y))
        np.testing.assert_array_equal(array(found), np.where(c, x, y))
        row = tp.where(tp.from_numpy(c), tp.from_numpy(x[:1]), tp.from_numpy(y[0, 0:1]))
        np.testing.assert_array_equal(array(row), np.where(c, x[:1], y[0, 0:1]))
