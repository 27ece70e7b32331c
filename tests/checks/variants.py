"""The same call on other memory layouts and shapes, as a method, in place, and with `out=`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd import forward_ad
from tensorplay.base import dtypes
from tests.checks.first_order import check_forward, check_reverse, check_value
from tests.checks.problem import (
    Problem,
    array,
    assert_arrays,
    dual,
    pullback,
    tensor,
    tensors_in,
)
from tests.optable.schema import Op, Sample

# --- layouts --------------------------------------------------------------------------------------


def transposed(x: np.ndarray) -> np.ndarray:
    """The same elements, first dim fastest in memory."""
    return np.array(x, order="F", copy=True)


def backwards(x: np.ndarray) -> np.ndarray:
    """The same elements, with negative strides."""
    everything = (slice(None, None, -1),) * x.ndim
    return x[everything].copy()[everything]


def gapped(x: np.ndarray) -> np.ndarray:
    """The same elements, every other one of a larger array, and read-only neighbours between."""
    if x.ndim == 0:
        return x.copy()
    wide = np.repeat(x, 2, axis=-1)
    return wide[..., ::2]


def expanded(x: np.ndarray) -> np.ndarray:
    """The first slice for all of them, with a stride of zero."""
    if x.ndim == 0 or x.shape[0] == 0:
        return x.copy()
    return np.broadcast_to(x[:1].copy(), x.shape)


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": transposed,
    "backwards": backwards,
    "gapped": gapped,
}


def check_layout(op: Op, sample: Sample) -> None:
    """Values and gradients do not depend on how the elements lie in memory."""
    problem = Problem(op, sample)
    arrays = [array(x) for x in problem.tensors]
    for name, layout in LAYOUTS.items():
        same_on(op, sample, problem, [layout(x) for x in arrays], name)
    if "expanded" in op.skip or op.nonsmooth:
        return
    for i in problem.positions:
        if arrays[i].ndim:
            # One at a time: all expanded alike would make matrices singular, points equal ...
            changed = [expanded(x) if k == i else x for k, x in enumerate(arrays)]
            same_on(op, sample, problem, changed, f"expanded {i}")


def same_on(op: Op, sample: Sample, problem: Problem, arrays: list[Any], what: str) -> None:
    """The call on these arrays as they lie, and on contiguous copies of them."""
    given = [core.from_array(x) for x in arrays]
    copies = [core.from_array(np.ascontiguousarray(x).reshape(x.shape)) for x in arrays]
    results = []
    for tensors in (given, copies):
        for i in problem.positions:
            tensors[i].requires_grad = True
        try:
            outs = tensors_in(op.run(sample.replaced(tensors)))
        except Exception:
            if tensors is given and refused(op, sample, arrays):
                return  # say, a singular matrix: not a matter of layout
            raise
        chosen = [y for y in outs if y.requires_grad]
        rng = np.random.default_rng(5)
        cotangents = [tensor(rng.uniform(-1, 1, y.shape).astype(array(y).dtype)) for y in chosen]
        inputs = [tensors[i] for i in problem.positions]
        results.append((outs, pullback(chosen, inputs, cotangents)))
    for kind, a, b in zip(("result", "gradient"), *results, strict=True):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_arrays(x, y, f"{sample!r}: {kind} {i}, {what}", op.rtol or 1e-9)


def refused(op: Op, sample: Sample, arrays: Sequence[np.ndarray]) -> bool:
    """Whether the call on contiguous copies raises too."""
    try:
        op.run(sample.replaced([tensor(x) for x in arrays]))
    except Exception:
        return True
    return False


# --- shapes ---------------------------------------------------------------------------------------


def is_elementwise(op: Op) -> bool:
    """Whether a row is about elementwise primitives only."""
    kinds = {core.registry[name].kind for name in op.primitives if name in core.registry}
    return kinds == {"elementwise"}


def reshaped_samples(op: Op, aspect: str) -> Iterator[Sample]:
    """Samples of an elementwise row on other shapes: empty, 0-dim, or broadcast."""
    for one in op.make():
        tensors = one.tensors()
        if not tensors or any(x.numel() < 12 for x in tensors):
            continue
        flat = [array(x).reshape(-1) for x in tensors]
        if aspect == "empty":
            yield rebuilt(one, [x[:0].reshape(0, 3) for x in flat])
            yield rebuilt(one, [x[:0].reshape(2, 0) for x in flat])
        elif aspect == "zero_dim":
            yield rebuilt(one, [x[5] for x in flat])
        elif len(tensors) > 1:
            shapes = [(3, 1), (1, 4), (4,), (2, 1, 1)]
            for turn in range(len(tensors)):
                yield rebuilt(
                    one,
                    [
                        x[: int(np.prod(shapes[(i + turn) % 4]))].reshape(shapes[(i + turn) % 4])
                        for i, x in enumerate(flat)
                    ],
                )
        return


def rebuilt(one: Sample, arrays: Sequence[Any]) -> Sample:
    """The call on these arrays."""
    return one.replaced([tensor(np.asarray(x)) for x in arrays])


def check_shapes(op: Op, aspect: str) -> int:
    """Value, reverse and forward rules on derived shapes; how many calls there were."""
    count = 0
    for one in reshaped_samples(op, aspect):
        count += 1
        if op.reference is not None:
            check_value(op, one)
        check_reverse(op, one)
        if op.forward and "forward" not in op.skip:
            check_forward(op, one)
    return count


# --- methods, in place, out -----------------------------------------------------------------------


def method_name(op: Op) -> str | None:
    """The method of Tensor that a row also describes."""
    if op.method is False or "method" in op.skip:
        return None
    if isinstance(op.method, str):
        return op.method
    name = op.path.rpartition(".")[2]
    if op.method is True:
        return name
    same = getattr(Tensor, name, None) is op.call and not op.path.startswith("Tensor.")
    return name if same else None


def check_method(op: Op, sample: Sample, name: str) -> None:
    """The method equals the function."""
    if not sample.args or not isinstance(sample.args[0], Tensor):
        return
    first, *rest = sample.args
    expected = tensors_in(op.call(*sample.args, **sample.kwargs))
    actual = tensors_in(getattr(first, name)(*rest, **sample.kwargs))
    for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
        assert a.dtype is b.dtype
        assert_arrays(a, b, f"{sample!r}: method {name}, result {i}")


def check_inplace(op: Op, sample: Sample) -> None:
    """`name_` gives the same elements, gradients and tangents, into the first argument."""
    name = op.path.rpartition(".")[2] + "_"
    first = sample.args[0] if sample.args else None
    if not isinstance(first, Tensor):
        return
    expected = op.call(*sample.args, **sample.kwargs)
    if tuple(expected.shape) != tuple(first.shape) or expected.dtype is not first.dtype:
        return  # PyTorch refuses too: the result does not fit
    changed = tensor(array(first))
    result = getattr(changed, name)(*sample.args[1:], **sample.kwargs)
    assert result is changed, f"{name} must return the tensor that it changed"
    assert changed._version == 1, f"{name}: version {changed._version} after one change"
    assert_arrays(changed, expected, f"{sample!r}: {name}")
    problem = Problem(op, sample)
    if not problem.positions:
        return

    def inplace(*xs: Any) -> Any:
        full = list(problem.tensors)
        for i, x in zip(problem.positions, xs, strict=True):
            full[i] = x
        call = sample.replaced(full)
        target = call.args[0].clone()
        getattr(target, name)(*call.args[1:], **call.kwargs)
        return target

    g = problem.random(problem.at(problem.point))
    xs = problem.leaves()
    found = pullback([inplace(*xs)], xs, [tensor(c) for c in g])
    for i, (a, b) in enumerate(zip(found, problem.gradient(g), strict=True)):
        assert_arrays(a, b, f"{sample!r}: gradient {i} of {name}")
    if not op.forward or "forward" in op.skip:
        return
    direction = problem.random(problem.point)
    with forward_ad.dual_level():
        out = inplace(*dual(problem.leaves(False), direction))
        tangent = forward_ad.unpack_dual(out).tangent
    assert_arrays(tangent, problem.tangent(direction)[0], f"{sample!r}: tangent of {name}")


def check_out(op: Op, sample: Sample) -> None:
    """`out=` writes the same elements into a given tensor and returns it."""
    expected = op.call(*sample.args, **sample.kwargs)
    if not isinstance(expected, Tensor):
        return
    out = tensor(np.zeros(expected.shape, array(expected).dtype))
    result = op.call(*sample.args, **sample.kwargs, out=out)
    assert result is out, "out= must be returned"
    assert_arrays(out, expected, f"{sample!r}: out=")


# --- what a row exercises -------------------------------------------------------------------------


class _Observer:
    """Collects the names of the primitives that run."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def enter(self, name: str, inputs: Any, kind: str = "primitive") -> None:
        if kind == "primitive":  # and not a node of the graph
            self.seen.add(name)

    def leave(self, token: Any, outputs: Any) -> None:
        pass


