"""Draws whose distribution is given by tensors, and in-place draws.

Such an operator is a function of its parameters and of uniform or normal noise, so that vmap's
randomness modes hold for it too. Its derivative by the parameters is zero, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Inplace, Tensor
from tensorplay.base import dtypes, random
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.creation import finished, size_argument, target_dtype
from tensorplay.ops.filling import copy_op
from tensorplay.ops.kinds import (
    constant,
    elementwise,
    install_method,
    leading,
    public,
    zeros_like,
)
from tensorplay.ops.noise import noise
from tensorplay.ops.randoms import check_drawable, standard_normal, uniform
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import convert

special = lazy_module("scipy.special")


def _uniform_noise(name: str, shape: Any, generator: Any) -> Tensor:
    return noise(name, tuple(shape), dtypes.float64, lambda rng, n: rng.random(n), generator)


def _draw(name: str, kernel: Any, *inputs: str) -> Any:
    none = (None,) * (len(inputs) - 1)
    return elementwise(
        name, kernel, vjp=(lambda g: zeros_like(g),) * len(none) + (None,), jvp=(*none, None),
        inputs=inputs, promote=None,
    )  # fmt: skip


# --- bernoulli, poisson, binomial -----------------------------------------------------------------


def _bernoulli_kernel(p: np.ndarray, u: np.ndarray) -> np.ndarray:
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError("bernoulli(): the probabilities must all lie from 0 to 1")
    return (u < p).astype(p.dtype)


bernoulli_op = _draw("bernoulli", _bernoulli_kernel, "p", "u")


@public(out=True)
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: random.Generator | None = None
) -> Tensor:
    """Ones with the given probabilities, else zeros, in the shape and dtype of `input`.

    input: the probabilities, of a floating point dtype; not looked at when the number `p` is given.

    Raises:
        RuntimeError: for what is no probability; inside a vmap with randomness='error'.
        NotImplementedError: for probabilities of another dtype.

    >>> import tensorplay as tp
    >>> tp.bernoulli(tp.tensor([0., 1.]))
    tensor([0., 1.])
    """
    if p is not None:
        return _bernoulli_drawn(input, p, "bernoulli", generator)
    check_drawable(input.dtype, "bernoulli", real=True)
    return bernoulli_op(input, _uniform_noise("bernoulli", input.shape, generator))


def _bernoulli_drawn(x: Tensor, p: Any, name: str, generator: Any) -> Tensor:
    if isinstance(p, Tensor):
        u = _uniform_noise(name, x.shape, generator)
        return convert(bernoulli_op(convert(p.detach(), dtypes.float64), u), x.dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"{name}(): p must lie from 0 to 1, got {p}")
    return noise(name, tuple(x.shape), x.dtype, lambda rng, n: rng.random(n) < p, generator)


def _poisson_kernel(rate: np.ndarray, u: np.ndarray) -> np.ndarray:
    if not np.all(rate >= 0):
        raise RuntimeError("poisson(): the rates must not be negative")
    mean = rate.astype(np.float64)
    count = np.ceil(special.pdtrik(u, mean))
    below = np.maximum(count - 1, 0)
    count = np.where(special.pdtr(below, mean) >= u, below, count)
    # Rates so small that the first probability is all there is.
    return np.where(u <= np.exp(-mean), 0.0, count).astype(rate.dtype)


poisson_op = _draw("poisson", _poisson_kernel, "rate", "u")


@public(method=False)
def poisson(input: Tensor, generator: random.Generator | None = None) -> Tensor:
    """Counts drawn from Poisson distributions of the given rates, in their shape and dtype.

    Raises:
        RuntimeError: for a negative rate; inside a vmap with randomness='error'.
        NotImplementedError: for rates of integer dtype.
    """
    check_drawable(input.dtype, "poisson", real=True)
    return poisson_op(input, _uniform_noise("poisson", input.shape, generator))


def _binomial_kernel(count: np.ndarray, prob: np.ndarray, u: np.ndarray) -> np.ndarray:
    if not np.all(count >= 0) or not np.all((prob >= 0) & (prob <= 1)):
        raise RuntimeError("binomial(): count must not be negative, and prob must lie from 0 to 1")
    total, p = np.broadcast_arrays(count.astype(np.float64), prob.astype(np.float64))
    inside = (p > 0) & (p < 1) & (total > 0)
    safe_total, safe_p = np.where(inside, total, 1.0), np.where(inside, p, 0.5)
    found = np.clip(np.ceil(special.bdtrik(u, safe_total, safe_p)), 0, safe_total)
    below = np.maximum(found - 1, 0)
    # The distribution function at `below`: scipy.special.bdtr wants integers.
    reached = special.betainc(safe_total - below, below + 1, 1 - safe_p) >= u
    found = np.where(reached, below, found)
    found = np.where(inside, found, np.where(p >= 1, total, 0.0))
    return found.astype(count.dtype)


binomial_op = _draw("binomial", _binomial_kernel, "count", "prob", "u")


@public(method=False)
def binomial(count: Tensor, prob: Tensor, generator: random.Generator | None = None) -> Tensor:
    """Numbers of successes in `count` trials that succeed with probability `prob` each.

    count, prob: of floating point dtype, broadcast together. The result has the dtype of `count`.

    Raises:
        ValueError: for a count of another dtype.
        RuntimeError: for values out of range; inside a vmap with randomness='error'.
    """
    if count.dtype.category != dtypes.FLOAT:
        raise ValueError(f"binomial(): count must have a floating point dtype, got {count.dtype}")
    shape = broadcast_shapes_of("binomial", count.shape, prob.shape)
    return binomial_op(
        count, convert(prob, count.dtype), _uniform_noise("binomial", shape, generator)
    )  # fmt: skip


# --- normal ---------------------------------------------------------------------------------------


def _normal_kernel(mean: np.ndarray, std: np.ndarray, z: np.ndarray) -> np.ndarray:
    if not np.all(std >= 0):
        raise RuntimeError("normal(): std must not be negative")
    return (mean + std * z).astype(z.dtype, copy=False)


normal_op = _draw("normal", _normal_kernel, "mean", "std", "z")


@public(method=False)
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from normal distributions of the given means and standard deviations.

    mean, std: tensors, broadcast together, or numbers; `size` is needed if both are numbers.

    Raises:
        RuntimeError: for a negative std; inside a vmap with randomness='error'.

    >>> import tensorplay as tp
    >>> tp.normal(tp.tensor([1., 2.]), 0.)
    tensor([1., 2.])
    """
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal(): size must be given when mean and std are numbers")
        if not std >= 0:
            raise RuntimeError(f"normal(): std must not be negative, got std={std}")
        target = target_dtype(dtype, out, dtypes.get_default_dtype(), "normal")
        shape = size_argument((size,), None, "normal")
        check_drawable(target, "normal")
        made = noise(
            "normal", shape, target,
            lambda rng, n: mean + std * standard_normal(rng, n, target), generator,
        )  # fmt: skip
        return finished(made, "normal", requires_grad, out)
    target = core.result_dtype(tensors)
    check_drawable(target, "normal")
    first, second = (
        convert(x, target) if isinstance(x, Tensor) else core.from_array(np.array(x, target.numpy))
        for x in (mean, std)
    )
    shape = broadcast_shapes_of("normal", first.shape, second.shape)
    z = noise("normal", shape, target, lambda rng, n: standard_normal(rng, n, target), generator)
    made = normal_op(first, second, z)
    return made if out is None else core.write_out("normal", out, made)


