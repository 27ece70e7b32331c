"""Random programs made from the registry: every order of composing the transforms agrees.

A program is a function of one vector to a number. `vmap` once, `grad` once and `jvp` twice, in any
order, all compute D3 f[v, w, .] for each sample of a batch; there are twelve orders.
"""

from __future__ import annotations

import itertools

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import tensorplay as tp
from tensorplay import func
from tensorplay._core import core
from tensorplay.base import dtypes
from tests import optable  # noqa: F401  (loads every family)

SIZE = 4
BATCH = 3

#: Where the arguments of an operator must lie; by default all are squeezed into (0.2, 0.8).
DOMAINS = {"acosh": (1.2, 1.8), "polygamma": (0.6, 1.2)}

#: Defined as not differentiable, as in PyTorch: by the first input, or steps of the number format.
NO_DERIVATIVE = {"gammainc", "gammaincc", "nextafter"}


def tensor(values):
    return core.from_array(np.asarray(values, float))


def squeezed(x, name):
    """x mapped smoothly into the domain of an operator."""
    low, high = DOMAINS.get(name, (0.2, 0.8))
    return x.sigmoid() * (high - low) + low


def usable(p):
    """Whether a primitive maps vectors of numbers to vectors of numbers, smoothly enough."""
    count = len(p.arg_names)
    if p.kind != "elementwise" or not p.differentiable or p.param_names or count > 2:
        return False
    if p.outputs != 1 or p.jvp is None or "backward" in p.name or p.name in NO_DERIVATIVE:
        return False
    xs = [tensor([0.3, 0.45, 0.6, 0.7]) for _ in range(count)]
    try:
        y = p(*[squeezed(x, p.name) for x in xs])
    except (RuntimeError, TypeError):
        return False
    return y.dtype is dtypes.float64 and bool(np.isfinite(core.array_of(y)).all())


ELEMENTWISE = {name: p for name, p in sorted(core.registry.items()) if usable(p)}

MATRIX = tensor(np.random.default_rng(0).normal(size=(SIZE, SIZE)) / 2)
INDEX = core.from_array(np.array([2, 0, 2, 1]))

#: Operators that move, mix or select elements; vectors to vectors.
STRUCTURAL = {
    "matmul": lambda x, y: MATRIX @ x,
    "outer": lambda x, y: (x.unsqueeze(1) * y.unsqueeze(0)).sum(0),
    "center": lambda x, y: x - x.mean(),
    "softmax": lambda x, y: x.softmax(0),
    "cumsum": lambda x, y: x.cumsum(0),
    "flip": lambda x, y: x.flip(0),
    "halves": lambda x, y: tp.cat([x[2:], y[:2]]),
    "transposed": lambda x, y: x.reshape(2, 2).transpose(0, 1).reshape(SIZE),
    "gather": lambda x, y: x[INDEX],
    "scatter": lambda x, y: y.index_add(0, INDEX, x),
    "where": lambda x, y: tp.where(x > y, x * x, y),
    "amax": lambda x, y: x * y.amax(),
    "prod": lambda x, y: x * y.prod(),
    "norm": lambda x, y: x * y.norm(),
    "logsumexp": lambda x, y: x - y.logsumexp(0),
    "in place": lambda x, y: x.clone().mul_(y).add_(x),
    "written": lambda x, y: written(x, y),
}


def written(x, y):
    """x with one element overwritten through a view."""
    z = x.clone()
    z[1:3] = y[:2] * x[2:]
    return z


OPERATORS = sorted([*ELEMENTWISE, *STRUCTURAL])
STEPS = st.lists(
    st.tuples(st.sampled_from(OPERATORS), st.integers(0, 50), st.integers(0, 50)),
    min_size=1,
    max_size=6,
)


