"""The compiled loops against NumPy and SciPy, for every instruction set this processor has."""

import ctypes
import itertools
import math

import numpy as np
import pytest
import scipy.special as special

import tensorplay._core.core as core

ADDRESS, SIZE, INT, NAME = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_char_p


class Loop(ctypes.Structure):
    _fields_ = [("name", NAME), ("f32", ADDRESS), ("f64", ADDRESS)]


class Kernels(ctypes.Structure):
    _fields_ = [("isa", NAME)]
    _fields_ += [(k, ctypes.POINTER(Loop)) for k in ("unary", "binary", "reduce", "row", "row2")]
    _fields_ += [("gemm_f32", ADDRESS), ("gemm_f64", ADDRESS)]


library = ctypes.CDLL(core.__file__)
library.tensorplay_kernels.restype = ctypes.POINTER(Kernels)
library.tensorplay_kernels.argtypes = [NAME]
TABLES = {
    isa: library.tensorplay_kernels(isa.encode())
    for isa in ("baseline", "avx2", "avx512")
    if library.tensorplay_kernels(isa.encode())
}
SIGNATURES = {
    "unary": (ADDRESS, ADDRESS, SIZE),
    "binary": (ADDRESS, ADDRESS, ADDRESS, SIZE, SIZE, INT),
    "reduce": (ADDRESS, ADDRESS, SIZE, SIZE, SIZE),
    "row": (ADDRESS, ADDRESS, SIZE, SIZE, SIZE),
    "row2": (ADDRESS, ADDRESS, ADDRESS, SIZE, SIZE, SIZE),
}
SAME, SCALAR_B, SCALAR_A, ROW_B, ROW_A, COL_B, COL_A = range(7)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # those of the references


def loops(kernels, kind):
    """The named entries of one list of the table."""
    table = getattr(kernels.contents, kind)
    entries = itertools.takewhile(
        lambda entry: entry.name, map(table.__getitem__, itertools.count())
    )
    return {entry.name.decode(): entry for entry in entries}


def call(isa, kind, name, dtype, *args):
    entry = loops(TABLES[isa], kind)[name]
    function = ctypes.CFUNCTYPE(None, *SIGNATURES[kind])(
        entry.f32 if dtype == np.float32 else entry.f64
    )
    function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in args))


def unary(isa, name, x):
    out = np.empty_like(x)
    call(isa, "unary", name, x.dtype, x, out, x.size)
    return out


def binary(isa, name, a, b, layout=SAME):
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    rows, cols = (1, out.size) if out.ndim < 2 else out.shape
    call(isa, "binary", name, a.dtype, a, b, out, rows, cols, layout)
    return out


def reduce(isa, name, x):
    out = np.empty((x.shape[0], x.shape[2]), x.dtype)
    call(isa, "reduce", name, x.dtype, x, out, *x.shape)
    return out


def logistic(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": lambda x: special.erf(x.astype(float)),
    "erfc": lambda x: special.erfc(x.astype(float)),
    "sigmoid": logistic,
    "softplus": lambda x: np.where(x > 20, x, np.logaddexp(x, 0)),
    "silu": lambda x: x * logistic(x),
    "gelu": lambda x: x * special.ndtr(x.astype(float)),
    "gelu_tanh": lambda x: x * logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "neg": np.negative,
    "round": np.rint,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": np.power,
    "atan2": np.arctan2,
}
# SciPy's own error, or an argument whose rounding the function magnifies, in units in the last
# place; plus an absolute error at the scale of the smallest numbers, where a factor underflows.
LOOSE = {"erfc": 5000, "sigmoid": 8, "softplus": 8, "silu": 8, "gelu": 5000, "gelu_tanh": 5000}

