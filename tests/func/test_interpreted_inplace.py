"""`jet` and the pattern tracers see in-place operations, views and detached tensors."""

import math

import pytest

import tensorplay as tp
from tensorplay import func
from tests.semantics.support import assert_close, const


def changed_by_itself(x):
    y = x * x
    y.mul_(x)
    return y


def one_element(x):
    y = x * 1.0
    y[0] = x[1] ** 2
    return y.sin()


def view_of_a_view(x):
    y = x.sin()
    rows = y.view(2, 2)
    rows[0].mul_(rows[1].clone())
    return y + rows.T.reshape(-1)


def view_made_before(x):
    y = x * x
    tail = y[1:]
    y.add_(x)
    return tail * tail


def new_zeros(x):
    y = tp.zeros(4, dtype=tp.float64)
    y[1:] = x[:-1] ** 3
    y += x
    return y * x


def copied(x):
    return tp.zeros_like(x).copy_(x) ** 3


def zeroed(x):
    return x.clone().zero_().add_(x) ** 3


def by_index(x):
    y = x.clone()
    y[tp.tensor([0, 2])] = x[:2] ** 2
    return y.index_add_(0, tp.tensor([0, 0]), x[:2] ** 3) * y


def by_mask(x):
    y = x.clone()
    y[x > 0] = 0.5
    return y * x


def clamped(x):
    return (x * x).clamp_(0.2, 1.0) * x


def reshaped(x):
    y = x.clone().unsqueeze_(0)
    y.squeeze_(0)
    return y * y


def detached(x):
    return x.detach() * x


def detached_in_place(x):
    return (x * 2).detach_() * x


def constants(x):
    return x**2 * tp.tensor(3.0).item() * float(tp.ones(()))


PROGRAMS = [
    changed_by_itself, one_element, view_of_a_view, view_made_before, new_zeros, copied, zeroed,
    by_index, by_mask, clamped, reshaped, detached, detached_in_place, constants,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_jet(program):
    x, v, none = const([0.3, -0.7, 1.1, 0.4]), const([1.0, 2.0, 3.0, -1.0]), const([0.0] * 4)
    value, coefficients = func.jet(program, (x,), ([v, none, none],))

    def derivative(f):
        return lambda t: func.jvp(f, (t,), (const(1.0),))[1]

    def at(t):
        return program(x + v * t)

    for order, found in enumerate([value, *coefficients]):
        assert_close(found * math.factorial(order), at(const(0.0)), rtol=1e-9)
        at = derivative(at)
    assert_close(x, [0.3, -0.7, 1.1, 0.4])


@pytest.mark.parametrize("program", PROGRAMS)
def test_sparse_derivatives(program):
    x = const([0.3, -0.7, 1.1, 0.4])
    assert_close(func.sparse_jacobian(program)(x).toarray(), func.jacfwd(program)(x))

    def total(x):
        return program(x).sum()

    assert_close(func.sparse_hessian(total)(x).toarray(), func.hessian(total)(x))


@pytest.mark.parametrize("change", ["detach_", "none"])
def test_what_a_node_saved_keeps_its_series(change):
    # The node of exp keeps its output, which stands for the same series as y.
    def slope(x):
        w = (x * 1).requires_grad_()
        y = w.exp()
        total = (y * 3).sum()
        if change == "detach_":
            y.detach_()
        return tp.autograd.grad(total, w)[0]

    x, v, none = const([0.3, 0.5]), const([1.0, 1.0]), const([0.0, 0.0])
    value, coefficients = func.jet(slope, (x,), ([v, none],))
    expected = [3 * math.exp(0.3), 3 * math.exp(0.5)]
    assert_close(value, expected)
    assert_close(coefficients[0], expected)
    assert_close(coefficients[1], [e / 2 for e in expected])
