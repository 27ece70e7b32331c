"""Taylor coefficients against repeated differentiation, and their cost."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, jet

ORDER = 6


def coefficients(f, point):
    """The Taylor coefficients of a scalar function at a point, by repeated reverse mode."""
    found = [float(f(point))]
    g = f
    for k in range(1, ORDER + 1):
        g = grad(g)
        found.append(float(g(point)) / math.factorial(k))
    return found


def by_jet(f, point, order=ORDER):
    one, zero = tp.ones((), dtype=point.dtype), tp.zeros((), dtype=point.dtype)
    value, series = jet(f, (point,), ((one,) + (zero,) * (order - 1),))
    return [float(value)] + [float(c) for c in series]


FUNCTIONS = {
    "exp": tp.exp,
    "log": tp.log,
    "sin": tp.sin,
    "cos": tp.cos,
    "tan": tp.tan,
    "tanh": tp.tanh,
    "sigmoid": tp.sigmoid,
    "sqrt": tp.sqrt,
    "rsqrt": tp.rsqrt,
    "reciprocal": tp.reciprocal,
    "asin": tp.asin,
    "atan": tp.atan,
    "asinh": tp.asinh,
    "erf": tp.erf,
    "expm1": tp.expm1,
    "log1p": tp.log1p,
    "softplus": lambda x: tp.log1p(tp.exp(x)),
    "power": lambda x: x**2.5,
    "general power": lambda x: x**x,
    "rational": lambda x: (x * x + 1) / (x + 2),
    "composition": lambda x: tp.exp(tp.sin(x) * x) / tp.cosh(x),
    "absolute value": lambda x: (x - 1).abs() ** 3,
    "where": lambda x: tp.where(x > 0, x**3, -x),
    "maximum": lambda x: tp.maximum(x * x, x),
    "atan2": lambda x: tp.atan2(x, x * x + 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_coefficients_are_those_of_repeated_differentiation(name):
    f, point = FUNCTIONS[name], tp.tensor(0.4, dtype=tp.float64)
    np.testing.assert_allclose(by_jet(f, point), coefficients(f, point), rtol=1e-8, atol=1e-8)


def test_a_polynomial_has_its_own_coefficients_and_then_zeros():
    found = by_jet(lambda x: 3 + 2 * x + x**3, tp.tensor(0.0, dtype=tp.float64))
    np.testing.assert_allclose(found, [3, 2, 0, 1, 0, 0, 0], atol=1e-14)


def matrix(*shape):
    return tp.from_numpy(np.random.default_rng(0).normal(size=shape))


VECTOR_FUNCTIONS = {
    "softmax": lambda x: tp.softmax(x, 0),
    "log_softmax": lambda x: tp.log_softmax(x, 0),
    "matmul": lambda x: tp.matmul(matrix(3, 4), x) * tp.matmul(x, matrix(4)),
    "quadratic": lambda x: tp.outer(x, x).sum(0),
    "sum": lambda x: (x**3).sum(),
    "mean and var": lambda x: x.mean() * x.var(),
    "logsumexp": lambda x: tp.logsumexp(x, 0),
    "amax": lambda x: x.amax() ** 2,
    "indexing": lambda x: x[1:] * x[:-1],
    "cat": lambda x: tp.cat([x, x * x]),
    "cumsum": lambda x: tp.cumsum(x * x, 0),
}


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_along_a_curve_of_vectors(name):
    f = VECTOR_FUNCTIONS[name]
    curve = [matrix(4) for _ in range(1)] + [matrix(5, 4)[k] for k in range(4)]

    def along(t):
        total = curve[0]
        for k, c in enumerate(curve[1:], 1):
            total = total + c * t**k
        return f(total)

    value, series = jet(f, (curve[0],), (tuple(curve[1:]),))
    np.testing.assert_allclose(value.numpy(), f(curve[0]).numpy())
    g = along
    zero = tp.zeros((), dtype=tp.float64)
    for k, c in enumerate(series, 1):
        g = tp.func.jacfwd(g)
        expected = g(zero).numpy() / math.factorial(k)
        np.testing.assert_allclose(c.numpy(), expected, rtol=1e-7, atol=1e-7)


def test_several_arguments():
    x, y = tp.tensor(1.0, dtype=tp.float64), tp.tensor(2.0, dtype=tp.float64)
    one, zero = tp.ones_like(x), tp.zeros_like(x)
    # (1 + t)(2 + t^2) = 2 + 2 t + t^2 + t^3
    value, series = jet(lambda a, b: a * b, (x, y), ((one, zero, zero), (zero, one, zero)))
    assert [float(value), *map(float, series)] == [2.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("moving", ["xwb", "xw", "xb", "wb", "x", "w", "b"])
def test_a_layer_with_a_bias(moving):
    # The bias is added: it takes no part in the product of the series.
    rng = np.random.default_rng(3)
    shapes = {"x": (2, 3), "w": (4, 3), "b": (4,)}
    point = {k: tp.tensor(rng.standard_normal(shape)) for k, shape in shapes.items()}
    slope = {k: tp.tensor(rng.standard_normal(shapes[k])) for k in moving}

    def layer(xs):
        return tp.nn.functional.linear(*xs)

    out, (first, second, third) = jet(
        lambda *xs: layer([dict(zip(moving, xs, strict=True)).get(k, point[k]) for k in "xwb"]),
        [point[k] for k in moving],
        [[slope[k], tp.zeros_like(slope[k]), tp.zeros_like(slope[k])] for k in moving],
    )

    def at(t):
        return layer([point[k] + t * slope[k] if k in moving else point[k] for k in "xwb"]).numpy()

    a, b, c = at(-1.0), at(0.0), at(1.0)  # a polynomial of degree two
    np.testing.assert_allclose(out.numpy(), b, atol=1e-12)
    np.testing.assert_allclose(first.numpy(), (c - a) / 2, atol=1e-12)
    np.testing.assert_allclose(second.numpy(), (c + a) / 2 - b, atol=1e-12)
    np.testing.assert_allclose(third.numpy(), 0 * b, atol=1e-12)


def test_the_cost_is_polynomial_in_the_order():
    point = tp.tensor(0.3, dtype=tp.float64)
    calls = []

    class Counter:
        def enter(self, name, inputs):
            calls.append(name)

        def leave(self, token, result):
            pass

    core = tp._core.core

    def count(order):
        calls.clear()
        core.mode_data.observers.append(Counter())
        core.set_mode(2, True)
        try:
            by_jet(lambda x: tp.tanh(tp.sin(x) / tp.exp(x)), point, order)
        finally:
            core.set_mode(2, False)
            core.mode_data.observers.pop()
        return len(calls)

    # Twice the order: at most 2^4 times the operations, where exponential growth has 2^8.
    assert count(16) <= 16 * count(8)


def test_it_is_differentiable():
    def third(x):
        one, zero = tp.ones_like(x), tp.zeros_like(x)
        return jet(tp.sin, (x,), ((one, zero, zero),))[1][2]

    x = tp.tensor(0.7, dtype=tp.float64)
    np.testing.assert_allclose(float(grad(third)(x)), math.sin(0.7) / 6, rtol=1e-10)


def test_an_operator_without_a_rule_says_so():
    x = tp.tensor([3.0, 1.0], dtype=tp.float64)
    one = (tp.ones_like(x),)
    with pytest.raises(RuntimeError, match="primals"):
        jet(tp.sin, (x, x), (one,))
    with pytest.raises(RuntimeError, match=r"shape \[1\].*shape \[2\]"):
        jet(tp.sin, (x,), ((tp.ones(1, dtype=tp.float64),),))
