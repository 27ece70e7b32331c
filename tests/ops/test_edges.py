"""Derivatives where they are usually wrong: zeros, ties, singular matrices; in every mode.

Each case states the gradient of the sum of a function at a point, from the mathematics (or, where
there are several subgradients, the one that PyTorch documents). Reverse mode must give it, forward
mode and batching must agree with reverse mode, and second derivatives must be finite and agree
between forward over reverse and reverse over reverse.
"""

import itertools

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.nn import functional as F

INF = float("inf")
EYE = np.eye(3)


def zeros(*shape):
    return np.zeros(shape)


def case(label, function, *inputs, gradients, second=True):
    """One case; gradients: of each input. second: whether second derivatives are defined."""
    arrays = [np.asarray(x, float) for x in inputs]
    wanted = [np.broadcast_to(np.asarray(g, float), x.shape)
              for g, x in zip(gradients, arrays, strict=True)]  # fmt: skip
    return pytest.param(function, arrays, wanted, second, id=label)


CASES = [
    # --- norms and distances at zero: the subgradient 0 ---
    *[case(f"norm {p}", lambda x, p=p: x.norm(p), zeros(3), gradients=[0])
      for p in (0, 1, 2, 3, 0.5, INF)],
    *[case(f"vector_norm {p} of rows", lambda x, p=p: tp.linalg.vector_norm(x, p, -1),
           [[0, 0], [3, 4]], gradients=[[[0, 0], g]])
      for p, g in ((1, (1, 1)), (2, (0.6, 0.8)), (INF, (0, 1)))],
    case("matrix norm", lambda x: tp.linalg.matrix_norm(x), zeros(2, 2), gradients=[0]),
    case("std of equal elements", lambda x: x.std(), [2, 2, 2], gradients=[0]),
    case("std of rows", lambda x: x.std(-1, correction=0), [[1, 1], [1, 3]],
         gradients=[[[0, 0], [-0.5, 0.5]]]),
    case("var of equal elements", lambda x: x.var(), [2, 2, 2], gradients=[0]),
    *[case(f"cdist {p} of one point", lambda x, y, p=p: tp.cdist(x, y, p), [[1, 2]], [[1, 2]],
           gradients=[0, 0]) for p in (1, 2, 3, INF)],
    case("pdist of equal points", lambda x: tp.pdist(x), [[1, 2], [1, 2], [4, 6]],
         gradients=[[[-0.6, -0.8], [-0.6, -0.8], [1.2, 1.6]]]),
    *[case(f"dist {p} of one point", lambda x, y, p=p: tp.dist(x, y, p), [1, 2], [1, 2],
           gradients=[0, 0]) for p in (1, 2, 3, INF)],
    case("pairwise_distance", lambda x, y: F.pairwise_distance(x, y, eps=0.0), [[1, 2]], [[1, 2]],
         gradients=[0, 0]),
    case("renorm of a zero row", lambda x: x.renorm(2, 0, 1.0), [[0, 0], [0.3, 0.4]],
         gradients=[1]),
    # --- powers and products ---
    case("x^2 at 0", lambda x: x**2, [0, 3], gradients=[[0, 6]]),
    case("x^1 at 0", lambda x: x**1.0, [0, 3], gradients=[1]),
    case("x^0 at 0", lambda x: x**0, [0, 3], gradients=[0]),
    case("0^y", lambda x, y: x**y, [0, 0, 2], [2, 3, 0],
         gradients=[[0, 0, 0], [0, 0, np.log(2)]]),
    case("0^1", lambda x, y: x**y, [0.0], [1.0], gradients=[1, 0], second=False),
    case("0^0", lambda x, y: x**y, [0.0], [0.0], gradients=[0, 0]),
    case("pow of a number 0", lambda y: tp.pow(0, y), [1, 2], gradients=[0]),
    *[case(f"prod with {n} zeros", lambda x: x.prod(), [0] * n + [2, 3],
           gradients=[[6 * (n == 1)] * n + [0, 0]]) for n in (1, 2, 3)],
    case("prod of columns", lambda x: x.prod(0), [[0, 2], [5, 0]], gradients=[[[5, 0], [0, 2]]]),
    case("cumprod with a zero", lambda x: x.cumprod(0), [2, 0, 3], gradients=[[1, 8, 0]]),
    case("cumprod with zeros", lambda x: x.cumprod(0), [0, 0, 3], gradients=[[1, 0, 0]]),
    # --- logarithms and what they cancel ---
    case("xlogy at (0, 2)", tp.xlogy, [0.0], [2.0], gradients=[np.log(2), 0]),
    case("xlogy at (0, 0)", tp.xlogy, [0.0], [0.0], gradients=[0, 0]),
    case("logsumexp of -inf", lambda x: x.logsumexp(0), [-INF, -INF], gradients=[0]),
    case("logsumexp with -inf", lambda x: x.logsumexp(0), [-INF, 0, 0], gradients=[[0, 0.5, 0.5]]),
    case("logaddexp of -inf", tp.logaddexp, [-INF], [-INF], gradients=[0.5, 0.5]),
    case("logaddexp with -inf", tp.logaddexp, [-INF], [1.0], gradients=[0, 1]),
    case("logcumsumexp with -inf", lambda x: x.logcumsumexp(0), [-INF, 0], gradients=[[0, 1]]),
    case("logsigmoid far away", F.logsigmoid, [-800, 800], gradients=[[1, 0]]),
    case("softplus far away", F.softplus, [-800, 800], gradients=[[0, 1]]),
    case("log_softmax far away", lambda x: F.log_softmax(x, 0)[0], [800, -800], gradients=[0]),
    case("binary_cross_entropy_with_logits", lambda x: F.binary_cross_entropy_with_logits(
        x, tp.tensor([0.0, 1.0]).double(), reduction="sum"), [-800, 800], gradients=[0]),
    # --- single points ---
    case("sinc at 0", tp.sinc, [0.0], gradients=[0]),
    case("abs at 0", tp.abs, [0.0], gradients=[0]),
    case("hypot at 0", tp.hypot, [0.0], [0.0], gradients=[0, 0]),
    case("atan2 at 0", tp.atan2, [0.0], [0.0], gradients=[0, 0]),
    case("relu and its kin at 0", lambda x: F.relu(x) + F.leaky_relu(x, 0.5) + F.hardtanh(x, 0, 1),
         [0.0], gradients=[0.5]),
    case("clamp at its bounds", lambda x: x.clamp(-1, 1), [-2, -1, 0, 1, 2],
         gradients=[[0, 1, 1, 1, 0]]),
    case("normalize of zero", F.normalize, [[0, 0]], gradients=[1e12], second=False),
    case("lp_pool of zeros", lambda x: F.lp_pool1d(x, 2, 2), [[0, 0, 3, 4]],
         gradients=[[[0, 0, 0.6, 0.8]]]),
    # --- the branch that is not taken ---
    case("safe_where", lambda x: tp.func.safe_where(x > 0, tp.sqrt, x, 0.0), [0, 4],
         gradients=[[0, 0.25]]),
    case("a safe argument", lambda x: tp.where(x > 0, tp.where(x > 0, x, 1.0).log(), 0.0), [0, 2],
         gradients=[[0, 0.5]]),
    # --- ties ---
    case("amax shares", lambda x: x.amax(), [1, 3, 3], gradients=[[0, 0.5, 0.5]]),
    case("amin shares along a dim", lambda x: x.amin(1), [[2, 2], [1, 5]],
         gradients=[[[0.5, 0.5], [1, 0]]]),
    case("max of everything shares", lambda x: x.max(), [3, 3, 1], gradients=[[0.5, 0.5, 0]]),
    case("max of a dim picks the first", lambda x: x.max(0)[0], [3, 3, 1], gradients=[[1, 0, 0]]),
    case("maximum halves", tp.maximum, [2.0], [2.0], gradients=[0.5, 0.5]),
    case("sort moves each once", lambda x: (x.sort(0, stable=True)[0] * tp.arange(3.0)).sum(),
         [1, 1, 0], gradients=[[1, 2, 0]]),
    case("median picks one", lambda x: x.median(0)[0], [1, 1, 5], gradients=[[0, 1, 0]]),
    case("cummax", lambda x: x.cummax(0)[0], [1, 1, 3], gradients=[[1, 1, 1]]),
    # --- matrices ---
    case("det of a singular matrix", tp.linalg.det, [[1, 2], [2, 4]],
         gradients=[[[4, -2], [-2, 1]]]),
    case("det of rank n - 2", tp.linalg.det, np.diag([1.0, 0, 0]), gradients=[0]),
    case("det of zeros", tp.linalg.det, zeros(2, 2), gradients=[0]),
    case("eigenvalues of the identity", lambda a: tp.linalg.eigvalsh(a).sum(), EYE,
         gradients=[EYE], second=False),
    case("singular values of the identity", lambda a: tp.linalg.svdvals(a).sum(), EYE,
         gradients=[EYE], second=False),
    case("a power of zero", lambda a: tp.linalg.matrix_power(a, 3), zeros(2, 2), gradients=[0]),
    case("the exponential of zero", tp.linalg.matrix_exp, zeros(2, 2), gradients=[1]),
    # --- repeated indices ---
    case("gather", lambda x: x.gather(0, tp.tensor([1, 1, 0])), [5, 6, 7], gradients=[[1, 2, 0]]),
    case("take", lambda x: x.take(tp.tensor([2, 2, 2])), [5, 6, 7], gradients=[[0, 0, 3]]),
    case("indexing", lambda x: x[tp.tensor([0, 0, 1])], [5, 6], gradients=[[2, 1]]),
    case("index_select", lambda x: x.index_select(0, tp.tensor([0, 0])), [5, 6],
         gradients=[[2, 0]]),
    case("embedding", lambda w: F.embedding(tp.tensor([1, 1, 0]), w), [[1, 2], [3, 4]],
         gradients=[[[1, 1], [2, 2]]]),
    case("index_put accumulates", lambda x, v: x.index_put((tp.tensor([0, 0]),), v, True) ** 2,
         [1, 2], [3, 4], gradients=[[16, 4], [16, 16]]),
    case("index_put overwrites", lambda x, v: x.index_put((tp.tensor([0, 0]),), v) ** 2,
         [1, 2], [3, 4], gradients=[[0, 4], [0, 8]]),
    case("scatter_add with a smaller index",
         lambda x, s: x.scatter_add(0, tp.tensor([0, 0]), s) ** 2, [1, 2], [3, 4, 9],
         gradients=[[16, 4], [16, 16, 0]]),
    case("scatter with a smaller index", lambda x, s: x.scatter(0, tp.tensor([1]), s) ** 2,
         [1, 2], [3, 4], gradients=[[2, 0], [6, 0]]),
    case("gather with a smaller index", lambda x: x.gather(1, tp.tensor([[1]])), [[1, 2], [3, 4]],
         gradients=[[[0, 1], [0, 0]]]),
    case("scatter_reduce of products with zeros",
         lambda x, s: x.scatter_reduce(0, tp.tensor([0, 0]), s, "prod"), [2, 1], [0, 3],
         gradients=[[0, 1], [6, 0]]),
    # --- dims of size one and zero ---
    case("a sum of nothing", lambda x: x.sum(0), zeros(0, 2), gradients=[zeros(0, 2)]),
    case("a product of nothing", lambda x: x.prod(), zeros(0), gradients=[zeros(0)]),
    case("no rows times columns", lambda x, y: x @ y, zeros(0, 2), np.ones((2, 3)),
         gradients=[zeros(0, 2), 0]),
    case("rows times no columns", lambda x, y: x @ y, np.ones((2, 0)), np.ones((0, 3)),
         gradients=[zeros(2, 0), zeros(0, 3)]),
    case("one element along a dim", lambda x: x.softmax(1), [[3.0]], gradients=[0]),
    case("var of one element", lambda x: x.var(0, correction=0), [[3.0, 4.0]], gradients=[0]),
    case("broadcast over nothing", lambda x, y: x + y, zeros(0, 1), [[1.0, 2.0]],
         gradients=[zeros(0, 1), 0]),
    case("cat with nothing", lambda x, y: tp.cat([x, y]) ** 2, zeros(0, 2), [[1, 2]],
         gradients=[zeros(0, 2), [[2, 4]]]),
]  # fmt: skip