isas = pytest.mark.parametrize("isa", TABLES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def samples(dtype, seed=0):
    """Edges of the type, every magnitude, and the usual range."""
    rng = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    tiny, least = limits.tiny, limits.smallest_subnormal
    edges = [0, math.inf, limits.max, tiny, least, tiny / 3, 1, 1 + limits.eps, 1 - limits.eps / 2]
    edges += [0.5, 1.5, 2.5, 9, 20, 88.72, 88.8, 103.9, 104.1, 127, 128, 149, 150, 709.7, 709.8]
    edges += [745.1, 745.2, 1023, 1024, 1074, 1075, 1e4, 1e10, 1e22, 1e30]
    edges = np.array(edges, dtype)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    anything = rng.integers(0, np.iinfo(bits).max, 5000, dtype=bits).view(dtype)
    anything[np.isnan(anything)] = np.nan  # no signalling ones
    usual = [scale * rng.normal(size=3000) for scale in (1e-3, 1, 20, 1000)]
    nan = np.array([np.nan], dtype)
    return np.concatenate([edges, -edges, nan, anything, *usual], dtype=dtype, casting="same_kind")


def assert_close(got, want, name):
    """`got` is within a few units in the last place of `want`, a result in higher precision."""
    rounded = want.astype(got.dtype)
    finite = np.isfinite(rounded) & np.isfinite(got)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    assert (same | finite).all(), f"{name}: {got[~(same | finite)]} {want[~(same | finite)]}"
    error = np.abs(got[finite].astype(want.dtype) - want[finite])
    slack = 1000 * np.finfo(got.dtype).tiny if name in LOOSE else 0
    bound = LOOSE.get(name, 4) * np.spacing(np.abs(rounded[finite])) + slack
    assert (error <= bound).all(), f"{name}: {np.max(error / bound)} of the allowed error"


def higher(x):
    return x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)


def test_there_is_a_table_for_this_processor():
    assert core.instruction_set() in TABLES
    assert "baseline" in TABLES


@isas
@dtypes
def test_unary_everywhere(isa, dtype):
    x = samples(dtype)
    for name in loops(TABLES[isa], "unary"):
        reference = UNARY.get(name) or getattr(np, name)
        assert_close(unary(isa, name, x), reference(higher(x)), name)


@isas
@dtypes
def test_binary_everywhere(isa, dtype):
    a, b = samples(dtype, 1), np.random.default_rng(2).permutation(samples(dtype, 3))
    edges = samples(dtype)[:70]
    x, y = (grid.ravel() for grid in np.meshgrid(edges, edges))
    a, b = np.concatenate([a, np.abs(a), x]), np.concatenate([b, b, y])
    for name, reference in BINARY.items():
        assert_close(binary(isa, name, a, b), reference(higher(a), higher(b)), name)


@isas
@dtypes
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 4), (7, 33), (500, 300), (0, 4), (4, 0)])
def test_layouts(isa, dtype, shape):
    rng = np.random.default_rng(4)
    rows, cols = shape
    full, scalar, row, col = (rows, cols), (1, 1), (1, cols), (rows, 1)
    pairs = [(full, full), (full, scalar), (scalar, full), (full, row), (row, full)]
    pairs += [(full, col), (col, full)]
    for layout, (left, right) in enumerate(pairs):
        a = rng.uniform(0.1, 2, size=left).astype(dtype)
        b = rng.uniform(0.1, 2, size=right).astype(dtype)
        for name in ("sub", "div", "pow", "atan2"):
            out = np.empty(shape, dtype)
            call(isa, "binary", name, dtype, a, b, out, rows, cols, layout)
            assert_close(out, BINARY[name](higher(a), higher(b)), name)


@isas
@dtypes
@pytest.mark.parametrize("exponent", [2, 3, 1, 0.5, -1, 0, -2, 1.5])
def test_power_of_a_constant(isa, dtype, exponent):
    x, b = samples(dtype), np.array([exponent], dtype)
    want = np.sqrt(higher(x)) if exponent == 0.5 else np.power(higher(x), exponent)
    assert_close(binary(isa, "pow", x, b, SCALAR_B), want, "pow")


@isas
@dtypes
def test_value_does_not_depend_on_the_place_and_may_replace_the_input(isa, dtype):
    x = np.random.default_rng(5).normal(size=40).astype(dtype)
    for name in ("exp", "tanh", "square"):
        whole = unary(isa, name, x)
        for n in range(len(x)):
            buffer = np.append(x[:n], dtype(7))
            call(isa, "unary", name, dtype, buffer, buffer, n)
            np.testing.assert_array_equal(buffer[:n], whole[:n])
            assert buffer[n] == 7