def program(steps):
    """The function that a list of (operator, operand, operand) describes."""

    def run(x):
        values = [x]
        for name, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            if name in STRUCTURAL:
                values.append(STRUCTURAL[name](a, b))
            else:
                p = ELEMENTWISE[name]
                inputs = [squeezed(z, name) for z in (a, b)[: len(p.arg_names)]]
                values.append(p(*inputs))
        total = values[-1]
        for value in values[1:-1]:
            total = total + value
        return (total * tensor([1.0, -0.5, 0.25, 2.0])).sum()

    return run


def composed(f, word):
    """f under the transforms of `word`, innermost first: g(x, v, w), on a batch in the end."""
    batched, remaining = False, [1, 0]
    g = lambda x, *vs: f(x)  # noqa: E731
    for step in word:
        if step == "vmap":
            g, batched = func.vmap(g), True
        elif step == "grad":
            inner = total(g) if batched else g
            g = func.grad(inner)
        else:
            g = pushed(g, remaining.pop())
    return g


def total(g):
    """The sum of a batch of numbers: its gradient is the gradient of each."""
    return lambda x, *vs: g(x, *vs).sum()


def pushed(g, which):
    """The derivative of g along one of the directions."""
    return lambda x, *vs: func.jvp(lambda z: g(z, *vs), (x,), (vs[which],))[1]


WORDS = sorted(set(itertools.permutations(["vmap", "grad", "jvp", "jvp"])))


def test_there_are_enough_operators():
    assert len(ELEMENTWISE) > 40
    assert len(WORDS) == 12


@hypothesis.settings(max_examples=25, deadline=None, derandomize=True, database=None)
@hypothesis.given(steps=STEPS, seed=st.integers(0, 1000))
def test_all_orders_agree(steps, seed):
    check_orders(steps, seed)


@pytest.mark.parametrize("name", OPERATORS)
def test_each_operator_in_all_orders(name):
    """Every operator at least once, between two others, whatever chance brings above."""
    check_orders([("sin", 0, 0), (name, 1, 0), ("tanh", 2, 1)], 1)


def check_orders(steps, seed):
    """All twelve orders on one program."""
    rng = np.random.default_rng(seed)
    arguments = [tensor(rng.uniform(-1, 1, (BATCH, SIZE))) for _ in range(3)]
    f = program(steps)
    results = {word: core.array_of(composed(f, word)(*arguments).detach()) for word in WORDS}
    reference = results[WORDS[0]]
    scale = max(1.0, float(np.max(np.abs(reference))))
    for word, result in results.items():
        np.testing.assert_allclose(
            result, reference, rtol=1e-7, atol=1e-9 * scale,
            err_msg=f"{' of '.join(reversed(word))} against {' of '.join(reversed(WORDS[0]))}",
        )  # fmt: skip


@hypothesis.settings(max_examples=25, deadline=None, derandomize=True, database=None)
@hypothesis.given(steps=STEPS, seed=st.integers(0, 1000))
def test_hessians_agree(steps, seed):
    """Forward over reverse, reverse over forward, and twice the same mode; symmetric."""
    x = tensor(np.random.default_rng(seed).uniform(-1, 1, SIZE))
    f = program(steps)
    makers = [func.jacfwd, func.jacrev]
    found = [core.array_of(a(b(f))(x).detach()) for a in makers for b in makers]
    scale = max(1.0, float(np.max(np.abs(found[0]))))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-7, atol=1e-9 * scale)
    np.testing.assert_allclose(found[0], found[0].T, rtol=1e-7, atol=1e-9 * scale)


@hypothesis.settings(max_examples=25, deadline=None, derandomize=True, database=None)
@hypothesis.given(steps=STEPS, seed=st.integers(0, 1000))
def test_derivative_against_differences(steps, seed):
    """What all orders agree on is the derivative of the function."""
    rng = np.random.default_rng(seed)
    x, v = rng.uniform(-1, 1, SIZE), rng.uniform(-1, 1, SIZE)
    f = program(steps)

    def at(s):
        return float(core.array_of(f(tensor(x + s * v))))

    h = 1e-4
    expected = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    actual = core.array_of(func.jvp(f, (tensor(x),), (tensor(v),))[1].detach())
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
