"""The loops of images, casts and maps, of every instruction set, against NumPy in float64."""

import ctypes
import itertools

import ml_dtypes
import numpy as np
import pytest
import scipy.special as special

from tensorplay._core import core

POINTER, SIZE, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Loop(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("f32", POINTER), ("f64", POINTER)]


class Geometry(ctypes.Structure):
    _fields_ = [(name, SIZE * 3) for name in ("size", "kernel", "stride", "low", "dilation", "out")]


class Kernels(ctypes.Structure):
    _fields_ = [("isa", ctypes.c_char_p)]
    _fields_ += [(k, POINTER) for k in ("unary", "binary", "reduce", "row", "row2")]
    _fields_ += [(k, POINTER) for k in ("gemm_f32", "gemm_f64", "norm", "compare")]
    _fields_ += [("map", ctypes.POINTER(Loop))]
    _fields_ += [
        (k, POINTER)
        for k in ("half_from_float", "float_from_half", "bfloat_from_float", "float_from_bfloat")
    ]
    _fields_ += [(k, POINTER) for k in ("channels_f32", "channels_f64")]
    _fields_ += [
        (k, POINTER) for k in ("windows_f32", "add_windows_f32", "windows_f64", "add_windows_f64")
    ]
    _fields_ += [("single_f32", POINTER), ("single_f64", POINTER)]


library = ctypes.CDLL(core.__file__)
library.tensorplay_kernels.restype = ctypes.POINTER(Kernels)
library.tensorplay_kernels.argtypes = [ctypes.c_char_p]
ISAS = [isa for isa in ("baseline", "avx2", "avx512") if library.tensorplay_kernels(isa.encode())]

isas = pytest.mark.parametrize("isa", ISAS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # those of the references


def table(isa):
    return library.tensorplay_kernels(isa.encode()).contents


def of_type(isa, name, dtype, *arguments):
    address = getattr(table(isa), name + ("_f32" if dtype == np.float32 else "_f64"))
    return ctypes.CFUNCTYPE(None, *arguments)(address)


def data(x):
    return None if x is None else x.ctypes.data


def close(actual, expected, dtype, factor=1):
    tolerance = factor * (2e-4 if dtype == np.float32 else 1e-10)
    scale = np.abs(expected).max(initial=0) + 1
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


# --- casts ----------------------------------------------------------------------------------------


def cast(isa, name, x, out):
    function = ctypes.CFUNCTYPE(None, POINTER, POINTER, SIZE)(getattr(table(isa), name))
    function(x.ctypes.data, out.ctypes.data, x.size)
    return out


@isas
@pytest.mark.parametrize(
    "name, half", [("half", np.float16), ("bfloat", ml_dtypes.bfloat16)], ids=["half", "bfloat"]
)
def test_casts_are_numpys_bit_for_bit(isa, name, half):
    every = np.arange(1 << 16, dtype=np.uint16).view(half)
    wide = cast(isa, f"float_from_{name}", every, np.empty(every.shape, np.float32))
    np.testing.assert_array_equal(wide, every.astype(np.float32))
    # Each half, what lies between two of them (ties), its neighbours, and any bits at all.
    numbers = wide[np.isfinite(wide)]
    between = (np.sort(numbers)[1:] + np.sort(numbers)[:-1]) / 2
    bits = np.random.default_rng(0).integers(0, 1 << 32, 100_001, dtype=np.uint32)
    x = np.concatenate(
        [wide, between, np.nextafter(between, np.float32(0)), bits.view(np.float32)]
    ).astype(np.float32)
    narrow = cast(isa, f"{name}_from_float", x, np.empty(x.shape, half))
    expected = x.astype(half)
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(narrow.astype(np.float32)), nan)
    np.testing.assert_array_equal(narrow.view(np.uint16)[~nan], expected.view(np.uint16)[~nan])


# --- maps -----------------------------------------------------------------------------------------


def clipped(x):
    return np.clip(x + 3, 0, 6) / 6


