"""Random factors for operators such as dropout, also inside vmap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import Generator, numpy_generator


def noise(
    name: str,
    shape: Sequence[int],
    dtype: Any,
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray],
    generator: Generator | None = None,
) -> Tensor:
    """A tensor of random numbers: `draw(rng, shape)`.

    Inside a vmap with randomness 'different' every sample has numbers of its own, with 'same' all
    share them.

    Raises:
        RuntimeError: inside a vmap with randomness 'error' (the default).
    """
    if 0 in shape:  # nothing to draw
        return core.from_array(np.zeros(tuple(shape), dtype.numpy))
    active = core.active_levels()
    if not active:
        drawn = np.asarray(draw(numpy_generator(generator), tuple(shape)))
        return core.from_array(drawn.astype(dtype.numpy, copy=False))
    levels = [level for level in active if level.kind == "vmap"]
    if any(level.randomness == "error" for level in levels):
        raise RuntimeError(
            f"{name}(): a random operation was called inside vmap; say what it should do with "
            "vmap(..., randomness='different') or randomness='same'"
        )
    apart = [level for level in levels if level.randomness == "different"]
    size = (*(level.size for level in apart), *shape)
    drawn = np.asarray(draw(numpy_generator(generator), size))
    made = core.from_array(drawn.astype(dtype.numpy, copy=False))
    for level in active:
        if level.kind == "grad":
            made = core.box(made, None, level)
        elif level in apart:
            made = core.box(made, 0, level)
    return made
