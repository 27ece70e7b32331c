"""`has_aux`: whatever the function returns beside its output comes through, leaf by leaf."""

import pytest

import tensorplay as tp
from tensorplay import func


def with_aux(x):
    aux = {"n": 3, "inputs": (x, "name"), "list": [2 * x, 1.5, x.sum()], "none": None}
    return x**2, aux


def check(aux, x):
    assert aux["n"] == 3
    assert aux["none"] is None
    assert aux["inputs"][1] == "name"
    assert aux["inputs"][0].tolist() == x.tolist()
    assert aux["list"][0].tolist() == (2 * x).tolist()
    assert aux["list"][1] == 1.5
    assert aux["list"][2].item() == x.sum().item()


def scalar(x):
    output, aux = with_aux(x)
    return output.sum(), aux


X = tp.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("chunk_size", [None, 1, 2])
@pytest.mark.parametrize("transform", [func.jacfwd, func.jacrev], ids=["jacfwd", "jacrev"])
def test_jacobians(transform, chunk_size):
    jacobian, aux = transform(with_aux, has_aux=True, chunk_size=chunk_size)(X)
    assert jacobian.tolist() == tp.diag(2 * X).tolist()
    check(aux, X)


def test_gradients():
    gradient, aux = func.grad(scalar, has_aux=True)(X)
    assert gradient.tolist() == (2 * X).tolist()
    check(aux, X)
    gradient, (value, aux) = func.grad_and_value(scalar, has_aux=True)(X)
    assert value.item() == 14.0
    check(aux, X)


def test_products():
    _, moved, aux = func.jvp(with_aux, (X,), (tp.ones(3),), has_aux=True)
    assert moved.tolist() == (2 * X).tolist()
    check(aux, X)
    _, pull, aux = func.vjp(with_aux, X, has_aux=True)
    assert pull(tp.ones(3))[0].tolist() == (2 * X).tolist()
    check(aux, X)


def test_aux_without_tensors_and_without_anything_else():
    assert func.jacfwd(lambda x: (x, "text"), has_aux=True)(X)[1] == "text"
    assert func.jacfwd(lambda x: (x, x), has_aux=True)(X)[1].tolist() == X.tolist()
    assert func.jacfwd(lambda x: (x, ()), has_aux=True)(X)[1] == ()
