"""Random arrays, printed with random options, look the same as in PyTorch."""

import random

import numpy as np
import pytest
import torch

from tensorplay.base import dtypes, printing

CASES_PER_SEED = 400


@pytest.fixture(autouse=True)
def default_options():
    yield
    for module in (printing, torch):
        module.set_printoptions(profile="default")
    dtypes.set_default_dtype(dtypes.float32)
    torch.set_default_dtype(torch.float32)


def random_shape(choose):
    ndim = choose.choice([0, 1, 1, 1, 2, 2, 3, 4, 5])
    if ndim == 1 and choose.random() < 0.2:
        return (choose.choice([999, 1000, 1001, 3000]),)
    if ndim == 2 and choose.random() < 0.1:
        return choose.choice([(30, 40), (2, 600), (600, 2), (1001, 1), (1, 1001)])
    sizes = [0, 1, 1, 2, 3, 4, 5, 7] if ndim > 2 else [0, 1, 2, 3, 6, 7, 8, 20, 50]
    return tuple(choose.choice(sizes) for _ in range(ndim))


# Values at and around the places where PyTorch changes its notation.
CORNERS = [1.0, 1000.0, 1001.0, 1e-4, 0.5, 500.0, 1e8, 0.0, -0.0, 0.1, 99999999.6, 0.00009999]
INTEGRAL_CORNERS = [1.0, 1000.0, 1001.0, 1e8, 1e5, 1e9, 0.0, -1.0]


def random_floats(choose, rng, shape):
    spread = choose.randrange(1, 12)
    values = choose.choice(
        [
            lambda: rng.standard_normal(shape),
            lambda: np.round(rng.standard_normal(shape) * 10.0 ** choose.randrange(10)),
            lambda: rng.standard_normal(shape) * 10.0 ** choose.randrange(-12, 13),
            lambda: 10.0 ** rng.uniform(-spread, spread, shape) * rng.choice([-1, 1], shape),
            lambda: rng.random(shape) + choose.choice([0, 1, 999, 1e5, 1e8 - 2]),
            lambda: rng.choice(CORNERS, shape),
            lambda: rng.choice(INTEGRAL_CORNERS, shape),
        ]
    )()
    if choose.random() < 0.25:
        odd = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape)
        values = np.where(rng.random(shape) < choose.choice([0.5, 1]), odd, values)
    return np.asarray(values)


def random_array(choose):
    rng = np.random.default_rng(choose.getrandbits(64))
    dtype = choose.choice(dtypes.ALL)
    shape = random_shape(choose)
    if dtype.category == dtypes.BOOL:
        return np.asarray(rng.random(shape) < choose.choice([0, 0.5, 1]))
    if dtype.category == dtypes.INTEGER:
        limits = np.iinfo(dtype.numpy)
        bounds = [(max(limits.min, -3), 3), (limits.min, limits.max), (0, 100)]
        low, high = choose.choice(bounds)
        return np.asarray(rng.integers(low, high, shape, dtype=dtype.numpy, endpoint=True))
    with np.errstate(all="ignore"):  # overflow to infinity is welcome here
        values = random_floats(choose, rng, shape)
        if dtype.category == dtypes.COMPLEX:
            array = np.empty(shape, dtype.numpy)
            array.real, array.imag = values, random_floats(choose, rng, shape)
            return array
        return np.asarray(values.astype(dtype.numpy))


def random_options(choose):
    options = {}
    if choose.random() < 0.5:
        options["precision"] = choose.randrange(9)
    if choose.random() < 0.4:
        options["threshold"] = choose.choice([-1, 0, 1, 5, 10, 50, 1000, float("inf")])
    if choose.random() < 0.4:
        options["edgeitems"] = choose.choice([0, 1, 2, 3, 5])
    if choose.random() < 0.5:
        options["linewidth"] = choose.choice([0, 5, 20, 30, 40, 55, 60, 70, 79, 81, 100, 200])
    if choose.random() < 0.2:
        options["profile"] = choose.choice(["default", "short", "full"])
    if choose.random() < 0.3:
        options["sci_mode"] = choose.choice([True, False])
    return options


def as_torch(array):
    if array.dtype != dtypes.bfloat16.numpy:
        return torch.from_numpy(array)
    bits = torch.from_numpy(array.reshape(-1).view(np.int16))
    return bits.view(torch.bfloat16).reshape(array.shape)


@pytest.mark.parametrize("seed", range(5))
def test_printing(seed):
    choose = random.Random(seed)
    for _ in range(CASES_PER_SEED):
        array, options = random_array(choose), random_options(choose)
        theirs, suffixes = as_torch(array), []
        kind = choose.choice(["plain", "leaf", "result"])
        if kind != "plain" and (theirs.is_floating_point() or theirs.is_complex()):
            theirs, suffixes = theirs.requires_grad_(), ["requires_grad=True"]
            if kind == "result":
                theirs, suffixes = theirs.clone(), ["grad_fn=<CloneBackward0>"]
        default = choose.choice(["float32", "float32", "float64", "float16"])
        dtypes.set_default_dtype(getattr(dtypes, default))
        torch.set_default_dtype(getattr(torch, default))
        for module in (printing, torch):
            module.set_printoptions(profile="default")
            module.set_printoptions(**options)
        expected = repr(theirs).replace("torch.", "tensorplay.")
        printed = printing.format_tensor(array, suffixes=suffixes)
        assert printed == expected, (array.dtype, array.shape, options, default)
