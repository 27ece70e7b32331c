"""`func.safe_where`: values and derivatives of every order are finite where nothing is chosen."""

import math

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import func

DOUBLE = tp.float64
FUNCTIONS = [
    (tp.sqrt, lambda x: x > 0, 0.5 / math.sqrt(4.0), -0.25 / 4.0**1.5),
    (tp.log, lambda x: x > 0, 1 / 4.0, -1 / 16.0),
    (tp.reciprocal, lambda x: x != 0, -1 / 16.0, 2 / 64.0),
    (lambda x: x**0.25, lambda x: x > 0, 0.25 * 4.0**-0.75, -0.1875 * 4.0**-1.75),
]


@pytest.mark.parametrize(("function", "domain", "first", "second"), FUNCTIONS)
class TestDerivatives:
    def scalar(self, function, domain):
        return lambda x: func.safe_where(domain(x), function, x, 7.0).sum()

    def test_reverse(self, function, domain, first, second):
        x = tp.tensor([0.0, 4.0, -0.0], dtype=DOUBLE)
        np.testing.assert_allclose(
            func.grad(self.scalar(function, domain))(x).numpy(), [0, first, 0], rtol=1e-12
        )

    def test_forward(self, function, domain, first, second):
        x = tp.tensor([0.0, 4.0, -0.0], dtype=DOUBLE)
        _, t = func.jvp(self.scalar(function, domain), (x,), (tp.ones_like(x),))
        assert t.item() == pytest.approx(first, rel=1e-12)

    def test_second_order(self, function, domain, first, second):
        x = tp.tensor([0.0, 4.0, -0.0], dtype=DOUBLE)
        hessian = func.hessian(self.scalar(function, domain))(x).numpy()
        np.testing.assert_allclose(hessian, np.diag([0, second, 0]), rtol=1e-12)

    def test_per_sample(self, function, domain, first, second):
        x = tp.tensor([[0.0], [4.0]], dtype=DOUBLE)
        found = tp.vmap(func.grad(self.scalar(function, domain)))(x).numpy()
        np.testing.assert_allclose(found, [[0], [first]], rtol=1e-12)


def test_plain_where_is_nan_there():
    # What the function is for: 0 times infinity.
    x = tp.tensor(0.0, requires_grad=True)
    tp.where(x > 0, tp.sqrt(x), 0.0).backward()
    assert x.grad.isnan()


def test_values():
    x = tp.tensor([-1.0, 0.0, 9.0])
    assert func.safe_where(x > 0, tp.sqrt, x, -5.0).tolist() == [-5.0, -5.0, 3.0]
    assert func.safe_where(x > 0, tp.sqrt, x, x * 2).tolist() == [-2.0, 0.0, 3.0]


def test_several_inputs_and_fills():
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    y = tp.tensor([0.0, 4.0], requires_grad=True)
    func.safe_where(y != 0, tp.div, (x, y), 0.0, safe=(0.0, 1.0)).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]
    assert y.grad.tolist() == [0.0, -0.125]


def test_gradient_of_the_alternative():
    x = tp.tensor([0.0, 4.0], requires_grad=True)
    func.safe_where(x > 0, tp.sqrt, x, 3 * x).sum().backward()
    assert x.grad.tolist() == [3.0, 0.25]


def test_bad_input():
    x = tp.ones(2)
    with pytest.raises(ValueError, match=r"safe_where\(\): safe has 1 values for 2 inputs"):
        func.safe_where(x > 0, tp.div, (x, x), 0.0, safe=(1.0,))
    with pytest.raises(RuntimeError, match="bool"):
        func.safe_where(x, tp.sqrt, x, 0.0)
    with pytest.raises(TypeError, match="condition"):
        func.safe_where(True, tp.sqrt, x, 0.0)
