"""Random number generators: PyTorch's `Generator` on top of NumPy's PCG64.

Seeds, states and their errors are PyTorch's; the numbers drawn are NumPy's. States are uint8
arrays here, which the layer above shows as tensors.
"""

from __future__ import annotations

import contextlib
import operator
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# The seed of every Generator that was not seeded: PyTorch's choice.
DEFAULT_SEED = 67280421310721

# Bytes of the parts of a saved state: the seed, and the four fields of PCG64's own state.
_LAYOUT = {"seed": 8, "state": 16, "inc": 16, "has_uint32": 4, "uinteger": 4}
STATE_SIZE = sum(_LAYOUT.values())


class Generator:
    """A source of pseudorandom numbers.

    Args:
        device: ``'cpu'``, the only one there is (or an object that prints so).

    Attributes:
        device: as given.
        numpy: the `numpy.random.Generator` to draw from. It stays the same object when the
            generator is seeded or its state is set.

    Raises:
        RuntimeError: for any other device.

    Each draw and each method is atomic, so threads may share a generator; which thread gets
    which numbers is then up to chance. Copies and pickles continue from the same state,
    independently.

    Example:
        >>> generator = Generator().manual_seed(0)
        >>> first = generator.numpy.random()
        >>> generator.manual_seed(0).numpy.random() == first
        True
    """

    def __init__(self, device: Any = "cpu") -> None:
        if str(device) not in ("cpu", "cpu:0"):
            raise RuntimeError(f"Generator(): only the device 'cpu' is available, got {device!r}")
        self.device = device
        self.numpy = np.random.Generator(np.random.PCG64(DEFAULT_SEED))
        self._seed = DEFAULT_SEED

    def manual_seed(self, seed: int) -> Self:
        """Start the sequence of numbers that belongs to a seed.

        Args:
            seed: an integer from ``-2**63`` to ``2**64 - 1``; a negative one counts from
                ``2**64`` downwards.

        Returns:
            The generator itself.

        Raises:
            RuntimeError: if `seed` is not an integer.
            ValueError: if it is out of range.

        Example:
            >>> Generator().manual_seed(-1).initial_seed() == 2**64 - 1
            True
        """
        number = _checked_seed(seed)
        bits = self.numpy.bit_generator
        state = np.random.PCG64(number).state
        with bits.lock:
            bits.state = state
            self._seed = number
        return self

    def seed(self) -> int:
        """Seed from the operating system's source of randomness and return that seed.

        Example:
            >>> generator = Generator()
            >>> generator.seed() == generator.initial_seed()
            True
        """
        number = secrets.randbits(64)
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """Return the seed of the present sequence.

        Example:
            >>> Generator().manual_seed(7).initial_seed()
            7
        """
        return self._seed

    def get_state(self) -> NDArray[np.uint8]:
        """Return the state, which includes the seed, as an array of shape ``(STATE_SIZE,)``.

        Example:
            >>> generator = Generator()
            >>> state = generator.get_state()
            >>> number = generator.numpy.random()
            >>> generator.set_state(state).numpy.random() == number
            True
        """
        bits = self.numpy.bit_generator
        with bits.lock:
            state: Any = bits.state
            fields = {**state, **state["state"], "seed": self._seed}
        data = b"".join(fields[name].to_bytes(size, "little") for name, size in _LAYOUT.items())
        return np.frombuffer(data, np.uint8).copy()

    def set_state(self, new_state: NDArray[np.uint8]) -> Self:
        """Continue from a state that `get_state` returned.

        Args:
            new_state: a uint8 array of shape ``(STATE_SIZE,)``; it is copied.

        Returns:
            The generator itself.

        Raises:
            TypeError: if `new_state` is not a uint8 array.
            RuntimeError: if its size or contents are not those of a state.
        """
        fields = _parsed_state(new_state)
        seed = fields.pop("seed")
        core = {"state": fields.pop("state"), "inc": fields.pop("inc")}
        bits = self.numpy.bit_generator
        with bits.lock:
            bits.state = {"bit_generator": "PCG64", "state": core, **fields}
            self._seed = seed
        return self

    def clone_state(self) -> Self:
        """Return a new generator that continues from the same state.

        Example:
            >>> generator = Generator().manual_seed(1)
            >>> generator.clone_state().numpy.random() == generator.numpy.random()
            True
        """
        return _restore(type(self), self.device, self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.device, self.get_state())