MAPS = {
    "add_scaled": (2, (0.3,), lambda x, y, p: x + p * y),
    "sub_scaled": (2, (0.3,), lambda x, y, p: x - p * y),
    "lerp": (2, (0.7,), lambda x, y, p: x + p * (y - x)),
    "addcmul": (3, (0.3,), lambda x, y, z, p: x + p * y * z),
    "addcdiv": (3, (0.3,), lambda x, y, z, p: x + p * y / z),
    "elu": (1, (0.5, 1.5, 2.0), lambda x, a, s, i: s * np.where(x > 0, x, a * np.expm1(x * i))),
    "elu_backward": (
        2,
        (0.5, 1.5, 2.0),
        lambda g, x, a, s, i: g * s * np.where(x > 0, 1, a * i * np.exp(x * i)),
    ),
    "leaky_relu": (1, (0.2,), lambda x, p: np.where(x > 0, x, p * x)),
    "hardtanh": (1, (-0.5, 0.7), np.clip),
    "hardsigmoid": (1, (), clipped),
    "hardswish": (1, (), lambda x: x * clipped(x)),
    "hardswish_backward": (
        2,
        (),
        lambda g, x: g * np.where(x <= -3, 0, np.where(x < 3, x / 3 + 0.5, 1)),
    ),
    "softshrink": (1, (0.5,), lambda x, p: np.sign(x) * np.maximum(np.abs(x) - p, 0)),
    "hardshrink": (1, (0.5,), lambda x, p: np.where(np.abs(x) > p, x, 0)),
    "threshold": (1, (0.5, 7.0), lambda x, p, q: np.where(x > p, x, q)),
    "softplus": (1, (2.0, 40.0), lambda x, b, t: np.logaddexp(b * x, 0) / b),
    "softplus_backward": (2, (2.0, 40.0), lambda g, x, b, t: g * special.expit(b * x)),
    "log_sigmoid": (1, (), special.log_expit),
    "log_sigmoid_backward": (2, (), lambda g, x: g * special.expit(-x)),
    "slopes": (
        2,
        (-1.0, 2.0, 0.5, 3.0, 0.25, 0.0),
        lambda g, x, *_: g * np.where(x < -1, 0.5, np.where(x > 2, 0.25, 3)),
    ),
}


def loops(isa):
    entries = itertools.takewhile(
        lambda entry: entry.name, map(table(isa).map.__getitem__, itertools.count())
    )
    return {entry.name.decode(): entry for entry in entries}


def run_map(entry, arrays, numbers):
    dtype = arrays[0].dtype
    function = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, POINTER, SIZE, POINTER)(
        entry.f32 if dtype == np.float32 else entry.f64
    )
    out = np.empty_like(arrays[0])
    values = np.zeros(6)
    values[: len(numbers)] = numbers
    pointers = [data(x) for x in arrays] + [None] * (3 - len(arrays))
    function(*pointers, data(out), out.size, data(values))
    return out


@isas
@dtypes
@pytest.mark.parametrize("size", [1, 7, 16, 33, 70_001])
def test_every_map(isa, dtype, size):
    found = loops(isa)
    assert set(found) == set(MAPS)
    rng = np.random.default_rng(0)
    for name, (count, numbers, reference) in MAPS.items():
        arrays = [(4 * rng.normal(size=size)).astype(dtype) for _ in range(count)]
        if name == "addcdiv":
            arrays[2] = np.abs(arrays[2]) + dtype(1)
        got = run_map(found[name], arrays, numbers)
        want = reference(*[x.astype(float) for x in arrays], *numbers)
        np.testing.assert_allclose(
            got, want, 30 * np.finfo(dtype).eps, 60 * np.finfo(dtype).eps, err_msg=name
        )


