"""In-place operators that give a tensor another shape: `t_`, `unsqueeze_`, `resize_` and so on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.assignment import setitem
from tensorplay.ops.kinds import install_method, method, publish
from tensorplay.ops.shaping import sizes_of, squeeze, t, transpose, unsqueeze
from tensorplay.ops.strided import as_strided


def _becoming(name: str, function: Callable[..., Tensor]) -> Any:
    """The in-place form of a view function: the tensor itself gets the new shape."""

    def changed(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return core.become(self, lambda x: function(x, *args, **kwargs), name)

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = f"In-place form of `{name[:-1]}`: this tensor itself gets the new shape."
    install_method(name, changed)
    return changed


squeeze_ = _becoming("squeeze_", squeeze)
unsqueeze_ = _becoming("unsqueeze_", unsqueeze)
transpose_ = _becoming("transpose_", transpose)
t_ = _becoming("t_", t)
as_strided_ = publish(_becoming("as_strided_", as_strided), "as_strided_", method=False)
for _alias in ("swapaxes_", "swapdims_"):
    install_method(_alias, transpose_)


@method("resize_")
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give this tensor other sizes: the first elements stay, new ones are zero.

    Raises:
        RuntimeError: if the tensor requires grad, or a size is negative.
    """
    shape = sizes_of(sizes, "resize_")
    if self.requires_grad:
        raise RuntimeError("resize_(): a tensor that requires grad cannot be resized; use reshape")
    if min(shape, default=0) < 0:
        raise RuntimeError(f"resize_(): sizes must not be negative, got {list(shape)}")
    array = core.array_of(self)
    if array.shape == shape:
        return self
    count = int(np.prod(shape))
    line = array.reshape(-1)
    if count > line.size:
        line = np.concatenate([line, np.zeros(count - line.size, line.dtype)])
    core.set_data(self, core.from_array(line[:count].reshape(shape)))
    core.bump_version(self)
    return self


@method("resize_as_")
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give this tensor the sizes of another one, as `resize_` does."""
    return resize_(self, tuple(the_template.shape))


publish(resize_as_, "resize_as_", method=False)


@method("fill_diagonal_")
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; with `wrap`, again below it in a tall matrix.

    Raises:
        RuntimeError: for fewer than two dims, or more than two of unequal sizes.
    """
    shape = tuple(self.shape)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise RuntimeError(
            "fill_diagonal_(): expected a matrix, or more dims of equal sizes, got shape "
            f"{list(shape)}"
        )
    setitem(self, _diagonal_places(shape, wrap), fill_value)
    return self


def _diagonal_places(shape: Sequence[int], wrap: bool) -> tuple[Tensor, ...]:
    rows, columns = shape[0], shape[1]
    if len(shape) == 2 and wrap and columns:
        flat = np.arange(0, rows * columns, columns + 1)
        places = [flat // columns, flat % columns]
    else:
        places = [np.arange(min(shape))] * len(shape)
    return tuple(core.from_array(p) for p in places)
