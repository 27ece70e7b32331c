"""Custom functions under vmap, function transforms and forward mode: one rule, at every level."""

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.autograd.forward_ad as fwAD
from tensorplay.autograd import Function
from tensorplay.autograd.function import once_differentiable
from tensorplay.func import grad, jacfwd, jacrev, jvp, vjp, vmap

from .support import ON_TORCH, beyond_torch, close, const, leaf, raises

RNG = np.random.default_rng(0)


class Product(Function):
    """x * tanh(y): the backward is the only rule (PyTorch needs the switch)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x * y.tanh()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        t = y.tanh()
        return g * t, g * x * (1 - t * t)


class OldProduct(Function):
    """The same with `ctx` in forward, and an intermediate result as an attribute."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.half = y * 0.5
        return x * y.tanh()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        t = y.tanh()
        return g * t + 0 * ctx.half, g * x * (1 - t * t)


class JvpProduct(Product):
    """With a forward rule as well."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        t = y.tanh()
        return tx * t + x * (1 - t * t) * ty


class OnlyJvp(Function):
    """With a forward rule only."""

    @staticmethod
    def forward(x, y):
        return x * y.tanh()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tx, ty):
        x, y = ctx.saved_tensors
        t = y.tanh()
        return tx * t + x * (1 - t * t) * ty


def plain(x, y):
    return x * y.tanh()


beyond = pytest.mark.beyond_torch
EVERY = pytest.mark.parametrize(
    "function",
    [
        pytest.param(Product, marks=beyond),
        pytest.param(OldProduct, marks=beyond),
        JvpProduct,
        pytest.param(OnlyJvp, marks=beyond),
    ],
)

X, Y = const(RNG.normal(size=(3, 4))), const(RNG.normal(size=(3, 4)))
ROW = const(RNG.normal(size=4))


def energy(f):
    """A scalar function of a vector, in which f is used twice."""
    return lambda x: f(x, f(ROW, x)).sum()


TRANSFORMS = {
    "vmap": lambda f: vmap(f)(X, Y),
    "vmap over one": lambda f: vmap(f, in_dims=(0, None))(X, ROW),
    "vmap over another dim": lambda f: vmap(f, in_dims=(1, 1), out_dims=1)(X, Y),
    "vmap of vmap": lambda f: vmap(vmap(f), in_dims=(1, 1))(X, Y),
    "vmap of vmap over one": lambda f: vmap(vmap(f, in_dims=(None, 0)), in_dims=(0, None))(X, ROW),
    "grad": lambda f: grad(energy(f))(X[0]),
    "grad of grad": lambda f: grad(lambda x: grad(energy(f))(x).sin().sum())(X[0]),
    "vmap of grad": lambda f: vmap(grad(energy(f)))(X),
    "vmap of grad of grad": lambda f: vmap(grad(lambda x: grad(energy(f))(x).sum()))(X),
    "grad of vmap": lambda f: grad(lambda x: vmap(energy(f))(x).sin().sum())(X),
    "grad of grad through vmap": lambda f: grad(
        lambda x: grad(lambda z: vmap(energy(f))(z).sin().sum())(x).cos().sum()
    )(X),
    "grad of vmap of grad": lambda f: grad(lambda x: vmap(grad(energy(f)))(x).sin().sum())(X),
    "shared argument": lambda f: grad(
        lambda y: vmap(f, in_dims=(0, None))(X, y).sin().sum()
    )(ROW),
    "vjp": lambda f: vjp(f, X, Y)[1](Y)[1],
    "jvp": lambda f: jvp(f, (X, Y), (Y, X))[1],
    "jvp by one": lambda f: jvp(lambda x: f(x, Y), (X,), (Y,))[1],
    "jvp of jvp": lambda f: jvp(lambda x: jvp(lambda z: f(z, z), (x,), (Y,))[1], (X,), (X,))[1],
    "jvp of grad": lambda f: jvp(grad(energy(f)), (X[0],), (Y[0],))[1],
    "grad of jvp": lambda f: grad(
        lambda x: jvp(energy(f), (x,), (Y[0],))[1]
    )(X[0]),
    "vmap of jvp": lambda f: vmap(lambda x, t: jvp(energy(f), (x,), (t,))[1])(X, Y),
    "jvp of vmap": lambda f: jvp(vmap(energy(f)), (X,), (Y,))[1],
    "jvp of vmap of grad": lambda f: jvp(vmap(grad(energy(f))), (X,), (Y,))[1],
    "jacrev": lambda f: jacrev(lambda x: f(x, x))(X[0]),
    "jacfwd": lambda f: jacfwd(lambda x: f(x, x))(X[0]),
    "jacfwd of jacrev": lambda f: jacfwd(jacrev(energy(f)))(X[0]),
    "jacrev of jacfwd": lambda f: jacrev(jacfwd(energy(f)))(X[0]),
    "jacrev of jacrev": lambda f: jacrev(jacrev(energy(f)))(X[0]),
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(energy(f)))(X[0]),
}  # fmt: skip


class TestTransforms:
    @EVERY
    @pytest.mark.parametrize("name", TRANSFORMS)
    def test_as_with_ordinary_operations(self, function, name):
        if ON_TORCH and name in ("jvp of jvp", "jacfwd of jacfwd"):
            pytest.skip("PyTorch loses the second derivative of a Function in nested forward mode")
        transform = TRANSFORMS[name]
        close(transform(function.apply), transform(plain), rtol=1e-9)

    @EVERY
    def test_backward_after_the_vmap_has_ended(self, function):
        x, y = leaf(X.numpy()), leaf(ROW.numpy())
        expected = tp.autograd.grad(vmap(plain, (0, None))(x, y).sin().sum(), (x, y))
        out = vmap(function.apply, (0, None))(x, y)
        gx, gy = tp.autograd.grad(out.sin().sum(), (x, y), create_graph=True)
        close(gx, expected[0])
        close(gy, expected[1])
        (h,) = tp.autograd.grad(gx.sin().sum(), y)
        rx, _ = tp.autograd.grad(plain(x, y).sin().sum(), (x, y), create_graph=True)
        close(h, tp.autograd.grad(rx.sin().sum(), y)[0])

    @EVERY
    def test_batched_cotangents(self, function):
        x = leaf(X[0].numpy())
        eye = tp.eye(4, dtype=tp.float64)
        (jacobian,) = tp.autograd.grad(
            function.apply(x, x), x, eye, is_grads_batched=True, retain_graph=True
        )
        close(jacobian, jacrev(lambda z: plain(z, z))(x.detach()))


class TestForwardMode:
    @EVERY
    def test_dual_tensors(self, function):
        with fwAD.dual_level():
            x, y = fwAD.make_dual(X, Y), fwAD.make_dual(Y, X)
            out = fwAD.unpack_dual(function.apply(x, y))
        close(out.primal, plain(X, Y))
        t = Y.tanh()
        close(out.tangent, Y * t + X * (1 - t * t) * X)

    @EVERY
    def test_reverse_over_forward(self, function):
        x = leaf(X.numpy())
        with fwAD.dual_level():
            out = fwAD.unpack_dual(function.apply(fwAD.make_dual(x, Y), x)).tangent
            (h,) = tp.autograd.grad(out.sum(), x)
        close(h, Y * (1 - X.tanh() ** 2))

    @EVERY
    def test_forward_over_reverse(self, function):
        with fwAD.dual_level():
            x = fwAD.make_dual(leaf(X.numpy()), Y)
            (g,) = tp.autograd.grad(function.apply(x, x).sum(), x, create_graph=True)
            found = fwAD.unpack_dual(g).tangent
        expected = jvp(grad(lambda x: plain(x, x).sum()), (X,), (Y,))[1]
        close(found, expected)

    def test_the_forward_sees_no_tangents_and_missing_ones_are_zeros(self):
        seen = []

        class Look(Function):
            @staticmethod
            def forward(x, y, k):
                seen.append(fwAD.unpack_dual(x).tangent)
                return x + y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_forward(*inputs[:2])

            @staticmethod
            def jvp(ctx, tx, ty, tk):
                seen.append((len(ctx.saved_tensors), array_of(ty), tk))
                return tx + ty

        array_of = lambda t: None if t is None else t.tolist()  # noqa: E731
        with fwAD.dual_level():
            out = Look.apply(fwAD.make_dual(ROW, ROW), ROW, 3)
            close(fwAD.unpack_dual(out).tangent, ROW)
        assert seen == [None, (2, [0.0] * 4, None)]

    def test_missing_tangents_may_be_none(self):
        class Look(Function):
            @staticmethod
            def forward(x, y):
                return x + y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.set_materialize_grads(False)

            @staticmethod
            def jvp(ctx, tx, ty):
                assert ty is None
                return tx

        with fwAD.dual_level():
            out = Look.apply(fwAD.make_dual(ROW, ROW), ROW)
            close(fwAD.unpack_dual(out).tangent, ROW)

    @beyond_torch
    @pytest.mark.parametrize(("result", "words"), [
        (lambda t: (t, t), "expected 1"), (lambda t: t.sum(), "shape"), (lambda t: 3, "int"),
    ])  # fmt: skip
    def test_wrong_tangents(self, result, words):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def jvp(ctx, t):
                return result(t)

        with fwAD.dual_level(), raises(RuntimeError, "Wrong", words):
            Wrong.apply(fwAD.make_dual(ROW, ROW))

    @beyond_torch
    def test_in_place_with_tangents(self):
        class Doubled(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.mul_(2)
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 2

        with fwAD.dual_level():
            x = fwAD.make_dual(X.clone(), Y)
            v = x[0]
            Doubled.apply(v)
            tangent = fwAD.unpack_dual(x).tangent
            close(tangent[0], 2 * Y[0])
            close(tangent[1:], Y[1:])
            close(fwAD.unpack_dual(v).tangent, 2 * Y[0])

    @beyond_torch
    def test_several_outputs_one_of_them_an_index(self):
        class Largest(Function):
            @staticmethod
            def forward(ctx, x):
                values, indices = x.max(0)
                ctx.save_for_backward(indices)
                ctx.size = x.shape[0]
                ctx.mark_non_differentiable(indices)
                return values, indices

            @staticmethod
            def backward(ctx, g, _):
                (indices,) = ctx.saved_tensors
                return tp.zeros(ctx.size, dtype=g.dtype).scatter(
                    0, indices.reshape(1), g.reshape(1)
                )

        value, tangent = jvp(lambda x: Largest.apply(x)[0], (ROW,), (X[0],))
        close(tangent, X[0][int(ROW.argmax())])

    @beyond_torch
    def test_a_backward_that_leaves_the_librarys_sight_is_refused(self):
        class Numpy(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return tp.from_numpy(g.detach().numpy() * np.cos(x.detach().numpy()))

        with fwAD.dual_level(), raises(RuntimeError, "Numpy", "jvp"):
            Numpy.apply(fwAD.make_dual(ROW, ROW))

    @beyond_torch
    def test_a_backward_of_zeros_is_fine(self):
        class Zero(Function):
            @staticmethod
            def forward(ctx, x):
                return x.round()

            @staticmethod
            def backward(ctx, g):
                return tp.zeros(4, dtype=g.dtype)

        _, tangent = jvp(Zero.apply, (ROW,), (ROW,))
        close(tangent, np.zeros(4))

    @beyond_torch
    def test_once_differentiable_needs_a_jvp_rule(self):
        class Once(Function):
            @staticmethod
            def forward(ctx, x):
                return x.sin()

            @staticmethod
            @once_differentiable
            def backward(ctx, g):
                return g

        with fwAD.dual_level(), raises(RuntimeError, "once_differentiable"):
            Once.apply(fwAD.make_dual(ROW, ROW))


class Sorted(Function):
    """Several outputs, a non-tensor argument, and a vmap staticmethod of its own."""

    calls: list = []

    @staticmethod
    def forward(x, dim):
        values, order = x.sort(dim)
        return values, order

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx, g, _):
        (order,) = ctx.saved_tensors
        return tp.zeros(order.shape, dtype=g.dtype).scatter(ctx.dim, order, g), None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        Sorted.calls.append((info.batch_size, info.randomness, in_dims))
        x = x.movedim(in_dims[0], 0)
        return Sorted.apply(x, dim % (x.ndim - 1) + 1), (0, 0)


class TestVmapStaticmethod:
    def test_it_is_called_and_differentiable(self):
        Sorted.calls.clear()
        close(vmap(lambda x: Sorted.apply(x, 0)[0])(X), X.sort(1)[0])
        assert Sorted.calls == [(3, "error", (0, None))]
        weights = const(np.arange(4.0))

        def loss(sort):
            return lambda x: (sort(x) * weights).sum()

        expected = vmap(grad(loss(lambda x: x.sort(0)[0])))(X)
        close(vmap(grad(loss(lambda x: Sorted.apply(x, 0)[0])))(X), expected)
        close(grad(lambda x: vmap(loss(lambda x: Sorted.apply(x, 0)[0]))(x).sum())(X), expected)
        close(vmap(vmap(lambda x: Sorted.apply(x, 0)[0]), 1)(X.reshape(3, 2, 2)).shape, (2, 3, 2))

    def test_both_ways_at_once_are_refused(self):
        class Both(Sorted):
            generate_vmap_rule = True

        with raises(RuntimeError, "generate_vmap_rule"):
            vmap(lambda x: Both.apply(x, 0)[0])(X)

    def test_it_must_return_two_things(self):
        class Wrong(Product):
            generate_vmap_rule = False

            @staticmethod
            def vmap(info, in_dims, x, y):
                return x * y

        with raises(RuntimeError, "Wrong", "out_dims"):
            vmap(Wrong.apply)(X, Y)


class TestDerivedVmap:
    @beyond_torch
    def test_random_numbers_are_drawn_once(self):
        class Dropout(Function):
            @staticmethod
            def forward(ctx, x):
                mask = (tp.rand_like(x) > 0.5).to(x.dtype)
                ctx.save_for_backward(mask)
                return x * mask

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0]

        def both(x):
            g, value = tp.func.grad_and_value(lambda z: Dropout.apply(z).sum())(x)
            return g, value

        g, value = vmap(both, randomness="different")(tp.ones(20, 30, dtype=tp.float64))
        close(g.sum(1), value)

    @beyond_torch
    def test_an_output_that_no_batched_input_reaches(self):
        class Two(Function):
            @staticmethod
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                return x * w, w * w

            @staticmethod
            def backward(ctx, g, h):
                x, w = ctx.saved_tensors
                return g * w, g * x + 2 * h * w

        def loss(f):
            def run(w):
                a, b = vmap(f, (0, None))(X, w)
                return (a.sin() + b).sum()

            return run

        expected = grad(loss(lambda x, w: (x * w, w * w)))(ROW)
        close(grad(loss(Two.apply))(ROW), expected)

    @beyond_torch
    def test_in_place_inside(self):
        class Doubled(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.mul_(2)
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 2

        def f(x):
            y = x.clone()
            Doubled.apply(y)
            return (y * y).sum()

        close(vmap(grad(f))(X), 8 * X)
        close(grad(lambda x: vmap(f)(x).sum())(X), 8 * X)

        def row(x):
            y = x.clone()
            Doubled.apply(y[0])
            return (y * y).sum()

        expected = 2 * X
        expected[0] *= 4
        close(grad(row)(X), expected)
        close(vmap(grad(row))(X.unsqueeze(0)), expected.unsqueeze(0))

    @beyond_torch
    def test_a_tensor_from_outside_cannot_be_changed(self):
        class AddInto(Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.mark_dirty(x)
                x.add_(y)
                return x

            @staticmethod
            def backward(ctx, g):
                return g, g

        total = tp.zeros(4, dtype=tp.float64)
        with raises(RuntimeError, "AddInto"):
            grad(lambda y: AddInto.apply(total, y).sum())(ROW)

    @beyond_torch
    def test_an_input_returned_inside_is_tracked_and_protected(self):
        class Ten(Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 10

        close(vmap(grad(lambda x: Ten.apply(x).sum()))(X), np.full((3, 4), 10.0))
        close(grad(grad(lambda x: Ten.apply(x) ** 2))(const(3.0)), 200.0)

        def change(x):
            y = Ten.apply(x * 1)
            y.mul_(2)
            return y.sum()

        with raises(RuntimeError, "Ten"):
            grad(change)(ROW)

    @beyond_torch
    def test_the_second_derivative_of_a_once_differentiable_is_refused_at_every_level(self):
        class Once(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            @once_differentiable
            def backward(ctx, g):
                return g * ctx.saved_tensors[0].cos()

        def f(x):
            return Once.apply(x).sum()

        close(vmap(grad(f))(X), X.cos())
        for transform in (
            lambda: grad(lambda x: grad(f)(x).sum())(ROW),
            lambda: vmap(grad(lambda x: grad(f)(x).sum()))(X),
            lambda: grad(lambda x: vmap(grad(f))(x).sum())(X),
            lambda: jvp(grad(f), (ROW,), (ROW,)),
        ):
            with raises(RuntimeError, "once_differentiable"):
                transform()
        with pytest.raises(RuntimeError):
            grad(lambda x: vmap(grad(f))(x).sum())(X)
        assert tp.is_grad_enabled()

    @beyond_torch
    def test_what_setup_context_computes_is_part_of_the_outer_derivative(self):
        class Square(Function):
            @staticmethod
            def forward(x):
                return x * x

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(2 * inputs[0])

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0]

        def slope(x):
            return grad(lambda z: Square.apply(z).sum())(x).sum()

        close(grad(slope)(ROW), np.full(4, 2.0))
        close(vmap(grad(slope))(X), np.full((3, 4), 2.0))

    @beyond_torch
    def test_numpy_inside_grad(self):
        class Numpy(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return tp.from_numpy(np.sin(x.detach().numpy()))

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * x.cos()

        close(grad(lambda x: Numpy.apply(x).sum())(ROW), ROW.cos())
        close(grad(lambda x: grad(lambda z: Numpy.apply(z).sum())(x).sum())(ROW), -ROW.sin())