@isas
@dtypes
def test_backward_loops_are_the_derivatives(isa, dtype):
    x = np.linspace(-6, 6, 997)
    g = np.random.default_rng(6).normal(size=997)
    step, tolerance = 1e-6, 1e-7 if dtype == np.float64 else 3e-6
    for name in ("tanh", "sigmoid", "relu", "abs", "softplus", "silu", "gelu", "gelu_tanh"):
        slope = unary(isa, name, x + step) - unary(isa, name, x - step)
        saved = unary(isa, name, x) if name in ("tanh", "sigmoid", "relu") else x
        got = binary(isa, name + "_backward", g.astype(dtype), saved.astype(dtype))
        regular = (x != 0) | (name not in ("relu", "abs"))
        want = g * slope / (2 * step)
        np.testing.assert_allclose(got[regular], want[regular], atol=tolerance, rtol=tolerance)
    zero, one = np.zeros(1, dtype), np.ones(1, dtype)
    assert binary(isa, "relu_backward", one, zero) == 0
    assert binary(isa, "abs_backward", one, zero) == 0


REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
    "logsumexp": lambda x, axis: special.logsumexp(x.astype(float), axis=axis),
}


@isas
@dtypes
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (1, 7, 1), (1, 5000, 1), (1, 300001, 1), (3, 5, 1), (900, 100, 1), (1, 900, 100)]
    + [(4, 7, 9), (50, 30, 300), (1, 70, 3), (3, 1, 4), (2, 65, 257), (2, 3000, 3), (0, 3, 1)],
)
def test_reductions(isa, dtype, shape):
    x = np.random.default_rng(7).normal(size=shape).astype(dtype)
    for name, reference in REDUCTIONS.items():
        y = 1 + x * dtype(1e-3) if name == "prod" else x
        want = reference(higher(y), axis=1)
        # The errors of a product of n factors add up, in any order.
        tolerance = (1000 if name == "prod" else 100) * np.finfo(dtype).eps
        np.testing.assert_allclose(
            reduce(isa, name, y), want.astype(float), tolerance, tolerance, err_msg=name
        )
        if y.size:
            y = y.copy()
            y.flat[y.size // 2] = np.nan
            assert np.isnan(reduce(isa, name, y)).sum() == 1, name


@isas
@dtypes
@pytest.mark.parametrize("shape", [(2, 0, 1), (1, 0, 2)])
def test_reductions_of_nothing(isa, dtype, shape):
    for name, want in {"sum": 0, "prod": 1, "mean": np.nan, "logsumexp": -np.inf}.items():
        np.testing.assert_array_equal(reduce(isa, name, np.empty(shape, dtype)).ravel(), want)


@isas
@pytest.mark.parametrize("shape", [(1, 1000000, 1), (1, 100000, 10)])
def test_float32_sums_are_accurate(isa, shape):
    x = np.random.default_rng(8).uniform(0.1, 1, size=shape).astype(np.float32)
    exact = x.astype(float).sum(axis=1)
    np.testing.assert_allclose(reduce(isa, "sum", x), exact, 2 * np.finfo(np.float32).eps)


@isas
@dtypes
def test_logsumexp_of_infinities(isa, dtype):
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [-inf, 3], [800, 800]], dtype)
    want = [-inf, inf, 3, 800 + math.log(2)]
    np.testing.assert_allclose(reduce(isa, "logsumexp", x[:, :, None])[:, 0], want, 1e-6)
    sideways = np.ascontiguousarray(x.T)[None]
    np.testing.assert_allclose(reduce(isa, "logsumexp", sideways)[0], want, 1e-6)


@isas
@dtypes
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (3, 5, 1), (4, 10, 1), (5, 33, 1), (300, 500, 1), (20, 3000, 1), (2, 9000, 1)]
    + [(0, 3, 1), (2, 3, 5), (1, 70, 3), (3, 5, 300), (2, 1, 257), (1, 9, 16)],
)
def test_softmax_and_backward(isa, dtype, shape):
    rng = np.random.default_rng(9)
    x, g = (5 * rng.normal(size=shape)).astype(dtype), rng.normal(size=shape).astype(dtype)
    y, log_y, back = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    close = {"rtol": 100 * np.finfo(dtype).eps, "atol": 300 * np.finfo(dtype).eps}
    call(isa, "row", "softmax", dtype, x, y, *shape)
    np.testing.assert_allclose(y, special.softmax(x.astype(float), 1), **close)
    call(isa, "row", "log_softmax", dtype, x, log_y, *shape)
    np.testing.assert_allclose(log_y, special.log_softmax(x.astype(float), 1), **close)
    call(isa, "row2", "softmax_backward", dtype, g, y, back, *shape)
    np.testing.assert_allclose(back, y * (g - (higher(g) * y).sum(1, keepdims=True)), **close)
    call(isa, "row2", "log_softmax_backward", dtype, g, log_y, back, *shape)
    want = g - np.exp(higher(log_y)) * higher(g).sum(1, keepdims=True)
    np.testing.assert_allclose(back, want.astype(float), **close)


