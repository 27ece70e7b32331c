"""Random numbers: generators and seeds, and tensors of uniform, normal and integer draws."""

from __future__ import annotations

import functools
import math
from typing import Any, Self

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes, random
from tensorplay.base.devices import check_placement, device
from tensorplay.ops.creation import finished, number_argument, size_argument, target_dtype
from tensorplay.ops.data import dtype_argument
from tensorplay.ops.kinds import public
from tensorplay.ops.noise import noise

# Significant bits of the dtypes that NumPy cannot draw: draws are multiples of 2**-bits.
_BITS = {dtypes.float16: 11, dtypes.bfloat16: 8}


class Generator(random.Generator):
    """A source of pseudorandom numbers.

    device: 'cpu', the only one there is. Unseeded generators all start from the same seed. Copies
    and pickles continue from the same state, independently.

    Raises:
        RuntimeError: for any other device.

    >>> import tensorplay as tp
    >>> generator = tp.Generator().manual_seed(0)
    >>> first = tp.rand(2, generator=generator)
    >>> bool((tp.rand(2, generator=generator.manual_seed(0)) == first).all())
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        super().__init__(_as_device(device))

    def get_state(self) -> Any:
        """The state, which includes the seed, as a uint8 tensor."""
        return core.from_array(super().get_state())

    def set_state(self, new_state: Any) -> Self:
        """Continue from a state that `get_state` returned.

        Raises:
            TypeError: if `new_state` is no uint8 tensor.
            RuntimeError: if its size or contents are not those of a state.
        """
        if isinstance(new_state, Tensor):
            new_state = core.array_of(new_state)
        return super().set_state(new_state)


def _as_device(given: Any) -> device:
    check_placement("Generator", given)
    return device(given)


default_generator = Generator()
default_generator.seed()
random.replace_default_generator(default_generator)

# --- draws as arrays ------------------------------------------------------------------------------


def uniform(rng: np.random.Generator, shape: tuple[int, ...], dtype: dtypes.dtype) -> Any:
    """Numbers from 0 up to, but without, 1; for complex dtypes in both parts."""
    if dtype.is_complex:
        real = dtype.to_real()
        return uniform(rng, shape, real) + 1j * uniform(rng, shape, real)
    if dtype in _BITS:
        bits = _BITS[dtype]
        return rng.integers(0, 1 << bits, shape) * 0.5**bits
    return rng.random(shape, dtype.numpy)


def standard_normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: dtypes.dtype) -> Any:
    """Normal numbers of mean 0 and variance 1, also for complex dtypes."""
    if dtype.is_complex:
        real = dtype.to_real()
        parts = [standard_normal(rng, shape, real) for _ in range(2)]
        return (parts[0] + 1j * parts[1]) * math.sqrt(0.5)
    if dtype in _BITS:
        dtype = dtypes.float32
    return rng.standard_normal(shape, dtype.numpy)


def check_drawable(dtype: dtypes.dtype, name: str, real: bool = False) -> None:
    """Raise for dtypes that have no random numbers of a continuous distribution.

    real: whether complex dtypes have none either.

    Raises:
        NotImplementedError: for integer and bool dtypes (which is a RuntimeError).
    """
    if dtype.category < dtypes.FLOAT or (real and dtype.is_complex):
        raise NotImplementedError(
            f"{name}(): random numbers of a continuous distribution have no dtype {dtype}; give a "
            "floating point dtype"
        )


# --- tensors of a given size ----------------------------------------------------------------------


@public(method=False)
def rand(
    *sizes: Any,
    size: Any = None,
    generator: random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn uniformly from 0 up to, but without, 1.

    Inside a vmap with randomness='different' each sample has its own, with 'same' all share them.

    Raises:
        RuntimeError: for a negative size; inside a vmap with randomness='error' (the default).

    >>> import tensorplay as tp
    >>> tp.rand(2, 3).shape
    tensorplay.Size([2, 3])
    """
    source = random.numpy_generator(generator).bit_generator
    drawn = core.drawn(source, False, sizes, dtype, (size, out, layout, device), requires_grad)
    if drawn is not None:
        return drawn
    check_placement("rand", device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "rand")
    shape = size_argument(sizes, size, "rand")
    check_drawable(target, "rand")
    made = noise("rand", shape, target, lambda rng, n: uniform(rng, n, target), generator)
    return finished(made, "rand", requires_grad, out)


