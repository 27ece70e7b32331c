"""Faults that were found once, each as a test of its whole kind."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.func import grad, hessian, jacfwd, jacrev, vmap


def double(y):
    y.mul_(2)


def limit(y):
    y.clamp_(-100, 100)
    y.mul_(2)


def overwrite(y):
    y.copy_(2 * y.detach())


def write_part(y):
    y[:] = 2 * y


CHANGES = {"mul_": double, "clamp_": limit, "copy_": overwrite, "setitem": write_part}


class TestInPlaceUnderNoGradInsideAGradient:
    """no_grad inside a transformed function holds for every level, also in place."""

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
    def test_the_level_outside_keeps_the_history_from_before(self, change):
        def h(x):
            y = x.clone()
            with tp.no_grad():
                change(y)
            return (y * x).sum()

        # In place under no_grad, values change and history stays: dy/dx is that of the clone.
        x = tp.tensor([1.0, 3.0], dtype=tp.float64)
        g = grad(h)(x)
        np.testing.assert_allclose(g.numpy(), (2 * x + x).numpy())
        outer = grad(lambda u: (grad(h)(u) ** 2).sum())(x)
        slope = np.diag(jacrev(grad(h))(x).numpy())
        np.testing.assert_allclose(outer.numpy(), 2 * g.numpy() * slope)
        np.testing.assert_allclose(slope, [2.0, 2.0])

    def test_a_closed_over_leaf(self):
        w = tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True)

        def h(x):
            y = x * w
            with tp.no_grad():
                y.mul_(2)
            return (y * x * w).sum()

        g = grad(h)(tp.tensor([1.0, 3.0], dtype=tp.float64))
        (g**2).sum().backward()
        np.testing.assert_allclose(w.grad.numpy(), [30.0, 2160.0])


class TestNoGradAroundANestedGradient:
    def test_nothing_below_is_recorded(self):
        w = tp.tensor([1.0, 2.0], requires_grad=True)

        def h(x):
            with tp.no_grad():
                a = grad(lambda x: ((x * w) ** 3).sum())(x)
            return (a * x).sum()

        assert not grad(h)(tp.tensor([1.0, 3.0])).requires_grad


class TestACastKeepsOnlyTheDtype:
    @pytest.mark.parametrize(
        "use",
        [
            lambda y: y.double(),
            lambda y: y + tp.ones(2, dtype=tp.float64),
            lambda y: y.sum(dtype=tp.float64),
            lambda y: tp.cat([y, tp.ones(1, dtype=tp.float64)]),
            lambda y: y.to(tp.complex64).real,
        ],
    )
    def test_so_its_input_may_change_in_place(self, use):
        x = tp.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        z = use(y)
        y.mul_(2)
        (z.sum() + y.sum()).backward()
        np.testing.assert_allclose(x.grad.numpy(), [3.0, 3.0])


class TestFillingATensorInsideATransform:
    @staticmethod
    def product(x):
        out = tp.zeros(3, dtype=x.dtype)
        out[0] = x[0] * x[1]
        out[1:] = x[1:] ** 2
        return out

    @pytest.mark.parametrize("transform", [jacrev, jacfwd])
    def test_jacobians(self, transform):
        x = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64)
        expected = [[2.0, 1.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
        np.testing.assert_allclose(transform(self.product)(x).numpy(), expected)
        found = tp.autograd.functional.jacobian(
            self.product, x, vectorize=True, strategy="forward-mode"
        )
        np.testing.assert_allclose(found.numpy(), expected)

    def test_hessian(self):
        x = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64)
        found = hessian(lambda x: self.product(x).sum())(x)
        np.testing.assert_allclose(found.numpy(), [[0, 1, 0], [1, 2, 0], [0, 0, 2]])

    def test_per_sample(self):
        def f(a, b):
            a = a.clone()
            a.add_(b.sum())
            a[0] = b[0]
            return (a**2).sum()

        a, b = tp.rand(4, 3, dtype=tp.float64), tp.rand(4, 3, dtype=tp.float64)
        found = vmap(grad(f, argnums=(0, 1)))(a, b)
        for i in range(4):
            for batch, single in zip(found, grad(f, argnums=(0, 1))(a[i], b[i]), strict=True):
                np.testing.assert_allclose(batch[i].numpy(), single.numpy())
