"""Normalisations of constant values: the deviations are zero, and so are the results."""

import pytest

import tensorplay as tp

F = tp.nn.functional
VALUES = [1e4, 1234.567, -0.1, 3e-5, 7e7]
NORMS = {
    "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[1:], w, b),
    "batch_norm": lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    "group_norm": lambda x, w, b: F.group_norm(x, 1, w, b),
    "instance_norm": lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
}
SHAPES = [(1, 1), (3, 1), (2, 7), (4, 600), (200, 3), (2, 3, 1), (4, 3, 5), (2, 4, 9, 9)]


def affine(name, shape, dtype):
    size = shape[1:] if name == "layer_norm" else shape[1:2]
    return tp.full(size, 0.5, dtype=dtype), tp.full(size, 2.0, dtype=dtype)


def is_defined(name, shape):
    """Whether PyTorch takes the shape: a channel needs more than one value to be normalised."""
    if name == "batch_norm":
        return shape != (1, 1)
    return name != "instance_norm" or (len(shape) > 2 and shape[2:] != (1,))


CASES = [(name, shape) for name in NORMS for shape in SHAPES if is_defined(name, shape)]


@pytest.mark.parametrize("dtype", [tp.float32, tp.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_the_result_is_the_bias(name, shape, value, dtype):
    x = tp.full(shape, value, dtype=dtype)
    assert NORMS[name](x, None, None).abs().max().item() == 0
    w, b = affine(name, shape, dtype)
    assert (NORMS[name](x, w, b) - 2).abs().max().item() == 0


@pytest.mark.parametrize("shape", [(2, 7), (4, 600), (4, 3, 5)], ids=str)
@pytest.mark.parametrize("name", ["layer_norm", "batch_norm", "group_norm"])
def test_the_gradients_are_those_of_zero_deviations(name, shape):
    # d out / d x = (g - mean(g)) / sqrt(eps) * w, and d out / d w = 0.
    x = tp.full(shape, 1234.567).requires_grad_()
    w, b = (p.requires_grad_() for p in affine(name, shape, tp.float32))
    g = tp.randn(*shape, generator=tp.Generator().manual_seed(0))
    gx, gw, gb = tp.autograd.grad(NORMS[name](x, w, b), (x, w, b), g)
    dims = tuple(d for d in range(len(shape)) if (d == 0) == (name == "batch_norm") or d > 1)
    if name == "batch_norm":
        dims = tuple(d for d in range(len(shape)) if d != 1)
    expected = (g - g.mean(dims, keepdim=True)) * 0.5 / (1e-5) ** 0.5
    assert tp.allclose(gx, expected, rtol=1e-4, atol=1e-3)
    assert gw.abs().max().item() == 0
    assert tp.allclose(gb.sum(), g.sum(), rtol=1e-4, atol=1e-4)
