"""Operators with a kernel of their own for small arrays agree with NumPy, small or not."""

import math

import numpy as np
import pytest

import tensorplay as tp

F = tp.nn.functional
SHAPES = [(4, 4), (3, 1, 5), (2, 0, 3), (40, 3, 20)]  # the last is not small


def array(shape, dtype="float32", seed=0, transposed=False):
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return x.T if transposed else x


def as_tensor(x):
    return tp.from_numpy(x)


def close(found, wanted, tolerance=1e-5):
    assert tuple(found.shape) == wanted.shape
    np.testing.assert_allclose(found.numpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions_and_scans(shape, transposed, dtype):
    x = array(shape, dtype, transposed=transposed)
    t = as_tensor(x)
    for dim in range(x.ndim):
        close(t.sum(dim), x.sum(dim), 1e-4)
        close(t.cumsum(dim), x.cumsum(dim), 1e-4)
        close(t.cumprod(dim), x.cumprod(dim))
        close(t.norm(dim=dim), np.sqrt((x * x).sum(dim)))
        close((t > 0).any(dim), (x > 0).any(dim))
        close(t.all(dim), x.all(dim))
        if x.shape[dim] > 1:
            close(t.var(dim), x.var(dim, ddof=1))
            close(t.std(dim, correction=0), x.std(dim))
        if x.size:
            values, places = t.max(dim)
            close(values, x.max(dim))
            close(places, x.argmax(dim))
            close(t.argmin(dim), x.argmin(dim))


def test_variance_without_freedom_divides_by_zero():
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert math.isnan(tp.tensor([2.0]).var().item())
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert tp.tensor([1.0, 2.0]).var(correction=2).item() == math.inf


def test_extrema_take_the_first_nan_and_the_first_of_equal_elements():
    x = tp.tensor([[1.0, math.nan, 5.0, math.nan], [3.0, 1.0, 3.0, 0.0]])
    assert x.argmax(1).tolist() == [1, 0]
    assert x.argmin(1).tolist() == [1, 3]
    assert math.isnan(x.min(1).values[0].item())


def test_topk_counts_nan_as_the_largest():
    values, places = tp.tensor([1.0, math.nan, 3.0]).topk(2)
    assert places.tolist() == [1, 2] and values[1].item() == 3.0
    assert tp.tensor([1.0, math.nan, 3.0]).topk(2, largest=False).indices.tolist() == [0, 2]


def test_wrapping_sums_of_integers():
    x = tp.tensor([2**62, 2**62, 2**62])
    assert x.cumsum(0).tolist() == [2**62, -(2**63), -(2**62)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_rearrangements(shape, transposed):
    x = array(shape, transposed=transposed)
    t = as_tensor(x)
    last = x.ndim - 1
    close(t.flip((0, last)), np.flip(x, (0, last)))
    close(t.roll((1, -2), (0, last)), np.roll(x, (1, -2), (0, last)))
    close(t.repeat((2,) * (x.ndim + 1)), np.tile(x, (2,) * (x.ndim + 1)))
    close(F.pad(t, (1, 2), value=3.0), np.pad(x, [(0, 0)] * last + [(1, 2)], constant_values=3))
    close(F.pad(t, (-1, 0, 1, 0)) if x.shape[-1] else t, np.pad(
        x[..., 1:], [(0, 0)] * (last - 1) + [(1, 0), (0, 0)]) if x.shape[-1] else x)  # fmt: skip
    for diagonal in (-1, 0, 2):
        close(t.tril(diagonal), np.tril(x, diagonal))
        close(t.triu(diagonal), np.triu(x, diagonal))
        close(t.diagonal(diagonal), np.diagonal(x, diagonal))
    for part, wanted in zip(
        t.split(2, last), np.split(x, range(2, x.shape[last], 2), last), strict=False
    ):
        close(part, wanted)
    for part, wanted in zip(t.unbind(0), x, strict=True):
        close(part, wanted)


def test_rearranged_views_write_through():
    x = tp.zeros(3, 3)
    x.diagonal(1).fill_(2.0)
    x.split(2)[1][0, 0] = 5.0
    x.unbind(1)[2][2] = 7.0
    assert x.tolist() == [[0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [5.0, 0.0, 7.0]]


@pytest.mark.parametrize(
    ("a", "b"), [((5,), (5,)), ((3, 5), (5,)), ((5,), (5, 2)), ((90,), (90, 70))]
)
@pytest.mark.parametrize("step", [1, -1, 2])
def test_products_with_vectors(a, b, step):
    x, y = array(a, "float64"), array(b, "float64", 1)
    x, y = np.repeat(x, abs(step), -1)[..., ::step], np.repeat(y, abs(step), 0)[::step]
    close(tp.matmul(as_tensor(x.copy()), as_tensor(y.copy())), x @ y)
    close(as_tensor(x.copy()).flip(-1) @ as_tensor(y.copy()).flip(0), x @ y)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (600, 3)])
def test_class_losses_and_their_gradients(reduction, shape):
    x = array(shape, "float64")
    target = np.random.default_rng(1).integers(0, 3, shape[:1] + shape[2:])
    target.flat[0] = -100
    kept = target != -100
    picked = -np.take_along_axis(x, np.where(kept, target, 0)[:, None], 1)[:, 0] * kept
    wanted = {"none": picked, "sum": picked.sum(), "mean": picked.sum() / kept.sum()}[reduction]
    t = as_tensor(x).requires_grad_()
    loss = F.nll_loss(t, as_tensor(target), reduction=reduction)
    close(loss.detach(), np.asarray(wanted))
    loss.sum().backward()
    share = 1 / kept.sum() if reduction == "mean" else 1.0
    expected = np.zeros(shape)
    np.put_along_axis(expected, np.where(kept, target, 0)[:, None], (-share * kept)[:, None], 1)
    close(t.grad, expected)
    with pytest.raises(IndexError, match="nll_loss.*3 is out of bounds"):
        F.nll_loss(t, tp.full(target.shape, 3))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 32, 33])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms(n, norm):
    z = array((3, n), "float64") + 1j * array((3, n), "float64", 1)
    for name in ("fft", "ifft"):
        close(
            getattr(tp.fft, name)(as_tensor(z), norm=norm),
            getattr(np.fft, name)(z, norm=norm),
            1e-12,
        )
    close(tp.fft.rfft(as_tensor(z.real.copy()), norm=norm), np.fft.rfft(z.real, norm=norm), 1e-12)


