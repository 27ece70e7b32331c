"""The loops that standardise rows, of every instruction set, against float64 in NumPy."""

import ctypes

import numpy as np
import pytest

from tensorplay._core import core

POINTER, SIZE = ctypes.c_void_p, ctypes.c_int64
RUN = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, POINTER, SIZE, SIZE, ctypes.c_double)


class Loop(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("f32", POINTER), ("f64", POINTER)]


class Kernels(ctypes.Structure):
    _fields_ = [("isa", ctypes.c_char_p)]
    _fields_ += [(k, POINTER) for k in ("unary", "binary", "reduce", "row", "row2", "f32", "f64")]
    _fields_ += [("norm", ctypes.POINTER(Loop))]


library = ctypes.CDLL(core.__file__)
library.tensorplay_kernels.restype = ctypes.POINTER(Kernels)
library.tensorplay_kernels.argtypes = [ctypes.c_char_p]
TABLES = [isa for isa in ("baseline", "avx2", "avx512") if library.tensorplay_kernels(isa.encode())]
SIZES = [(1, 1), (3, 5), (2, 64), (7, 100), (4, 1000), (200, 512), (2, 5000)]
EPS = 0.01


def loop(isa, name, dtype):
    table = library.tensorplay_kernels(isa.encode()).contents.norm
    i = 0
    while table[i].name != name.encode():
        i += 1
    return RUN(table[i].f32 if dtype == np.float32 else table[i].f64)


def run(function, a, b, c, size, rows, cols):
    out = np.full(size, np.nan, a.dtype)
    pointers = [None if x is None else x.ctypes.data for x in (a, b, c)]
    function(*pointers, out.ctypes.data, rows, cols, EPS)
    return out


@pytest.fixture(params=SIZES, ids=str)
def arrays(request):
    rows, cols = request.param
    rng = np.random.default_rng(0)
    x, v = rng.normal(3, 2, (rows, cols)), rng.normal(size=(rows, cols))
    return x, v, rng.normal(size=cols), rng.normal(size=cols)


def standardized(x):
    r = 1 / np.sqrt(x.var(1, keepdims=True) + EPS)
    return (x - x.mean(1, keepdims=True)) * r, r


def check(actual, expected, dtype):
    tolerance = 2e-4 if dtype == np.float32 else 1e-10
    scale = np.abs(expected).max() + 1
    np.testing.assert_allclose(actual, expected.ravel(), rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("isa", TABLES)
class TestEveryInstructionSet:
    def cast(self, dtype, *values):
        return [np.ascontiguousarray(x.astype(dtype)) for x in values]

    @pytest.mark.parametrize("with_w", [False, True])
    @pytest.mark.parametrize("with_b", [False, True])
    def test_standardize(self, isa, dtype, arrays, with_w, with_b):
        x, _, w, b = self.cast(dtype, *arrays)
        w, b = w if with_w else None, b if with_b else None
        out = run(loop(isa, "standardize", dtype), x, w, b, x.size, *x.shape)
        expected = standardized(arrays[0])[0]
        expected = expected * arrays[2] if with_w else expected
        check(out, expected + arrays[3] if with_b else expected, dtype)

    @pytest.mark.parametrize("with_w", [False, True])
    def test_input(self, isa, dtype, arrays, with_w):
        x, v, w, _ = self.cast(dtype, *arrays)
        w = w if with_w else None
        out = run(loop(isa, "standardize_input", dtype), v, x, w, x.size, *x.shape)
        check(out, self.by_input(arrays, with_w), dtype)

    def by_input(self, arrays, with_w=True):
        x, v, w, _ = arrays
        h, r = standardized(x)
        u = v * w if with_w else v
        return r * (u - u.mean(1, keepdims=True) - h * (u * h).mean(1, keepdims=True))

    def test_weight(self, isa, dtype, arrays):
        x, v, _, _ = self.cast(dtype, *arrays)
        out = run(loop(isa, "standardize_weight", dtype), v, x, None, x.shape[1], *x.shape)
        check(out, (arrays[1] * standardized(arrays[0])[0]).sum(0), dtype)

    def test_backward(self, isa, dtype, arrays):
        x, v, w, _ = self.cast(dtype, *arrays)
        rows, cols = x.shape
        out = run(loop(isa, "standardize_backward", dtype), v, x, w, x.size + 2 * cols, rows, cols)
        check(out[: x.size], self.by_input(arrays), dtype)
        check(out[x.size : x.size + cols], (arrays[1] * standardized(arrays[0])[0]).sum(0), dtype)
        check(out[x.size + cols :], arrays[1].sum(0), dtype)


def test_the_result_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    x, v, w = (rng.normal(size=s).astype(np.float32) for s in ((600, 300), (600, 300), (300,)))
    kernel = core.NormKernel("standardize_backward", 2, 2, True)
    before = core.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            core.set_num_threads(threads)
            results.append(kernel(v, x, w, 300, EPS))
    finally:
        core.set_num_threads(before)
    assert all((r == results[0]).all() for r in results)


def test_what_the_loops_do_not_take_is_left_to_numpy():
    kernel = core.NormKernel("standardize", 1)
    x = np.ones((4, 6), np.float32)
    assert kernel(x[:, ::2], None, None, 3, EPS) is None
    assert kernel(x.astype(np.float16), None, None, 6, EPS) is None
    assert kernel(x, np.ones(6), None, 6, EPS) is None
    assert kernel(x, np.ones(5, np.float32), None, 6, EPS) is None
    assert kernel(x[:0], None, None, 6, EPS) is None