@public(method=False)
def randn(
    *sizes: Any,
    size: Any = None,
    generator: random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and variance 1; see `rand`."""
    source = random.numpy_generator(generator).bit_generator
    drawn = core.drawn(source, True, sizes, dtype, (size, out, layout, device), requires_grad)
    if drawn is not None:
        return drawn
    check_placement("randn", device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), "randn")
    shape = size_argument(sizes, size, "randn")
    check_drawable(target, "randn")
    made = noise("randn", shape, target, lambda rng, n: standard_normal(rng, n, target), generator)
    return finished(made, "randn", requires_grad, out)


@functools.cache
def _limits(dtype: dtypes.dtype) -> tuple[float, float]:
    """The least and the largest integer that draws may be."""
    if dtype.category == dtypes.BOOL:
        return 0, 1
    if dtype.category == dtypes.INTEGER:
        return dtypes.iinfo(dtype).min, dtypes.iinfo(dtype).max
    return -(2**63), 2**63 - 1


def _integers(
    name: str, low: Any, high: Any, shape: tuple[int, ...], target: Any, generator: Any
) -> Tensor:
    low, high = (int(number_argument(v, name, "low or high")) for v in (low, high))
    if low >= high:
        raise RuntimeError(f"{name}(): low ({low}) must be less than high ({high})")
    least, most = _limits(target)
    if low < least or high - 1 > most:
        raise RuntimeError(f"{name}(): low ({low}) or high ({high}) is out of range: {target}")
    kind = np.uint64 if high > 2**63 else np.int64
    return noise(name, shape, target, lambda rng, n: rng.integers(low, high, n, kind), generator)


def _bounds(args: tuple[Any, ...], low: Any, high: Any, size: Any, name: str) -> tuple[Any, ...]:
    """(low, high, size) from the call forms (high, size) and (low, high, size)."""
    given = list(args)
    if size is None and given and not isinstance(given[-1], (int, np.integer)):
        if not (isinstance(given[-1], Tensor) and given[-1].ndim == 0):
            size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or high is None:
        raise TypeError(f"{name}(): expected (high, size) or (low, high, size)")
    return low, high, size


@public(method=False)
def randint(
    *args: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers drawn uniformly from `low` (by default 0) up to, but without, `high`.

    Call forms: `randint(high, size)` and `randint(low, high, size)`. The dtype is int64 unless
    given.

    Raises:
        RuntimeError: if `low` is not less than `high`; inside a vmap with randomness='error'.

    >>> import tensorplay as tp
    >>> tp.randint(3, 4, (2,))
    tensor([3, 3])
    """
    check_placement("randint", device, layout)
    low, high, size = _bounds(args, low, high, size, "randint")
    target = target_dtype(dtype, out, dtypes.int64, "randint")
    shape = size_argument((), size, "randint")
    made = _integers("randint", low, high, shape, target, generator)
    return finished(made, "randint", requires_grad, out)


@public(method=False)
def randperm(
    n: int,
    *,
    generator: random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order.

    Raises:
        RuntimeError: if n is negative; inside a vmap with randomness='error'.
    """
    check_placement("randperm", device, layout)
    n = int(number_argument(n, "randperm", "n"))
    if n < 0:
        raise RuntimeError(f"randperm(): n must not be negative, got {n}")
    target = target_dtype(dtype, out, dtypes.int64, "randperm")
    made = noise("randperm", (n,), target, _permutations, generator)
    return finished(made, "randperm", requires_grad, out)


def _permutations(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    order = np.broadcast_to(np.arange(shape[-1]), shape)
    return rng.permuted(order, axis=-1)


# --- tensors like another one ---------------------------------------------------------------------


def _target_like(x: Any, dtype: Any, layout: Any, device: Any, name: str) -> dtypes.dtype:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    check_placement(name, device, layout)
    return x.dtype if dtype is None else dtype_argument(dtype, name)


@public(method=False)
def rand_like(
    input: Tensor,
    *,
    generator: random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Numbers drawn uniformly from 0 to 1, in the shape and dtype of a tensor."""
    target = _target_like(input, dtype, layout, device, "rand_like")
    check_drawable(target, "rand_like")
    shape = tuple(input.shape)
    made = noise("rand_like", shape, target, lambda rng, n: uniform(rng, n, target), generator)
    return finished(made, "rand_like", requires_grad)


@public(method=False)
def randn_like(
    input: Tensor,
    *,
    generator: random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Numbers drawn from the normal distribution, in the shape and dtype of a tensor."""
    target = _target_like(input, dtype, layout, device, "randn_like")
    check_drawable(target, "randn_like")
    shape = tuple(input.shape)
    made = noise(
        "randn_like", shape, target, lambda rng, n: standard_normal(rng, n, target), generator
    )
    return finished(made, "randn_like", requires_grad)


@public(method=False)
def randint_like(
    input: Tensor,
    *args: Any,
    low: Any = None,
    high: Any = None,
    generator: random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from `low` to `high` - 1, in the shape and dtype of a tensor.

    Call forms: `randint_like(input, high)` and `randint_like(input, low, high)`.
    """
    target = _target_like(input, dtype, layout, device, "randint_like")
    low, high, _ = _bounds(args, low, high, (), "randint_like")
    made = _integers("randint_like", low, high, tuple(input.shape), target, generator)
    return finished(made, "randint_like", requires_grad)
