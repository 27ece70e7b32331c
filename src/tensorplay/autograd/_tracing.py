"""Custom functions at the levels of transforms that interpret every operation.

Such a level (Taylor coefficients, sparsity patterns) hands primitives to a handler. A custom
function is shown to it as one more primitive: the forward runs on values, and the forward rule is
the function's own `jvp`, or its backward transposed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.autograd._context import FunctionCtx
from tensorplay.autograd._saved import INPUT, OUTPUT, refer
from tensorplay.autograd._transpose import tangents_by_transposition


class FunctionPrimitive:
    """One application of a custom function, in the form of a primitive."""

    kind = "function"
    outputs = -1
    differentiable = True
    is_view = False
    variadic = False
    vjp_rules = None

    def __init__(self, rule: Any, run: Callable[[list[Any]], Any]) -> None:
        self.rule = rule
        self.name = rule.name
        self.run = run
        self.given: list[Any] = []  # all outputs of the forward, also those that are no tensors
        self.places: list[int] = []  # which of them are tensors: the outputs of the primitive
        self.fixed: frozenset[int] = frozenset()

    def apply(self, values: Any) -> tuple[Any, ...]:
        """The forward, one level down."""
        self.given, self.lower = self.run(list(values))
        self.places = [j for j, x in enumerate(self.given) if isinstance(x, Tensor)]
        if self.lower.dirty or self.lower.mutated:
            raise RuntimeError(
                f"{self.name}.apply(): inside this transform, a custom Function cannot change an "
                "input in place; let it change a .clone()"
            )
        self.fixed = frozenset(i for i, j in enumerate(self.places) if j in self.lower.constant)
        return tuple(self.given[j] for j in self.places)

    def jvp(
        self, primitive: Any, primals: Any, tangents: Any, seen: Any, params: Any
    ) -> tuple[Any, ...]:
        """The tangents of the tensors among the outputs."""
        outputs = list(self.given)
        for j, x in zip(self.places, seen, strict=True):
            outputs[j] = x
        needs = self.rule.arguments_wanted([t is not None for t in tangents])
        ctx = self._context(list(primals), outputs, needs)
        if self.rule.has_jvp:
            found = self.rule.push(ctx, list(tangents))
        else:
            shown = [None if j in self.lower.constant else x for j, x in enumerate(outputs)]
            found = tangents_by_transposition(
                lambda cotangents: self.rule.pull(ctx, cotangents), list(tangents), shown, self.name
            )
        return tuple(found[j] for j in self.places)

    def _context(self, primals: list[Any], outputs: list[Any], needs: Any) -> FunctionCtx:
        """The context that the rules see, with saved tensors of this level."""
        lower = self.lower
        references, forward = lower.references, lower.forward_references
        ctx = lower.ctx
        if self.rule.has_setup:
            ctx = FunctionCtx(self.name, needs)
            self.rule.setup(ctx, primals, outputs)
            references = refer(ctx._state.request, primals, outputs)
            request = ctx._state.forward_request
            forward = None if request is None else refer(request, primals, outputs)
        if forward is not None and (self.rule.has_jvp or not references):
            references = forward
        given = tuple(
            primals[r.index] if r.kind == INPUT
            else outputs[r.index] if r.kind == OUTPUT
            else r.value
            for r in references
        )  # fmt: skip
        return ctx._view(given=given, needs=needs)
