"""Every view as a copy: `permute_copy(x, dims)` is `permute(x, dims).clone()`, and so on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.arrange import diagonal
from tensorplay.ops.complexes import view_as_complex, view_as_real
from tensorplay.ops.joining import split, split_with_sizes, unbind
from tensorplay.ops.kinds import publish, wrap_dim
from tensorplay.ops.shaping import (
    _expand,
    permute,
    sizes_of,
    squeeze,
    t,
    transpose,
    unsqueeze,
    view,
)
from tensorplay.ops.slicing import FULL, alias_view, narrow, select, slice_view
from tensorplay.ops.strided import as_strided, unfold


def _copy(name: str, function: Callable[..., Any], method: bool = False) -> Any:
    """Publish the copying form of a view function, which takes `out=`."""

    @functools.wraps(function)
    def copied(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        found = function(input, *args, **kwargs)
        if isinstance(found, tuple):
            return tuple(part.clone() for part in found)
        return found.clone()

    copied.__name__ = copied.__qualname__ = name
    copied.__doc__ = f"As `{name.removesuffix('_copy')}`, but a copy and no view."
    return publish(core.Operation(copied, name), name, method=method)


def slice_(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """`input[start:end:step]` along a dim (a view).

    Raises:
        IndexError: if the dim is out of range.
        RuntimeError: if the step is not positive.
    """
    if step < 1:
        raise RuntimeError(f"slice(): step must be positive, got {step}")
    dim = wrap_dim(dim, input.ndim, "slice")
    return slice_view(input, (FULL,) * dim + (slice(start, end, step), ...))


def _alias(input: Tensor) -> Tensor:
    return alias_view(input, (...,))


def _expanded(input: Tensor, size: Any, *, implicit: bool = False) -> Tensor:
    return _expand(input, sizes_of((size,), "expand_copy"), "expand_copy")


publish(slice_, "slice", method=False)
alias_copy = _copy("alias_copy", _alias)
as_strided_copy = _copy("as_strided_copy", as_strided)
detach_copy = _copy("detach_copy", core.detach)
diagonal_copy = _copy("diagonal_copy", diagonal)
expand_copy = _copy("expand_copy", _expanded)
narrow_copy = _copy("narrow_copy", narrow, method=True)
permute_copy = _copy("permute_copy", permute)
select_copy = _copy("select_copy", select)
slice_copy = _copy("slice_copy", slice_)
split_copy = _copy("split_copy", split)
split_with_sizes_copy = _copy("split_with_sizes_copy", split_with_sizes)
squeeze_copy = _copy("squeeze_copy", squeeze)
t_copy = _copy("t_copy", t)
transpose_copy = _copy("transpose_copy", transpose)
unbind_copy = _copy("unbind_copy", unbind)
unfold_copy = _copy("unfold_copy", unfold)
unsqueeze_copy = _copy("unsqueeze_copy", unsqueeze)
view_as_complex_copy = _copy("view_as_complex_copy", view_as_complex)
view_as_real_copy = _copy("view_as_real_copy", view_as_real)
view_copy = _copy("view_copy", view)
