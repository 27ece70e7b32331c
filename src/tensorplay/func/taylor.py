"""`jet`: Taylor coefficients of a function along a curve, to any order in one pass.

Every tensor stands for a truncated power series. For a primitive f the chain rule says
d/dt f(x(t)) = J_f(x(t)) x'(t), and the right side is its forward rule, written with tensor
operations. Evaluated on series it gives the coefficients of order k from those below k: one rule
for every primitive that has a forward rule (Griewank and Walther, "Evaluating Derivatives", 2nd
ed., chapter 13). Linear operators act on each coefficient; products, where that recursion would
branch, are convolutions of the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.func._trees import check_tensors, flatten, unflatten
from tensorplay.ops.kinds import is_differentiable

Series = list[Any]  # coefficients x_0, x_1, ... of x_0 + x_1 t + x_2 t^2 + ...


class _JetLevel:
    """One run of `jet`: a level whose boxes carry series."""

    def __init__(self, order: int) -> None:
        self.order = order

    def __enter__(self) -> _JetLevel:
        self.level = core.push_level("interpret", handler=self.run)
        return self

    def __exit__(self, *_: Any) -> None:
        core.pop_level(self.level)

    def box(self, series: Series) -> Tensor:
        """A tensor at this level that stands for a series."""
        boxed: Any = core.box(series[0], None, self.level)
        boxed.series = list(series)
        return boxed

    def series(self, x: Any, order: int) -> Series:
        """The first coefficients of an input, 0 to order; None stands for zero."""
        at_level = isinstance(x, Tensor) and core.level_of(x) is self.level
        if at_level:
            # Order 0 is the box's own value: views of it share its memory.
            first = core.unbox(x, self.level)[0]
            known = [first, *getattr(x, "series", ())[1 : order + 1]]
            return known + [None] * (order + 1 - len(known))
        return [x] + [None] * order

    def run(self, primitive: Any, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> Any:
        """The handler: a primitive on series."""
        order = self.order
        columns = [self.series(x, order) for x in inputs]
        rule = _RULES.get(primitive.name) or _KIND_RULES.get(primitive.kind)
        if rule is not None:
            results = rule(primitive, columns, params, order)
        else:
            results = self.by_forward_rule(primitive, columns, params, order)
        if primitive.outputs == 1:
            return self.box(results)
        return tuple(self.box(series) for series in results)

    def by_forward_rule(
        self, primitive: Any, columns: list[Series], params: Any, order: int
    ) -> Any:
        """Order k of the result from the forward rule on series of order k - 1."""
        first = primitive.apply([c[0] for c in columns], *params)
        several = primitive.outputs != 1
        outs: list[Series] = [[x] for x in first] if several else [[first]]
        if not primitive.differentiable:
            return outs if several else outs[0]
        if primitive.jvp is None:
            raise RuntimeError(
                f"jet(): {primitive.name} has no forward rule, so its Taylor coefficients are not "
                "known"
            )
        # A rule that looks at its own output has it only up to the order before; else one
        # evaluation gives every order.
        for k in range(1, order + 1) if needs_output(primitive) else ([order] if order else []):
            self.order = k - 1
            primals = [self.box(c[:k]) if isinstance(c[0], Tensor) else c[0] for c in columns]
            tangents = [self.derivative(c, k) for c in columns]
            if all(t is None for t in tangents):
                break
            seen = tuple(self.box(out[:k]) for out in outs)
            moved = primitive.jvp(
                primitive, primals, tangents, seen if several else seen[0], params
            )
            for i, t in enumerate(moved if several else (moved,)):
                if i in primitive.fixed or t is None:
                    continue
                known = self.series(t, k - 1)
                for j in range(len(outs[i]), k + 1):
                    c = known[j - 1]
                    outs[i].append(None if c is None else _shaped(c / j, outs[i][0]))
        self.order = order
        return outs if several else outs[0]

    def derivative(self, column: Series, order: int) -> Tensor | None:
        """The series of x'(t), up to order - 1; None where it is zero."""
        if all(c is None for c in column[1 : order + 1]):
            return None
        zero = core.zeros_of(column[0])
        found = [zero if c is None else c * j for j, c in enumerate(column) if 1 <= j <= order]
        return self.box(found)


def needs_output(primitive: Any) -> bool:
    """Whether the forward rule of a primitive looks at the output."""
    uses = getattr(primitive.jvp, "uses_out", None)
    if uses is not None:
        return uses
    if primitive.kind == "elementwise":
        return any(rule is not None and rule.saves_out for rule in primitive.vjp_rules)
    return True


def _shaped(value: Tensor, like: Tensor) -> Tensor:
    return value if value.shape == like.shape else value.expand(tuple(like.shape))


# --- rules that need no recursion -----------------------------------------------------------------


def _linear(primitive: Any, columns: list[Series], params: Any, order: int) -> Any:
    several = primitive.outputs != 1
    results: list[Any] = []
    for k in range(order + 1):
        inputs = [c[k] for c in columns]
        if k and all(x is None for x in inputs):
            results.append(None)
            continue
        if k:
            inputs = [
                (c[0] if not is_differentiable(c[0]) else core.zeros_of(c[0])) if x is None else x
                for x, c in zip(inputs, columns, strict=True)
            ]
        results.append(primitive.apply(inputs, *params))
    if not several:
        return results
    count = len(results[0])
    return [[None if r is None else r[i] for r in results] for i in range(count)]


