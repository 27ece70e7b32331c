"""`autograd.functional` at outputs of one element that are no plain real scalars."""

import pytest

import tensorplay as tp
from tensorplay.autograd import functional
from tests.semantics.support import assert_close, const


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("product", [functional.vhp, functional.hvp])
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_output_keeps_its_shape(shape, product, create_graph):
    x = const([1.0, 2.0])
    value, found = product(lambda x: (x**3).sum().reshape(shape), x, x, create_graph=create_graph)
    assert tuple(value.shape) == shape
    assert_close(value.reshape(()), 9.0)
    assert_close(found, [6.0, 24.0])
    assert_close(functional.hessian(lambda x: (x**3).sum().reshape(shape), x), [[6.0, 0], [0, 12]])


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f, x: functional.vjp(f, x),
        lambda f, x: functional.vhp(f, x, x),
        lambda f, x: functional.hvp(f, x, x),
        lambda f, x: functional.hessian(f, x),
        lambda f, x: functional.hessian(f, x, vectorize=True),
        lambda f, x: functional.hessian(
            f, x, vectorize=True, outer_jacobian_strategy="forward-mode"
        ),
    ],
)
def test_a_complex_output_needs_a_vector(derivative):
    x = tp.tensor([1 + 2j, 3j])
    with pytest.raises(RuntimeError, match=r"^(vjp|vhp|hessian)\(\): .*complex"):
        derivative(lambda x: (x**3).sum(), x)
