"""Custom Functions in the transforms that look at every operation: jet, sparsity patterns."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function
from tensorplay.func import grad, hessian, jacrev, jet, jvp, sparse_hessian, sparse_jacobian, vmap
from tensorplay.func.sparse import jacobian_pattern

from .support import array, close, raises


class Exp(Function):
    """With setup_context; the output is saved."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class NumpyExp(Exp):
    """Its forward leaves the library's sight."""

    @staticmethod
    def forward(x):
        return tp.asarray(np.exp(x.numpy()))


class Product(Function):
    """In the older style; the inputs are saved, and a number is an argument."""

    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.factor, None, g * x * ctx.factor


class OnlyForward(Function):
    """With a jvp rule alone."""

    @staticmethod
    def forward(x):
        return x.detach().sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return x.cos() * t


class SinCos(Function):
    """Several results, one of them no tensor, and one without a gradient."""

    @staticmethod
    def forward(ctx, x):
        s, c = x.sin(), x.cos()
        ctx.save_for_backward(s, c)
        index = s > 0
        ctx.mark_non_differentiable(index)
        return s, c, index, "label"

    @staticmethod
    def backward(ctx, g, h, *_):
        s, c = ctx.saved_tensors
        return g * c - h * s


class Straight(Function):
    """Rounding with the derivative of the identity: what counts is the backward."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


CASES = {
    "numpy": (NumpyExp.apply, tp.exp),
    "exp": (Exp.apply, tp.exp),
    "exp of exp": (lambda x: Exp.apply(Exp.apply(x)).sin(), lambda x: x.exp().exp().sin()),
    "product": (lambda x: Product.apply(x.sin(), 2.0, x), lambda x: x.sin() * x * 2),
    "jvp": (lambda x: OnlyForward.apply(x * x), lambda x: (x * x).sin()),
    "several": (lambda x: SinCos.apply(x)[0] * SinCos.apply(x)[1].exp(),
                lambda x: x.sin() * x.cos().exp()),
    "straight": (lambda x: Straight.apply(x * 2) ** 3, None),
}  # fmt: skip


class TestJet:
    @pytest.mark.parametrize("name", CASES)
    def test_coefficients(self, name):
        custom, plain = CASES[name]
        point = tp.tensor(0.6, dtype=tp.float64)
        one, zero = tp.ones((), dtype=tp.float64), tp.zeros((), dtype=tp.float64)
        value, series = jet(custom, (point,), ((one, zero, zero, zero),))
        close(value, custom(point))
        if plain is None:  # (2 + 2 t)^3 around the rounded 2 * 0.6
            found = [1.0**3, 6.0, 12.0, 8.0, 0.0]
            close(tp.stack([value, *series]), np.array(found))
            return
        expected = plain
        for k in range(1, 5):
            expected = grad(expected)
            close(series[k - 1], array(expected(point)) / math.factorial(k))

    @pytest.mark.parametrize("name", sorted(set(CASES) - {"numpy", "straight"}))
    def test_inside_vmap_and_around_grad(self, name):
        custom, plain = CASES[name]
        points = tp.tensor([0.3, 0.6], dtype=tp.float64)

        def second(f, x):
            one, zero = tp.ones_like(x), tp.zeros_like(x)
            return jet(f, (x,), ((one, zero),))[1][1]

        close(vmap(lambda x: second(custom, x))(points), vmap(lambda x: second(plain, x))(points))
        close(
            vmap(lambda x: second(grad(custom), x))(points),
            vmap(lambda x: second(grad(plain), x))(points),
        )
        close(
            vmap(grad(lambda x: second(custom, x)))(points),
            vmap(grad(lambda x: second(plain, x)))(points),
        )
        close(
            jvp(lambda x: vmap(lambda x: second(custom, x))(x), (points,), (points,))[1],
            jvp(lambda x: vmap(lambda x: second(plain, x))(x), (points,), (points,))[1],
        )


class TestPatterns:
    def test_jacobian(self):
        def build(exp):
            def f(x):
                return tp.cat([exp(x[:2]), x[2:] * x[1]])

            return f

        x = tp.tensor([0.1, 0.2, 0.3, 0.4], dtype=tp.float64)
        close(sparse_jacobian(build(Exp.apply))(x).toarray(), jacrev(build(tp.exp))(x))
        pattern = jacobian_pattern(build(Exp.apply), x).toarray()
        assert (pattern | (array(jacrev(build(tp.exp))(x)) != 0) == pattern).all()
        assert not pattern[:2, 2:].any()  # what does not go through the function is still known

    def test_the_backward_counts_and_not_the_forward(self):
        x = tp.tensor([0.6, 1.7], dtype=tp.float64)
        close(sparse_jacobian(Straight.apply)(x).toarray(), np.eye(2))

    def test_hessian(self):
        def build(product):
            return lambda x: product(x[:2], x[1:]).sum() + (x[0] * 3).sin()

        x = tp.tensor([0.1, 0.2, 0.3], dtype=tp.float64)
        close(
            sparse_hessian(build(lambda a, b: Product.apply(a, 1.0, b)))(x).toarray(),
            hessian(build(lambda a, b: a * b))(x),
        )

    def test_constants_stay_constant(self):
        c = tp.tensor([1.0, 2.0], dtype=tp.float64)
        pattern = jacobian_pattern(lambda x: x * Exp.apply(c), c).toarray()
        assert (pattern == np.eye(2)).all()


class TestRefused:
    def test_changes_in_place(self):
        class Doubled(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, g):
                return 2 * g

        one = tp.ones((), dtype=tp.float64)
        with raises(RuntimeError, "Doubled", "in place", "clone"):
            jet(lambda x: Doubled.apply(x * 1), (one,), ((one,),))

    def test_numpy_in_an_ordinary_function(self):
        # A Function says how to differentiate it; without one, the derivative would be lost.
        one = tp.ones(2, dtype=tp.float64)
        for read in (lambda x: x.numpy(), lambda x: np.asarray(x)):
            with raises(RuntimeError, "NumPy", "Function"):
                jet(lambda x, read=read: tp.from_numpy(read(x)) * x, (one,), ((one,),))
            with raises(RuntimeError, "NumPy", "Function"):
                jacobian_pattern(lambda x, read=read: tp.from_numpy(read(x)) * x, one)


class TestChangesInPlace:
    """... by ordinary operations, which the series have to follow."""

    @pytest.mark.parametrize(
        ("change", "plain"),
        [
            (lambda y, x: y.add_(x * x), lambda x: x + x * x),
            (lambda y, x: y[0].mul_(x[1]), lambda x: tp.stack([x[0] * x[1], x[1]])),
            (lambda y, x: y.__setitem__(0, x[1] * x[1]), lambda x: tp.stack([x[1] ** 2, x[1]])),
            (lambda y, x: y.__setitem__(x > 2.5, x[0]), lambda x: tp.stack([x[0], x[0]])),
            (lambda y, x: y[0].fill_(3.0), lambda x: tp.stack([3 + 0 * x[0], x[1]])),
            (lambda y, x: y.zero_().add_(x[0]), lambda x: tp.stack([x[0], x[0]])),
            (lambda y, x: y[:1].add_(y[1:]), lambda x: tp.stack([x[0] + x[1], x[1]])),
        ],
    )
    def test_series_and_patterns(self, change, plain):
        def f(x):
            y = x * 1
            view = y[0]
            change(y, x)
            return tp.cat([y.exp(), view[None] * 2])

        def g(x):
            y = plain(x)
            return tp.cat([y.exp(), y[:1] * 2])

        x = tp.tensor([2.0, 3.0], dtype=tp.float64)
        series = ((tp.tensor([1.0, 0.5], dtype=tp.float64), tp.zeros(2, dtype=tp.float64)),)
        value, found = jet(f, (x,), series)
        expected_value, expected = jet(g, (x,), series)
        close(value, expected_value)
        for a, b in zip(found, expected, strict=True):
            close(a, b)
        close(sparse_jacobian(f)(x).toarray(), jacrev(g)(x))

    def test_the_pattern_is_that_of_the_elements(self):
        def f(x):
            y = x * 2
            y[1] = x[3].sin()
            y[2:4].mul_(x[0])
            return y

        pattern = jacobian_pattern(f, tp.ones(4, dtype=tp.float64)).toarray()
        expected = [[1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0], [1, 0, 0, 1]]
        assert (pattern == np.array(expected, dtype=bool)).all()


class TestAliases:
    def test_what_shares_memory_shares_the_series(self):
        point, one = tp.tensor(2.0, dtype=tp.float64), tp.ones((), dtype=tp.float64)
        value, series = jet(lambda x: (x * x).view_as(x).clone() * x.squeeze(), (point,), ((one,),))
        close(value, 8.0)
        close(series[0], 12.0)

    def test_reverse_mode_by_hand_inside(self):
        def f(x):
            y = x.exp() * x
            y = y.requires_grad_() if not y.requires_grad else y
            z = y.exp()
            return tp.autograd.grad(z, y)[0]

        point, one = tp.tensor(0.2, dtype=tp.float64), tp.ones((), dtype=tp.float64)
        value, series = jet(f, (point,), ((one,),))
        y = 0.2 * math.exp(0.2)
        close(value, math.exp(y))
        close(series[0], math.exp(y) * (1.2 * math.exp(0.2)))