# --- multinomial ----------------------------------------------------------------------------------


def _multinomial_kernel(
    weights: np.ndarray, u: np.ndarray, num_samples: int, replacement: bool
) -> np.ndarray:
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("multinomial(): the weights must be finite and not negative")
    totals = weights.sum(-1, dtype=np.float64, keepdims=True)
    if not np.all(totals > 0):
        raise RuntimeError("multinomial(): the weights of a distribution must not all be zero")
    if not replacement:
        # The first of independent exponential waiting times with these rates.
        times = -np.log1p(-u) / np.where(weights > 0, weights, np.nan)
        times = np.where(weights > 0, times, np.inf)
        return np.argsort(times, axis=-1, kind="stable")[..., :num_samples]
    shape = np.broadcast_shapes(weights.shape[:-1], u.shape[:-1])
    cumulative = np.cumsum(weights, -1, dtype=np.float64) / totals
    # Later entries of weight zero must not be reached by rounding.
    cumulative[cumulative >= cumulative[..., -1:]] = 1.0
    rows = np.broadcast_to(cumulative, (*shape, weights.shape[-1])).reshape(-1, weights.shape[-1])
    draws = np.broadcast_to(u, (*shape, num_samples)).reshape(-1, num_samples)
    # One search for all rows: row i holds numbers from i to i + 1.
    offsets = np.arange(len(rows))[:, None]
    found = np.searchsorted((rows + offsets).ravel(), (draws + offsets).ravel(), side="right")
    local = found.reshape(draws.shape) - offsets * weights.shape[-1]
    return np.clip(local, 0, weights.shape[-1] - 1).reshape(*shape, num_samples)