@isas
@dtypes
def test_maps_of_nan_and_at_their_corners(isa, dtype):
    found, nan, inf = loops(isa), np.array([np.nan], dtype), np.array([np.inf, -np.inf], dtype)
    for name, (count, numbers, _) in MAPS.items():
        if name not in ("slopes", "hardswish_backward"):
            assert np.isnan(run_map(found[name], [nan] * count, numbers)).all(), name
    x, ones = np.array([-1.0, 2.0], dtype), np.ones(2, dtype)
    closed, strict = (-1, 2, 0.5, 3, 0.25, 0), (-1, 2, 0.5, 3, 0.25, 1)
    np.testing.assert_array_equal(run_map(found["slopes"], [ones, x], closed), [3, 3])
    np.testing.assert_array_equal(run_map(found["slopes"], [ones, x], strict), [0.5, 0.25])
    np.testing.assert_array_equal(
        run_map(found["slopes"], [inf, np.zeros(2, dtype)], (-1, 1, 1, 0, 1, 0)), [0, 0]
    )
    np.testing.assert_array_equal(run_map(found["softplus"], [inf], (1, 20)), [np.inf, 0])
    np.testing.assert_array_equal(run_map(found["log_sigmoid"], [inf], ()), [0, -np.inf])
    assert run_map(found["lerp"], [x, 10 * x], (1.0,)).tolist() == (10 * x).tolist()


# --- images standardised --------------------------------------------------------------------------

SHAPES = [(1, 4, 1), (2, 4, 3), (5, 8, 1), (70, 300, 1), (3, 4, 50), (4, 8, 784), (200, 2, 20)]


def standardized(x, groups, eps):
    samples, channels, inner = x.shape
    split = x.reshape(samples, groups or channels, -1, inner)
    axes = (2, 3) if groups else (0, 2, 3)
    r = 1 / np.sqrt(split.var(axes, keepdims=True) + eps)
    return split, (split - split.mean(axes, keepdims=True)) * r, r, axes


@isas
@dtypes
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["batch", "one", "two", "each"])
@pytest.mark.parametrize("weighted", [True, False])
def test_channels(isa, dtype, shape, kind, weighted):
    samples, channels, inner = shape
    groups = {"batch": 0, "one": 1, "two": 2, "each": channels}[kind]
    rng, eps = np.random.default_rng(0), 0.01
    x, v = rng.normal(3, 2, shape).astype(dtype), rng.normal(size=shape).astype(dtype)
    w, b = (rng.normal(size=channels).astype(dtype) if weighted else None for _ in range(2))
    function = of_type(isa, "channels", dtype, *[POINTER] * 7, SIZE, SIZE, SIZE, SIZE, REAL)
    sizes = (samples, channels, inner, groups, eps)

    def spread(values, fill):
        full = np.full(channels, fill, float) if values is None else values.astype(float)
        return full[:, None]

    split, h, r, axes = standardized(x.astype(float), groups, eps)
    out = np.empty_like(x)
    function(None, data(x), data(w), data(b), data(out), None, None, *sizes)
    close(out, h.reshape(shape) * spread(w, 1) + spread(b, 0), dtype)

    by_w, by_b = np.empty(channels, dtype), np.empty(channels, dtype)
    function(data(v), data(x), data(w), None, data(out), data(by_w), data(by_b), *sizes)
    u = (v.astype(float) * spread(w, 1)).reshape(split.shape)
    want = r * (u - u.mean(axes, keepdims=True) - h * (u * h).mean(axes, keepdims=True))
    close(out, want.reshape(shape), dtype)
    close(by_w, (v.astype(float) * h.reshape(shape)).sum((0, 2)), dtype)
    close(by_b, v.astype(float).sum((0, 2)), dtype)


# --- windows --------------------------------------------------------------------------------------

# size, kernel, stride, padding in front (and behind), dilation
WINDOWS = [
    ((1, 1, 40), (1, 1, 3), (1, 1, 1), (0, 0, 1), (1, 1, 1)),
    ((1, 9, 7), (1, 3, 2), (1, 1, 1), (0, 1, 0), (1, 1, 1)),
    ((1, 12, 35), (1, 3, 3), (1, 2, 2), (0, 1, 1), (1, 1, 1)),
    ((1, 14, 41), (1, 2, 3), (1, 3, 1), (0, 2, 4), (1, 2, 2)),
    ((4, 5, 20), (2, 3, 3), (1, 1, 3), (1, 0, 2), (2, 1, 1)),
    ((1, 5, 6), (1, 5, 6), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    ((1, 3, 3), (1, 3, 3), (1, 1, 1), (0, 4, 4), (1, 1, 1)),
]


def geometry(size, kernel, stride, low, dilation):
    out = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, low, dilation, strict=True)
    )
    return Geometry(*[(SIZE * 3)(*v) for v in (size, kernel, stride, low, dilation, out)]), out