def _restore(kind: type[Any], device: Any, state: NDArray[np.uint8]) -> Any:
    return kind(device).set_state(state)


def _checked_seed(seed: Any) -> int:
    # True and False are integers to Python, but hardly what was meant (so in PyTorch).
    if isinstance(seed, bool | np.bool_):
        raise RuntimeError(f"manual_seed expected an int, but got {type(seed).__name__}")
    try:
        number = operator.index(seed)
    except TypeError:
        raise RuntimeError(f"manual_seed expected an int, but got {type(seed).__name__}") from None
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"manual_seed expected a seed from -2**63 to 2**64 - 1, but got {number}")
    return number % 2**64


def _parsed_state(state: Any) -> dict[str, int]:
    if not isinstance(state, np.ndarray) or state.dtype != np.uint8:
        raise TypeError("RNG state must be of type uint8, as returned by get_state")
    if state.shape != (STATE_SIZE,):
        raise RuntimeError(
            f"Expected an RNG state of size {STATE_SIZE} but found the shape {state.shape}"
        )
    data = state.tobytes()
    fields = {}
    start = 0
    for name, size in _LAYOUT.items():
        fields[name] = int.from_bytes(data[start : start + size], "little")
        start += size
    # PCG64's increment is odd by construction, and the flag is a flag.
    if fields["inc"] % 2 == 0 or fields["has_uint32"] > 1:
        raise RuntimeError("Invalid RNG state: it was not returned by get_state")
    return fields


# --- The default generator ------------------------------------------------------------------

default_generator = Generator()
default_generator.seed()


def replace_default_generator(generator: Generator) -> None:
    """Make `generator` the default one; the layer that shows states as tensors has its own kind.

    Example:
        >>> replace_default_generator(default_generator)
    """
    global default_generator
    default_generator = generator


def numpy_generator(generator: Generator | None = None) -> np.random.Generator:
    """Return what to draw from, given the argument ``generator`` of a random function.

    Raises:
        TypeError: if `generator` is neither a Generator nor None, which means the default.

    Example:
        >>> numpy_generator() is default_generator.numpy
        True
    """
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        raise TypeError(
            "argument 'generator' must be tensorplay.Generator or None, "
            f"not {type(generator).__name__}"
        )
    return generator.numpy


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator and return it.

    Args:
        seed: anything that ``int`` accepts, in the range of `Generator.manual_seed`.

    Raises:
        TypeError, ValueError: if `seed` cannot be converted, or is out of range.

    Example:
        >>> manual_seed(3).initial_seed()
        3
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator at random and return the seed.

    Example:
        >>> seed() == initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator.

    Example:
        >>> _ = manual_seed(5)
        >>> initial_seed()
        5
    """
    return default_generator.initial_seed()


def get_rng_state() -> NDArray[np.uint8]:
    """Return the state of the default generator; see `Generator.get_state`.

    Example:
        >>> get_rng_state().shape == (STATE_SIZE,)
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: NDArray[np.uint8]) -> None:
    """Set the state of the default generator; see `Generator.set_state`.

    Example:
        >>> set_rng_state(get_rng_state())
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str = "cpu"
) -> Iterator[None]:
    """Context in which drawing and seeding leave the default generator as it was before.

    Args:
        devices: accepted for compatibility with PyTorch; there are no devices but the CPU.
        enabled: False makes the context do nothing.
        device_type: accepted for compatibility, as `devices`.

    Example:
        >>> _ = manual_seed(1)
        >>> with fork_rng():
        ...     _ = manual_seed(2)
        >>> initial_seed()
        1
    """
    if not enabled:
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)
