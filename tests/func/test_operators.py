"""Differential operators and curvature products against dense matrices."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import func


def vector(n, seed=0):
    return tp.from_numpy(np.random.default_rng(seed).normal(size=n))


W = tp.from_numpy(np.random.default_rng(5).normal(size=(5, 5)))


def field(x):
    return tp.tanh(tp.matmul(W, x)) * x


def energy(x):
    return (field(x) ** 2).sum()


X, V = vector(5), vector(5, 1)


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_jacobian_diagonal_and_divergence(chunk_size):
    dense = func.jacrev(field)(X).numpy()
    found = func.jacobian_diagonal(field, chunk_size=chunk_size)(X)
    np.testing.assert_allclose(found.numpy(), np.diag(dense), rtol=1e-12)
    trace = func.divergence(field, chunk_size=chunk_size)(X)
    np.testing.assert_allclose(float(trace), np.trace(dense), rtol=1e-12)


def test_an_estimated_divergence_is_unbiased_and_repeatable():
    exact = float(func.divergence(field)(X))
    generator = tp.Generator().manual_seed(3)
    found = float(func.divergence(field, samples=4000, generator=generator)(X))
    assert abs(found - exact) < 0.2
    again = func.divergence(field, samples=4000, generator=tp.Generator().manual_seed(3))(X)
    assert float(again) == found
    with pytest.raises(ValueError, match="samples"):
        func.divergence(field, samples=0)(X)


def test_laplacian():
    dense = func.hessian(energy)(X).numpy()
    np.testing.assert_allclose(float(func.laplacian(energy)(X)), np.trace(dense), rtol=1e-9)
    of_field = func.laplacian(field)(X)
    expected = np.einsum("ijj->i", func.jacfwd(func.jacrev(field))(X).numpy())
    np.testing.assert_allclose(of_field.numpy(), expected, rtol=1e-9)


def test_hvp_is_the_product_with_the_hessian():
    gradient, product = func.hvp(energy, X, V)
    np.testing.assert_allclose(gradient.numpy(), func.grad(energy)(X).numpy(), rtol=1e-12)
    expected = func.hessian(energy)(X).numpy() @ V.numpy()
    np.testing.assert_allclose(product.numpy(), expected, rtol=1e-10)


def test_hvp_of_several_arguments():
    (ga, gb), (pa, pb) = func.hvp(lambda a, b: (a * b).sum(), (X, V), (V, X))
    np.testing.assert_allclose(ga.numpy(), V.numpy())
    np.testing.assert_allclose(gb.numpy(), X.numpy())
    np.testing.assert_allclose(pa.numpy(), X.numpy())
    np.testing.assert_allclose(pb.numpy(), V.numpy())


def test_ggnvp():
    def loss(y):
        return tp.logsumexp(y, 0) + (y**2).sum()

    value, product = func.ggnvp(field, loss, X, V)
    jacobian = func.jacrev(field)(X).numpy()
    curvature = func.hessian(loss)(field(X)).numpy()
    np.testing.assert_allclose(float(value), float(loss(field(X))))
    expected = jacobian.T @ curvature @ jacobian @ V.numpy()
    np.testing.assert_allclose(product.numpy(), expected, rtol=1e-10)


def test_linear_transpose():
    def linear(x):
        return tp.matmul(W, x.flip(0))[:3]

    (found,) = func.linear_transpose(linear, X)(vector(3))
    dense = func.jacrev(linear)(X).numpy()
    np.testing.assert_allclose(found.numpy(), dense.T @ vector(3).numpy(), rtol=1e-12)


def test_they_nest_with_other_transforms():
    batch = tp.from_numpy(np.random.default_rng(2).normal(size=(3, 5)))
    found = tp.vmap(func.laplacian(energy))(batch)
    expected = [float(func.laplacian(energy)(x)) for x in batch]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    slope = func.grad(func.divergence(field))(X)
    step = 1e-6
    for k in range(5):
        e = tp.zeros(5, dtype=tp.float64)
        e[k] = step
        numeric = (func.divergence(field)(X + e) - func.divergence(field)(X - e)) / (2 * step)
        np.testing.assert_allclose(float(slope[k]), float(numeric), rtol=1e-5, atol=1e-7)