@isas
@dtypes
def test_softmax_of_infinities(isa, dtype):
    inf, nan = np.inf, np.nan
    x = np.array([[-inf, -inf], [inf, 1], [-inf, 3], [1000, 1000], [nan, 1]], dtype)
    want = [[nan, nan], [nan, nan], [0, 1], [0.5, 0.5], [nan, nan]]
    out = np.empty_like(x)
    call(isa, "row", "softmax", dtype, x, out, *x.shape, 1)
    np.testing.assert_array_equal(out, want)
    sideways, out = np.ascontiguousarray(x.T), np.empty(x.T.shape, dtype)
    call(isa, "row", "softmax", dtype, sideways, out, 1, *sideways.shape)
    np.testing.assert_array_equal(out.T, want)


@isas
@dtypes
def test_probabilities_from_the_smallest_to_the_largest(isa, dtype):
    # exp of what is far below the maximum: 0 instead of a subnormal number, never anything else.
    x = -np.linspace(0, 120 if dtype == np.float32 else 800, 3000).astype(dtype)
    out = np.empty_like(x)
    call(isa, "row", "softmax", dtype, x, out, 1, len(x), 1)
    want = special.softmax(higher(x).astype(float))
    tiny = np.finfo(dtype).tiny
    np.testing.assert_allclose(out, want, 30 * np.finfo(dtype).eps, tiny)
    assert (out >= 0).all() and out[-1] == 0


def arranged(rng, rows, cols, dtype, how):
    """A rows x cols matrix with contiguous rows, contiguous columns, or gaps everywhere."""
    if how == "rows":
        return rng.normal(size=(rows, cols)).astype(dtype)
    if how == "columns":
        return rng.normal(size=(cols, rows)).astype(dtype).T
    return rng.normal(size=(rows, 2 * cols + 1)).astype(dtype)[:, ::2][:, :cols]


@isas
@dtypes
@pytest.mark.parametrize("left", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("right", ["rows", "columns", "gaps"])
def test_matrix_product(isa, dtype, left, right):
    rng = np.random.default_rng(10)
    table = TABLES[isa].contents
    matrix = (ADDRESS, SIZE, SIZE)
    signature = ctypes.CFUNCTYPE(None, *matrix, *matrix, ADDRESS, SIZE, SIZE, SIZE)
    gemm = signature(table.gemm_f32 if dtype == np.float32 else table.gemm_f64)
    sizes = itertools.product((1, 3, 4, 9), (1, 2, 3, 4, 7, 10, 16, 33), (0, 1, 5, 65))
    for m, n, k in [*sizes, (64, 64, 64), (70, 130, 140)]:
        a, b = arranged(rng, m, k, dtype, left), arranged(rng, k, n, dtype, right)
        c = np.full((m, n), 9, dtype)
        strides = [s // c.itemsize for s in (*a.strides, *b.strides)]
        gemm(a.ctypes.data, *strides[:2], b.ctypes.data, *strides[2:], c.ctypes.data, m, n, k)
        tolerance = 100 * np.finfo(dtype).eps
        want = (higher(a) @ higher(b)).astype(float)
        np.testing.assert_allclose(c, want, tolerance, tolerance, err_msg=f"{m}x{n}x{k}")


@dtypes
def test_threads_do_not_change_results(dtype):
    x = np.random.default_rng(11).normal(size=300001).astype(dtype)
    isa, before = core.instruction_set(), core.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            core.set_num_threads(count)
            total = reduce(isa, "sum", x.reshape(1, -1, 1))
            results.append([unary(isa, "exp", x), binary(isa, "add", x, x), total])
    finally:
        core.set_num_threads(before)
    for result in results[1:]:
        for got, want in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(got, want)