def positions(size, kernel, stride, low, dilation, out):
    """For every element of the kernel and every output: the flat input element, or -1."""
    at = np.full((*kernel, *out), -1)
    for k in np.ndindex(*kernel):
        for o in np.ndindex(*out):
            i = tuple(
                b * s + a * d - p for a, b, s, d, p in zip(k, o, stride, dilation, low, strict=True)
            )
            if all(0 <= a < n for a, n in zip(i, size, strict=True)):
                at[(*k, *o)] = np.ravel_multi_index(i, size)
    return at


@isas
@dtypes
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_windows_and_their_transpose(isa, dtype, case):
    g, out = geometry(*case)
    at = positions(*case, out)
    rng, channels = np.random.default_rng(0), 3
    x = rng.normal(size=(channels, *case[0])).astype(dtype)
    flat = np.append(x.reshape(channels, -1), np.zeros((channels, 1), dtype), axis=1)
    matrix = np.full((channels, *at.shape), np.nan, dtype)
    arguments = POINTER, POINTER, SIZE, ctypes.POINTER(Geometry)
    of_type(isa, "windows", dtype, *arguments)(data(x), data(matrix), channels, g)
    np.testing.assert_array_equal(matrix, flat[:, at])
    y = rng.normal(size=matrix.shape).astype(dtype)
    back = np.full(x.shape, np.nan, dtype)
    of_type(isa, "add_windows", dtype, *arguments)(data(y), data(back), channels, g)
    want = np.zeros((channels, flat.shape[1]))
    for c in range(channels):
        np.add.at(want[c], at, y[c])
    close(back.reshape(channels, -1), want[:, :-1], dtype, 0.1)


@isas
@dtypes
@pytest.mark.parametrize("filters", [1, 2])
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_single_channels(isa, dtype, filters, case):
    g, out = geometry(*case)
    at = positions(*case, out)
    rng, samples, channels = np.random.default_rng(0), 2, 3
    x = rng.normal(size=(samples, channels, *case[0])).astype(dtype)
    w = rng.normal(size=(channels, filters, *case[1])).astype(dtype)
    v = rng.normal(size=(samples, channels, filters, *out)).astype(dtype)
    function = of_type(
        isa, "single", dtype, POINTER, POINTER, POINTER, SIZE, SIZE, SIZE,
        ctypes.POINTER(Geometry), ctypes.c_int,
    )  # fmt: skip
    sizes = (samples, channels, filters, g)
    ends = np.zeros((samples, channels, 1))
    flat = np.append(x.reshape(samples, channels, -1), ends, axis=2)[:, :, at]
    y, by_x, by_w = (np.full(a.shape, np.nan, dtype) for a in (v, x, w))

    function(data(x), data(w), data(y), *sizes, 0)
    close(y, np.einsum("ncijkxyz,cfijk->ncfxyz", flat, w), dtype)
    function(data(by_x), data(w), data(v), *sizes, 1)
    spread = np.einsum("ncfxyz,cfijk->ncijkxyz", v.astype(float), w.astype(float))
    want = np.zeros((samples, channels, x[0, 0].size + 1))
    for n, c in np.ndindex(samples, channels):
        np.add.at(want[n, c], at, spread[n, c])
    close(by_x.reshape(samples, channels, -1), want[:, :, :-1], dtype)
    function(data(x), data(by_w), data(v), *sizes, 2)
    close(by_w, np.einsum("ncfxyz,ncijkxyz->cfijk", v.astype(float), flat), dtype)