def exercised(op: Op) -> set[str]:
    """The primitives that run in a row's calls, their gradients and their tangents.

    In real numbers; in complex numbers and second derivatives only while a name is missing.
    """
    observer = _Observer()
    core.mode_data.observers.append(observer)
    core.set_mode(2, True)
    try:
        for dtype, twice in ((dtypes.float64, False), (dtypes.complex128, False),
                             (dtypes.float64, True)):  # fmt: skip
            if set(op.primitives) - observer.seen and (dtype is dtypes.float64 or op.complex):
                for one in op.make(dtype):
                    run_everything(op, one, twice)
    finally:
        core.set_mode(2, False)
        core.mode_data.observers.remove(observer)
    return observer.seen


def run_everything(op: Op, one: Sample, twice: bool) -> None:
    """A call with its tangents and gradients, and second derivatives."""
    problem = Problem(op, one)
    xs = problem.leaves()
    outs = problem(*xs)
    if "reverse" in op.skip or not problem.positions:
        return
    if op.forward and "forward" not in op.skip:
        problem.tangent(problem.random(problem.point))
    cotangents = [tensor(g, twice) for g in problem.random([array(y) for y in outs])]
    first = pullback(outs, xs, cotangents, graph=twice)
    if twice:
        first = [a for a in first if a is not None]
        weights = [tensor(w) for w in problem.random([array(a) for a in first])]
        pullback(first, xs + cotangents, weights)