def _convolution(primitive: Any, columns: list[Series], params: Any, order: int) -> Series:
    """A multilinear operator: the sum over all ways to share the order among the inputs."""
    results: Series = [primitive.apply([c[0] for c in columns], *params)]
    for k in range(1, order + 1):
        total = None
        for split in _compositions(k, len(columns)):
            inputs = [c[j] for c, j in zip(columns, split, strict=True)]
            if any(x is None and j for x, j in zip(inputs, split, strict=True)):
                continue
            term = primitive.apply(inputs, *params)
            total = term if total is None else total + term
        results.append(total)
    return results


def _affine(primitive: Any, columns: list[Series], params: Any, order: int) -> Series:
    """linear: a product, and a bias that is added."""
    x, weight, bias = columns
    results = _convolution(primitive, [x, weight, [None] * (order + 1)], params, order)
    for k, b in enumerate(bias):
        if b is not None:
            total = results[k]
            results[k] = _shaped(b, results[0]) if total is None else total + b
    return results


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _compositions(total - first, parts - 1)
    ]


def _quotient(primitive: Any, columns: list[Series], params: Any, order: int) -> Series:
    """q = a / b from a = q b, order by order."""
    a, b = columns
    results: Series = [primitive.apply([a[0], b[0]], *params)]
    for k in range(1, order + 1):
        total = a[k]
        for j in range(1, k + 1):
            if b[j] is not None and results[k - j] is not None:
                term = results[k - j] * b[j]
                total = -term if total is None else total - term
        results.append(None if total is None else _shaped(total / b[0], results[0]))
    return results


def _select(primitive: Any, columns: list[Series], params: Any, order: int) -> Series:
    """where: the condition chooses a series as it chooses a value."""
    condition, a, b = columns
    results: Series = []
    for k in range(order + 1):
        x, y = a[k], b[k]
        if x is None and y is None:
            results.append(None)
            continue
        x = core.zeros_of(a[0]) if x is None else x
        y = core.zeros_of(b[0]) if y is None else y
        results.append(primitive.apply([condition[0], x, y]))
    return results


_RULES = {
    "mul": _convolution,
    "div": _quotient,
    "where": _select,
    "add": _linear,
    "sub": _linear,
    "neg": _linear,
    "linear": _affine,
}
_KIND_RULES = {"linear": _linear, "multilinear": _convolution}


# --- the public function --------------------------------------------------------------------------


def jet(
    f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]
) -> tuple[Any, Any]:
    """The value of `f` and the Taylor coefficients of its output along a curve.

    The curve is x(t) = primal + series[0] t + series[1] t^2 + ..., and the result holds the
    coefficients of f(x(t)) in the same sense: multiply number k (from 1) by k! for the k-th
    derivative.

    Args:
        f: a function of tensors that returns a pytree of tensors.
        primals: its arguments.
        series: for each argument the coefficients of order 1 up; all of one length, each of the
            argument's shape.

    Returns:
        (output, coefficients): the value, and a list with the coefficients of orders 1 up, each
        structured as the output.

    Raises:
        RuntimeError: if the series do not fit the primals, or an operator has no rule.

    >>> import tensorplay as tp
    >>> value, (first, second, third) = tp.func.jet(
    ...     tp.exp, (tp.tensor(0.),), ((tp.tensor(1.), tp.tensor(0.), tp.tensor(0.)),))
    >>> third * 6
    tensor(1.)
    """
    if len(primals) != len(series):
        raise RuntimeError(
            f"jet(): got {len(primals)} primals and {len(series)} series; give one for each"
        )
    orders = {len(s) for s in series}
    if len(orders) != 1:
        raise RuntimeError(f"jet(): all series must have one length, got {sorted(orders)}")
    (order,) = orders
    check_tensors(list(primals), "the primals", "jet")
    for i, (x, coefficients) in enumerate(zip(primals, series, strict=True)):
        check_tensors(list(coefficients), f"the coefficients of series {i}", "jet")
        for c in coefficients:
            if c.shape != x.shape:
                raise RuntimeError(
                    f"jet(): series {i} has a coefficient of shape {list(c.shape)}, its primal has "
                    f"shape {list(x.shape)}"
                )
    with _JetLevel(order) as run:
        inputs = [run.box([x, *s]) for x, s in zip(primals, series, strict=True)]
        outputs, spec = flatten(f(*inputs))
        check_tensors(outputs, "the outputs", "jet")
        columns = [run.series(out, order) for out in outputs]
    values = [core.unbox(c[0], run.level)[0] for c in columns]
    filled = [
        [core.zeros_of(values[i]) if c is None else c for c in column[1:]]
        for i, column in enumerate(columns)
    ]
    coefficients = [unflatten(spec, [column[k] for column in filled]) for k in range(order)]
    return unflatten(spec, values), coefficients