def test_same_seed_same_numbers_whether_few_or_many():
    tp.manual_seed(3)
    few = [tp.randn(2, 3), tp.rand(5), tp.rand(2, dtype=tp.float64)]
    tp.manual_seed(3)
    again = [tp.randn((2, 3)), tp.rand([5]), tp.rand(2, dtype=tp.float64)]
    assert all(tp.equal(x, y) for x, y in zip(few, again, strict=True))
    tp.manual_seed(3)
    many = tp.rand(5000)
    tp.manual_seed(3)
    assert tp.equal(tp.rand(7), many[:7])


def test_filled_tensors_refuse_what_they_refused():
    with pytest.raises(RuntimeError, match="zeros.*negative"):
        tp.zeros(2, -1)
    with pytest.raises(TypeError, match="zeros"):
        tp.zeros()
    with pytest.raises(RuntimeError, match="ones.*requires_grad"):
        tp.ones(2, dtype=tp.int64, requires_grad=True)
    with pytest.raises(RuntimeError, match="arange.*step"):
        tp.arange(0, 3, 0)


def test_tensors_of_nested_numbers():
    assert tp.tensor([[1, 2.5], [3, 4]]).dtype is tp.float32
    assert tp.tensor([1, 2]).dtype is tp.int64
    assert tp.tensor([True, False]).dtype is tp.bool
    assert tp.tensor([2**60 + 1]).tolist() == [2**60 + 1]
    assert tp.tensor([], dtype=tp.float64).shape == (0,)
    with pytest.raises(ValueError, match="tensor"):
        tp.tensor([[1, 2], [3]])
    with pytest.raises(RuntimeError, match="overflow"):
        tp.tensor([300], dtype=tp.uint8)


def test_a_parameter_of_a_layer_can_be_replaced_by_an_attribute():
    layer = tp.nn.Linear(2, 1, bias=False)
    assert layer.bias is None and not hasattr(tp.nn.Linear, "weight")
    del layer.weight
    with pytest.raises(AttributeError, match="weight"):
        layer.weight  # noqa: B018
    layer.weight = tp.ones(1, 2)
    assert layer(tp.tensor([[2.0, 3.0]])).tolist() == [[5.0]]
