"""Sparse derivative matrices equal the dense ones, with as many products as colours."""

import time

import numpy as np
import pytest
import scipy.sparse

import tensorplay as tp
from tensorplay.func import (
    hessian,
    hessian_pattern,
    jacobian_pattern,
    jacrev,
    sparse_hessian,
    sparse_jacobian,
)


def vector(n, seed=0):
    return tp.from_numpy(np.random.default_rng(seed).normal(size=n))


def tridiagonal(x):
    """A discretised nonlinear boundary value problem: three entries in each inner row."""
    inside = x[:-2] - 2 * x[1:-1] + x[2:] + x[1:-1].exp()
    return tp.cat([x[:1], inside, x[-1:]])


FUNCTIONS = {
    "tridiagonal": tridiagonal,
    "elementwise": lambda x: x.sin() * x,
    "reduction": lambda x: (x.reshape(4, 5) ** 2).sum(1),
    "mean": lambda x: x.reshape(4, 5).mean(0),
    "dense": lambda x: tp.softmax(x, 0),
    "constant matrix": lambda x: tp.matmul(tp.diag(tp.arange(20.0).double()), x.reshape(20, 1)),
    "flip and roll": lambda x: x.flip(0) * x.roll(3, 0),
    "gather": lambda x: x[tp.tensor([0, 0, 7, 3])] * x[tp.tensor([1, 2, 7, 4])],
    "padding and stack": lambda x: tp.stack([x[:5], x[5:10] * x[10:15]]),
    "where": lambda x: tp.where(x > 0, x * x, x.roll(1, 0)),
    "broadcast": lambda x: x.reshape(20, 1) * x[:2],
    "nothing": lambda x: tp.zeros(3, dtype=tp.float64),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_jacobian_equals_the_dense_one(name):
    f, x = FUNCTIONS[name], vector(20)
    found = sparse_jacobian(f)(x)
    assert scipy.sparse.issparse(found)
    expected = jacrev(lambda x: f(x).reshape(-1))(x).numpy()
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_random_interactions(seed):
    rng = np.random.default_rng(seed)
    i, j = (tp.from_numpy(rng.integers(0, 20, 30)) for _ in range(2))

    def f(x):
        return (x[i] * x[j].sin()).reshape(10, 3).sum(1)

    def energy(x):
        return (x[i].exp() * x[j]).sum() + (x[:5] ** 2).sum() * 3

    x = vector(20, seed)
    np.testing.assert_allclose(sparse_jacobian(f)(x).toarray(), jacrev(f)(x).numpy(), atol=1e-10)
    np.testing.assert_allclose(
        sparse_hessian(energy)(x).toarray(), hessian(energy)(x).numpy(), atol=1e-10
    )


ENERGIES = {
    "chain": lambda x: ((x[1:] - x[:-1] ** 2) ** 2).sum(),
    "linear": lambda x: x.sum(),
    "separable": lambda x: (x**4).sum(),
    "product of all": lambda x: x.prod(),
    "quadratic form": lambda x: (x * tp.matmul(tp.diag(tp.ones(12).double()), x)).sum(),
    "quotient": lambda x: (x[:6] / (x[6:] ** 2 + 1)).sum(),
}


@pytest.mark.parametrize("name", ENERGIES)
def test_the_hessian_equals_the_dense_one(name):
    f, x = ENERGIES[name], vector(12)
    found = sparse_hessian(f)(x)
    np.testing.assert_allclose(found.toarray(), hessian(f)(x).numpy(), atol=1e-9)


def test_a_pattern_has_no_entry_too_many_where_that_is_known():
    x = vector(10)
    assert jacobian_pattern(tridiagonal, x).nnz == 3 * 8 + 2
    assert hessian_pattern(lambda x: (x[1:] * x[:-1]).sum(), x).nnz == 2 * 9
    assert hessian_pattern(lambda x: x.sum() * 2, x).nnz == 0


def test_a_tridiagonal_jacobian_of_100_000_dimensions_takes_three_products():
    x = vector(100_000)
    jacobian = sparse_jacobian(tridiagonal)
    start = time.perf_counter()
    found = jacobian(x)
    assert time.perf_counter() - start < 20
    assert jacobian.plan.count == 3
    inner = np.exp(x.numpy()[1:-1]) - 2
    np.testing.assert_allclose(found.diagonal()[1:-1], inner, rtol=1e-12, atol=1e-14)


def test_the_colouring_is_reused():
    runs = []

    def f(x):
        runs.append(x)
        return x * x

    jacobian = sparse_jacobian(f)
    jacobian(vector(5))
    first = jacobian.plan
    count = len(runs)
    jacobian(vector(5, seed=1))
    assert jacobian.plan is first
    assert len(runs) == count + 1  # one for the products, none for the pattern


def test_few_outputs_take_few_products():
    jacobian = sparse_jacobian(lambda x: (x * x).reshape(1, -1).sum(1))
    found = jacobian(vector(50))
    assert jacobian.plan.by_rows
    assert jacobian.plan.count == 1
    np.testing.assert_allclose(found.toarray()[0], 2 * vector(50).numpy())


def test_a_given_pattern_is_used_and_checked():
    x = vector(6)
    pattern = scipy.sparse.eye(6)
    jacobian = sparse_jacobian(lambda x: x**3, pattern)
    np.testing.assert_allclose(jacobian(x).diagonal(), 3 * x.numpy() ** 2)
    assert jacobian.plan.count == 1
    with pytest.raises(RuntimeError, match=r"sparse_jacobian\(\).*\(5, 5\).* 6 elements"):
        sparse_jacobian(lambda x: x**3, scipy.sparse.eye(5))(x)


def test_integers_are_refused():
    with pytest.raises(RuntimeError, match=r"sparse_jacobian\(\).*int64"):
        sparse_jacobian(lambda x: x)(tp.arange(3))