def leaves(arrays):
    return [tp.tensor(a, requires_grad=True) for a in arrays]


def gradient(function, xs, create_graph=False):
    """The gradient of the sum of a function; zeros for inputs that it does not depend on."""
    out = function(*xs).sum()
    found = tp.autograd.grad(out, xs, create_graph=create_graph, allow_unused=True)
    return [tp.zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True)]


@pytest.mark.parametrize("function, arrays, wanted, second", CASES)
def test_reverse(function, arrays, wanted, second):
    for g, expected in zip(gradient(function, leaves(arrays)), wanted, strict=True):
        np.testing.assert_allclose(g.numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function, arrays, wanted, second", CASES)
def test_forward(function, arrays, wanted, second):
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=a.shape) for a in arrays]
    _, tangent = tp.func.jvp(
        lambda *xs: function(*xs).sum(),
        tuple(tp.tensor(a) for a in arrays),
        tuple(tp.tensor(d) for d in directions),
    )
    expected = sum((g * d).sum() for g, d in zip(wanted, directions, strict=True))
    np.testing.assert_allclose(tangent.item(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function, arrays, wanted, second", CASES)
def test_batched(function, arrays, wanted, second):
    """Per-sample gradients of three copies."""
    count = tuple(range(len(arrays)))
    each = tp.func.vmap(tp.func.grad(lambda *xs: function(*xs).sum(), argnums=count))
    stacked = [tp.tensor(np.stack([a] * 3)) for a in arrays]
    for g, expected in zip(each(*stacked), wanted, strict=True):
        for i in range(3):
            np.testing.assert_allclose(g[i].numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function, arrays, wanted, second", [c for c in CASES if c.values[3]])
def test_second_derivatives(function, arrays, wanted, second):
    """Reverse over reverse is finite, and what forward over reverse says."""
    rng = np.random.default_rng(1)
    directions = [rng.normal(size=a.shape) for a in arrays]
    xs = leaves(arrays)
    first = gradient(function, xs, create_graph=True)
    paired = sum((g * tp.tensor(d)).sum() for g, d in zip(first, directions, strict=True))
    found = [None] * len(xs)
    if paired.requires_grad:
        found = tp.autograd.grad(paired, xs, allow_unused=True)
    count = tuple(range(len(arrays)))
    _, forward = tp.func.jvp(
        tp.func.grad(lambda *vs: function(*vs).sum(), argnums=count),
        tuple(tp.tensor(a) for a in arrays),
        tuple(tp.tensor(d) for d in directions),
    )
    for a, b, x in zip(found, forward, xs, strict=True):
        a = np.zeros(x.shape) if a is None else a.numpy()
        assert np.isfinite(a).all()
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-7, atol=1e-10)


# --- layouts --------------------------------------------------------------------------------------

LAYOUTS = {
    "contiguous": lambda a: tp.tensor(a),
    "transposed": lambda a: tp.tensor(np.ascontiguousarray(a.T)).T,
    "reversed": lambda a: tp.from_numpy(np.ascontiguousarray(a[::-1])[::-1]),
    "every second": lambda a: tp.from_numpy(np.repeat(a, 2, -1))[..., ::2],
    "broadcast": lambda a: tp.tensor(a[:1]).expand(a.shape),
}

FUNCTIONS = [
    lambda x: x.cumsum(0), lambda x: x.softmax(1), lambda x: x.sort(1)[0], lambda x: x @ x.T,
    lambda x: x.amax(1), lambda x: x.norm(dim=0), lambda x: F.layer_norm(x, (4,)),
    lambda x: x.flip(0), lambda x: x[:, tp.tensor([0, 0, 2])], lambda x: x.sin() * x,
    lambda x: tp.fft.rfft(x).abs(), lambda x: F.conv1d(x.unsqueeze(0), tp.ones(2, 3, 2).double()),
    lambda x: F.max_pool1d(x.unsqueeze(0), 2), lambda x: x.masked_select(x > 0.3),
    lambda x: tp.linalg.pinv(x[:, :3]), lambda x: x.prod(1), lambda x: x.logsumexp(0),
    lambda x: tp.cat([x, x], 1), lambda x: F.gelu(x), lambda x: x.index_add(0, tp.tensor([0, 0]),
                                                                           x[:2]),
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_layouts_do_not_matter(layout, number):
    rng = np.random.default_rng(2)
    array = rng.uniform(0.1, 1, (3, 4)) + np.eye(3, 4)
    if layout == "broadcast":
        array[:] = array[:1]
    function = FUNCTIONS[number]
    if layout == "broadcast" and number == 14:
        pytest.skip("the pseudoinverse is not smooth where all rows are equal")
    x = LAYOUTS[layout](array).requires_grad_()
    y = tp.tensor(array, requires_grad=True)
    a, b = function(x), function(y)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-12)
    weights = tp.tensor(rng.normal(size=tuple(b.shape)))
    (g,) = tp.autograd.grad((a * weights).sum(), x)
    (h,) = tp.autograd.grad((b * weights).sum(), y)
    np.testing.assert_allclose(g.numpy(), h.numpy(), atol=1e-11)


# --- mixed dtypes ---------------------------------------------------------------------------------

REAL = (tp.float16, tp.bfloat16, tp.float32, tp.float64)
BINARY = [
    tp.add, tp.sub, tp.mul, tp.div, tp.maximum, tp.hypot, tp.atan2, tp.pow,
    tp.logaddexp, lambda x, y: tp.where(x > y, x, y), lambda x, y: tp.cat([x, y]),
    lambda x, y: tp.stack([x, y]), tp.xlogy, tp.fmod, tp.copysign,
]  # fmt: skip


@pytest.mark.parametrize("a, b", [p for p in itertools.product(REAL, REAL) if p[0] is not p[1]])
@pytest.mark.parametrize("number", range(len(BINARY)))
def test_each_input_has_a_gradient_of_its_own_dtype(a, b, number):
    x = tp.tensor([1.5, 2.0], dtype=a, requires_grad=True)
    y = tp.tensor([2.5, 1.0], dtype=b, requires_grad=True)
    out = BINARY[number](x, y)
    assert out.dtype is tp.promote_types(a, b)
    out.sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (a, b)
    with tp.autograd.forward_ad.dual_level():
        made = BINARY[number](
            tp.autograd.forward_ad.make_dual(x.detach(), tp.ones(2, dtype=a)), y.detach()
        )
        tangent = tp.autograd.forward_ad.unpack_dual(made).tangent
        assert tangent.dtype is out.dtype


@pytest.mark.parametrize("function", [
    tp.add, tp.mul, tp.div, tp.pow, lambda x, y: x @ y, lambda x, y: tp.cat([x, y]),
    lambda x, y: tp.where(tp.tensor([True, False]), x, y),
])  # fmt: skip
def test_real_inputs_of_complex_operations_have_real_gradients(function):
    x = tp.tensor([1.5, 2.0], dtype=tp.float64, requires_grad=True)
    y = tp.tensor([1.0 + 2j, 0.5 - 1j], requires_grad=True, dtype=tp.complex128)
    if function(x.detach().to(y.dtype), y).shape == ():
        out = function(x.to(y.dtype), y)
    else:
        out = function(x, y)
    out.abs().sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (tp.float64, tp.complex128)
    step = 1e-6
    for i in range(2):
        moved = np.array([1.5, 2.0])
        ends = []
        for sign in (1, -1):
            moved[i] += sign * step
            value = tp.tensor(moved.copy())
            with tp.no_grad():
                ends.append(function(value.to(y.dtype), y).abs().sum().item())
            moved[i] -= sign * step
        assert x.grad[i].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("function", [
    tp.abs, tp.real, tp.imag, tp.angle, tp.view_as_real, lambda z: (z * z.conj()).real,
    lambda z: z.norm(), lambda z: tp.linalg.vector_norm(z), lambda z: z.var(),
])  # fmt: skip
def test_complex_inputs_of_real_functions_have_complex_gradients(function):
    z = tp.tensor([1.0 + 2j, -0.5 + 1j], dtype=tp.complex128, requires_grad=True)
    out = function(z)
    assert out.dtype is tp.float64
    out.sum().backward()
    assert z.grad.dtype is tp.complex128
    step = 1e-6
    for i, way in itertools.product(range(2), (1, 1j)):
        move = np.zeros(2, complex)
        move[i] = way * step
        with tp.no_grad():
            up, down = (function(z.detach() + tp.tensor(m)).sum().item() for m in (move, -move))
        along = (z.grad[i].item() * np.conj(way)).real
        assert along == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-8)