multinomial_op = constant(
    "multinomial",
    _multinomial_kernel,
    inputs=("weights", "u"),
    params=("num_samples", "replacement"),
    batch=leading(1, 1),
)


@public(out=True)
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: random.Generator | None = None,
) -> Tensor:
    """Indices drawn with probabilities proportional to the weights in each row of `input`.

    input: (n,) or (rows, n), floating point, not negative. Returns int64 indices of shape
    (num_samples,) or (rows, num_samples).

    Raises:
        RuntimeError: for other shapes or dtypes, for weights that are no distribution, and when
            more samples are asked for than there are entries, without replacement.

    >>> import tensorplay as tp
    >>> tp.multinomial(tp.tensor([0., 1.]), 2, replacement=True)
    tensor([1, 1])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"multinomial(): input must have 1 or 2 dims, got shape {list(input.shape)}"
        )
    if input.dtype.category != dtypes.FLOAT:
        raise RuntimeError(
            f"multinomial(): input must have a floating point dtype, got {input.dtype}"
        )
    count = input.shape[-1]
    if num_samples <= 0:
        raise RuntimeError(f"multinomial(): num_samples must be positive, got {num_samples}")
    if not replacement and num_samples > count:
        raise RuntimeError(
            f"multinomial(): {num_samples} samples cannot be drawn from {count} entries without "
            "replacement"
        )
    shape = (*input.shape[:-1], num_samples if replacement else count)
    u = _uniform_noise("multinomial", shape, generator)
    return multinomial_op(convert(input.detach(), dtypes.float64), u, num_samples, replacement)


# --- in place -------------------------------------------------------------------------------------


def _inplace(function: Any) -> Any:
    """Install `function(x, ...)`, which returns draws like x, as a method that writes them to x."""
    name = function.__name__

    def drawn(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return copy_op(self, function(self, *args, **kwargs))

    drawn.__name__ = drawn.__qualname__ = name
    changed = Inplace(drawn, name)
    changed.__doc__ = function.__doc__
    changed.__wrapped__ = function
    install_method(name, changed)
    return changed


def _like(x: Tensor, name: str, draw: Any, generator: Any) -> Tensor:
    return noise(name, tuple(x.shape), x.dtype, draw, generator)


def _range(low: Any, high: Any, named: dict[str, Any], name: str) -> tuple[Any, Any]:
    # `from` is PyTorch's name of the argument, and no name of Python's.
    low = named.pop("from", low)
    if named:
        raise TypeError(f"{name}(): unexpected argument '{next(iter(named))}'")
    return low, high


@_inplace
def uniform_(
    self: Tensor, low: Any = 0.0, to: Any = 1.0, *, generator: Any = None, **named: Any
) -> Tensor:
    """Fill with numbers drawn uniformly from `low` (also `from=`) up to `to`.

    Raises:
        RuntimeError: if `low` is greater than `to`.
    """
    low, high = _range(low, to, named, "uniform_")
    check_drawable(self.dtype, "uniform_")
    if low > high:
        raise RuntimeError(f"uniform_(): from ({low}) must not be greater than to ({high})")
    dtype = self.dtype
    return _like(
        self, "uniform_", lambda rng, n: low + (high - low) * uniform(rng, n, dtype), generator
    )


@_inplace
def normal_(self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers drawn from a normal distribution.

    Raises:
        RuntimeError: if `std` is negative.
    """
    check_drawable(self.dtype, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal_(): std must not be negative, got {std}")
    dtype = self.dtype
    return _like(
        self, "normal_", lambda rng, n: mean + std * standard_normal(rng, n, dtype), generator
    )


@_inplace
def log_normal_(self: Tensor, mean: Any = 1.0, std: Any = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithm has a normal distribution of this mean and deviation.

    Raises:
        RuntimeError: if `std` is not positive.
    """
    check_drawable(self.dtype, "log_normal_", real=True)
    if not std > 0:
        raise RuntimeError(f"log_normal_(): std must be positive, got {std}")
    return _like(self, "log_normal_", lambda rng, n: rng.lognormal(mean, std, n), generator)


@_inplace
def exponential_(self: Tensor, lambd: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers drawn from the exponential distribution of rate `lambd`.

    Raises:
        RuntimeError: if `lambd` is not positive.
    """
    check_drawable(self.dtype, "exponential_", real=True)
    if not lambd > 0:
        raise RuntimeError(f"exponential_(): lambd must be positive, got {lambd}")
    return _like(
        self, "exponential_", lambda rng, n: rng.standard_exponential(n) / lambd, generator
    )


@_inplace
def cauchy_(self: Tensor, median: Any = 0.0, sigma: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers drawn from a Cauchy distribution.

    Raises:
        RuntimeError: if `sigma` is not positive.
    """
    check_drawable(self.dtype, "cauchy_", real=True)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_(): sigma must be positive, got {sigma}")
    return _like(self, "cauchy_", lambda rng, n: median + sigma * rng.standard_cauchy(n), generator)


@_inplace
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the numbers of trials up to the first success, each of probability `p`.

    Raises:
        RuntimeError: unless p lies between 0 and 1.
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_(): p must lie between 0 and 1, got {p}")
    return _like(self, "geometric_", lambda rng, n: rng.geometric(p, n), generator)


@_inplace
def random_(
    self: Tensor, low: Any = 0, to: Any = None, *, generator: Any = None, **named: Any
) -> Tensor:
    """Fill with integers drawn uniformly from `low` (also `from=`) up to, but without, `to`.

    With one argument, from 0 up to it; with none, from all non-negative integers that the dtype
    holds exactly.

    Raises:
        RuntimeError: if `low` is not less than `to`.
    """
    low, high = _range(low, to, named, "random_")
    dtype = self.dtype
    if high is None:
        low, high = (0, low) if low else (0, _exact_integers(dtype))
    if not low < high:
        raise RuntimeError(f"random_(): from ({low}) must be less than to ({high})")
    kind = np.uint64 if high > 2**63 else np.int64
    return _like(self, "random_", lambda rng, n: rng.integers(low, high, n, kind), generator)


def _exact_integers(dtype: dtypes.dtype) -> int:
    if dtype.category == dtypes.BOOL:
        return 2
    if dtype.category == dtypes.INTEGER:
        return dtypes.iinfo(dtype).max + 1
    return 1 + round(2 / dtypes.finfo(dtype).eps)


@_inplace
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones of probability `p` (a number or a tensor that broadcasts), else zeros.

    Raises:
        RuntimeError: for what is no probability.
    """
    return _bernoulli_drawn(self, p, "bernoulli_", generator)
