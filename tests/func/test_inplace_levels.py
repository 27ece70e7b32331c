"""In-place changes of tensors made inside nested transforms: every way to a derivative agrees."""

import itertools

import pytest

import tensorplay as tp
from tensorplay.func import grad, jacfwd, jacrev, jvp, linearize, vmap
from tests.semantics.support import assert_close, const

EYE = tp.eye(4, dtype=tp.float64)
MATRIX = const([[0.3, -0.2, 0.5, 0.1], [0.7, 0.4, -0.6, 0.2], [0.1, 0.9, 0.3, -0.4], [1, 0, -1, 2]])


def added_by_a_new_index(x):
    return (x * x).index_add_(0, tp.tensor([0, 0]), x[:2] ** 3)


def scattered(x):
    return x.sin().scatter_(0, tp.tensor([2, 1]), x[:2] ** 2)


def through_a_view(x):
    y = x[tp.tensor([3, 1, 1, 0])] * x
    view = y.view(2, 2)
    view[0].mul_(view[1].clone())
    return y.add(view.T.reshape(-1))


def into_new_zeros(x):
    y = tp.zeros_like(x)
    y[1:] = x[:-1] ** 3
    y += x
    return y * x


def masked(x):
    y = x * x
    y[tp.tensor([True, False, True, False])] = x[1] * 2
    return y * x


PROGRAMS = [added_by_a_new_index, scattered, through_a_view, into_new_zeros, masked]

#: Ways to the derivative of f along v, as functions of x.
WAYS = {
    "jvp": lambda f, v: lambda x: jvp(f, (x,), (v,))[1],
    "linearize": lambda f, v: lambda x: linearize(f, x)[1](v),
    "jacfwd": lambda f, v: lambda x: jacfwd(f)(x) @ v,
    "jacrev": lambda f, v: lambda x: jacrev(f)(x) @ v,
    "grad": lambda f, v: lambda x: vmap(lambda e: grad(lambda z: (f(z) * e).sum())(x))(EYE) @ v,
    "tangents": lambda f, v: (
        lambda x: vmap(lambda t: jvp(f, (x,), (t,))[1])(tp.stack([v, 2 * v]))[0]
    ),
    "samples": lambda f, v: (
        lambda x: vmap(lambda z: jvp(f, (z,), (v,))[1])(tp.stack([x, 2 * x]))[0]
    ),
}


@pytest.mark.parametrize("ways", list(itertools.product(WAYS, repeat=2)), ids="-".join)
@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives(program, ways):
    x, v, w = const([0.3, -0.7, 1.1, 0.4]), MATRIX[0], MATRIX[1]
    mixed = WAYS[ways[1]](WAYS[ways[0]](program, v), w)
    step = 1e-5
    first = WAYS["jvp"](program, v)
    expected = (first(x + step * w) - first(x - step * w)) / (2 * step)
    found = mixed(x)
    assert_close(found, expected, rtol=1e-6, atol=1e-8)
    assert_close(vmap(mixed)(tp.stack([x, x * 0.5]))[0], found)
    # Under a graph outside, and under one more gradient.
    leaf = x.clone().requires_grad_()
    (outer,) = tp.autograd.grad((mixed(leaf) * MATRIX[2]).sum(), leaf, materialize_grads=True,
                                allow_unused=True)  # fmt: skip
    assert_close(outer, grad(lambda x: (mixed(x) * MATRIX[2]).sum())(x))
