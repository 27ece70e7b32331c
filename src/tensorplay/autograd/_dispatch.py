"""Applying a custom function: at every transform level by itself, the forward once.

A rule (see `_rules.py`) is applied to flat lists of arguments. Inside transforms its forward runs
on the plain values of the lowest level; each level above boxes what came out and gets a context
and a graph node of its own, so that the function's own backward is used at each of them.
"""

from __future__ import annotations

import warnings
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._context import FunctionCtx, check_changeable
from tensorplay.autograd._rules import Batched, Record, release, run_backward
from tensorplay.autograd._saved import INPUT, OUTPUT, Reference, refer
from tensorplay.autograd._tracing import FunctionPrimitive
from tensorplay.autograd._transpose import tangents_by_transposition

_PULLING_BIT = 16


def apply_rule(rule: Any, inputs: list[Any]) -> tuple[list[Any], Application]:
    """The outputs of a rule, with history and tangents, and what was seen on the way."""
    application = Application(rule, inputs)
    level = _innermost_level(inputs)
    if level is None:
        application.run_plain()
    else:
        application.run_inside(level)
    return application.finish(), application


def _innermost_level(inputs: list[Any]) -> Any:
    number = max((core.box_level(x) for x in inputs if isinstance(x, Tensor)), default=0)
    if not number:
        return None
    for level in core.active_levels():
        if level.id == number:
            return level
    raise RuntimeError(
        "apply(): a tensor that was made inside a transform is given to a custom Function after "
        "the transform has ended; return it from the transformed function instead"
    )


class Application:
    """One application of a rule, at one transform level."""

    def __init__(self, rule: Any, inputs: list[Any]) -> None:
        self.rule = rule
        self.inputs = inputs
        self.raw: list[Any] = []  # outputs as the forward (or the level below) gave them
        self.same: list[int | None] = []  # per output, the input that it is
        self.dirty: set[int] = set()  # inputs changed in place, as announced
        self.mutated: set[int] = set()  # inputs changed in place, as noticed
        self.views: dict[int, int | None] = {}  # outputs that are views: of which input
        self.constant: set[int] = set()  # outputs without a gradient
        self.references: list[Reference] = []
        self.forward_references: list[Reference] | None = None
        self.tangents: dict[int, list[Any]] = {}
        self.bases: dict[int, Tensor] = {}
        requires = [isinstance(x, Tensor) and x.requires_grad for x in inputs]
        needs = list(requires)
        for i, x in enumerate(inputs):
            if not isinstance(x, Tensor):
                continue
            for level, tangent in core.tangents_of(x).items():
                self.tangents.setdefault(level, [None] * len(inputs))[i] = tangent
                needs[i] = needs[i] or not rule.has_jvp
            base = core.base_alias(x)
            if base is not None:
                self.bases[i] = base
        self.recording = any(requires) and core.is_grad_enabled()
        self.ctx = FunctionCtx(rule.name, rule.arguments_wanted(needs), self.recording)

    # --- running ---

    def run_plain(self) -> None:
        """Run the forward itself, as constant code: no graph, no tangents."""
        versions = [x._version if isinstance(x, Tensor) else 0 for x in self.inputs]
        with _ConstantCode():
            self.raw = self.rule.run(self.ctx, self.inputs)
            self.rule.setup(self.ctx, self.inputs, self.raw)
        self.mutated = {
            i
            for i, x in enumerate(self.inputs)
            if isinstance(x, Tensor) and x._version != versions[i]
        }
        self._relate()

    def _relate(self) -> None:
        """Find by identity what the forward said about its inputs and outputs."""
        state = self.ctx._state
        place = {id(x): i for i, x in reversed(list(enumerate(self.inputs)))}
        tensors = [isinstance(x, Tensor) for x in self.raw]
        self.same = [
            place.get(id(x)) if known else None for x, known in zip(self.raw, tensors, strict=True)
        ]
        for x in state.dirty:
            if id(x) in place:
                self.dirty.add(place[id(x)])
            else:
                warnings.warn(
                    f"mark_dirty(): {self.rule.name} marked a tensor that is not one of its "
                    "inputs; only inputs that are changed in place are to be marked",
                    UserWarning,
                    stacklevel=5,
                )
        views = [j for j, x in enumerate(self.raw) if self.same[j] is None and _is_view(x)]
        if views:
            memory = {
                id(core.version_object(x)): i
                for i, x in reversed(list(enumerate(self.inputs)))
                if isinstance(x, Tensor)
            }
            self.views = {j: memory.get(id(core.version_object(self.raw[j]))) for j in views}
        self._refer()

    def _refer(self) -> None:
        state = self.ctx._state
        fixed = {id(x) for x in state.non_differentiable}
        self.constant |= {
            j
            for j, x in enumerate(self.raw)
            if not isinstance(x, Tensor) or id(x) in fixed or not core.is_differentiable_dtype(x)
        }
        # An input that is returned unchanged is saved as the input that it is.
        outputs = [
            x if i is None or i in self.dirty else None
            for x, i in zip(self.raw, self.same, strict=True)
        ]
        request = state.request
        if not request and state.forward_request and not self.rule.has_backward:
            request = state.forward_request
        self.references = refer(request, self.inputs, outputs)
        if state.forward_request is not None:
            self.forward_references = refer(state.forward_request, self.inputs, outputs)

    def run_inside(self, level: Any) -> None:
        """Run one level down and box what comes out."""
        if level.kind == "interpret":
            self._run_interpreted(level)
            return
        pairs = [core.unbox(x, level) for x in self.inputs]
        values, bdims = [v for v, _ in pairs], [b for _, b in pairs]
        batched = any(b is not None for b in bdims)
        if batched and self.rule.has_vmap:
            self._run_own_vmap(level, values, bdims)
            return
        rule = Batched(self.rule, level, bdims) if batched else self.rule
        previous = core.is_grad_enabled()
        if level.grad_mode >= 0:
            core.set_grad_mode(bool(level.grad_mode) and (previous or core.get_mode(_PULLING_BIT)))
        active = core.exchange_levels(core.levels_below(level))
        try:
            outputs, lower = apply_rule(rule, values)
        finally:
            core.exchange_levels(active)
            core.set_grad_mode(previous)
        self.raw = self.rule.box(outputs, rule.out_dims if batched else None, level)
        self.same, self.dirty, self.views = lower.same, lower.dirty, lower.views
        self.mutated, self.constant = lower.mutated, lower.constant
        for i in self.mutated | self.dirty:
            if self.inputs[i] is not values[i]:
                core.bump_version(self.inputs[i])
            elif self.recording:
                raise RuntimeError(
                    f"{self.rule.name}.apply(): inside a transform, a tensor from outside of it "
                    "cannot be changed in place; give it a copy made inside"
                )
        if self.rule.has_setup:
            self._set_up()
        else:
            self._lift(rule.sample if batched else lower, level)
        if batched:
            rule.forget_arguments()

    def _run_interpreted(self, level: Any) -> None:
        """Let the handler of a level that interprets operations run it, as one more primitive."""

        def run(values: list[Any]) -> Any:
            active = core.exchange_levels(core.levels_below(level))
            try:
                return apply_rule(self.rule, values)
            finally:
                core.exchange_levels(active)

        primitive = FunctionPrimitive(self.rule, run)
        found = level.handler(primitive, tuple(self.inputs), ())
        self.raw = list(primitive.given)
        for j, x in zip(primitive.places, found, strict=True):
            self.raw[j] = x
        lower = primitive.lower
        self.same = [None] * len(self.raw)
        self.constant = lower.constant
        if self.rule.has_setup:
            self._set_up()
        else:
            self._lift(lower, level)

    def _set_up(self) -> None:
        """Let a function with `setup_context` fill the context of this level."""
        shown = [
            x if i is None else self.inputs[i] for x, i in zip(self.raw, self.same, strict=True)
        ]
        # Unrecorded at this level only: what it computes from its arguments is part of the outer.
        pulling = core.set_mode(_PULLING_BIT, True)
        try:
            with _ConstantCode():
                self.rule.setup(self.ctx, self.inputs, shown)
        finally:
            core.set_mode(_PULLING_BIT, pulling)
        raw, self.raw = self.raw, shown
        self._refer()
        self.raw = raw

    def _lift(self, source: Any, level: Any) -> None:
        """Take over what the forward kept one level down: it ran once, for all levels."""
        state, below = self.ctx._state, source.ctx._state
        state.materialize, state.extra = below.materialize, below.extra
        lifted: dict[int, Any] = {}
        for i, x in enumerate(source.inputs):
            lifted[id(x)] = self.inputs[i]
        for j, x in enumerate(source.raw):
            lifted.setdefault(id(x), self.raw[j])
        self.ctx.__dict__.update(
            (
                name,
                lifted[id(value)] if isinstance(value, Tensor) and id(value) in lifted else value,
            )
            for name, value in source.ctx.__dict__.items()
        )
        self.references = [_boxed(reference, level) for reference in source.references]
        if source.forward_references is not None:
            self.forward_references = [_boxed(r, level) for r in source.forward_references]

    def _run_own_vmap(self, level: Any, values: list[Any], bdims: list[Any]) -> None:
        versions = [x._version if isinstance(x, Tensor) else 0 for x in values]
        active = core.exchange_levels(core.levels_below(level))
        try:
            outputs, dims = self.rule.batch(level, values, bdims)
        finally:
            core.exchange_levels(active)
        self.raw = self.rule.box(outputs, dims, level)
        place = {id(x): i for i, x in enumerate(values) if isinstance(x, Tensor)}
        self.same = [place.get(id(x)) for x in outputs]
        for i, x in enumerate(values):
            if isinstance(x, Tensor) and x._version != versions[i]:
                self.mutated.add(i)
                if self.inputs[i] is not x:
                    core.bump_version(self.inputs[i])
        if self.rule.has_setup:
            self._set_up()
            return
        self.constant = {j for j, x in enumerate(self.raw) if not isinstance(x, Tensor)}
        if self.recording or self.tangents:
            raise RuntimeError(
                f"{self.rule.name}: differentiating inside vmap a Function that has a vmap "
                "staticmethod needs setup_context; split its forward into forward and "
                "setup_context, or delete the vmap staticmethod"
            )

    # --- finishing ---

    def finish(self) -> list[Any]:
        """The outputs in their final form: tracked, or refused where they cannot be."""
        self._check_changes()
        outputs = self._final_outputs()
        if not self.recording and not self.tangents:
            return outputs
        anchors = [
            core.without_history(x) if self._is_dirty(j) else x for j, x in enumerate(outputs)
        ]
        node = self._record(anchors) if self.recording else None
        self._keep(outputs, node)
        for level in sorted(self.tangents):
            self._push_tangents(level, anchors, node)
        if self.tangents and self.ctx._state.saved is not None:
            for saved in self.ctx._state.saved:
                if saved.kind == OUTPUT:
                    saved.set_tangents(core.tangents_of(anchors[saved.index]))
        for j, x in enumerate(outputs):
            i = self.same[j]
            if i is not None and i in self.dirty:
                core.adopt_history(x, anchors[j], self.bases.get(i))
        return outputs

    def _is_dirty(self, j: int) -> bool:
        return self.same[j] is not None and self.same[j] in self.dirty

    def _check_changes(self) -> None:
        name = self.rule.name
        for i in self.dirty:
            if i not in self.same:
                raise RuntimeError(
                    f"{name}: input {i} was marked as dirty but is not returned; inputs that are "
                    "changed in place must all be outputs of the Function"
                )
            if self.recording:
                check_changeable(self.inputs[i], name)
            if i not in self.mutated:  # changed outside of the library's sight, through NumPy
                core.bump_version(self.inputs[i])
        for i in self.mutated - self.dirty:
            x = self.inputs[i]
            moving = any(t[i] is not None for t in self.tangents.values())
            if moving or (self.recording and x.requires_grad):
                raise RuntimeError(
                    f"{name}: its forward changed input {i} in place without saying so; call "
                    "ctx.mark_dirty() with it and return it, or change a .clone() of it"
                )

    def _final_outputs(self) -> list[Any]:
        name = self.rule.name
        outputs: list[Any] = []
        seen: dict[int, int] = {}
        for j, x in enumerate(self.raw):
            i = self.same[j]
            if not isinstance(x, Tensor):
                outputs.append(x)
                continue
            if i is not None and i in self.dirty:
                x = self.inputs[i]
            elif i is not None:
                # The input itself keeps its history; what is returned gets that of the function.
                x = _same_values(x) if x is self.inputs[i] else x
                core.mark_custom_view(x, self.inputs[i], name)
            elif id(x) in seen:
                x = core.without_history(x)
                core.mark_custom_view(x, outputs[seen[id(x)]] if id(x) in seen else x, name)
            elif self.recording and x.requires_grad:  # a tensor from elsewhere, not to be changed
                source, x = x, core.without_history(x)
                core.mark_custom_view(x, source, name)
            elif j in self.views:
                base = self.views[j]
                if base is not None or _is_view(x):
                    core.mark_custom_view(x, x if base is None else self.inputs[base], name)
            seen.setdefault(id(self.raw[j]), j)
            outputs.append(x)
        return outputs

    def _record(self, anchors: list[Any]) -> Any:
        if all(j in self.constant for j in range(len(anchors))):
            return None
        metas = [
            (tuple(x.shape), x.dtype) if isinstance(x, Tensor) else ((), None) for x in anchors
        ]
        record = Record(self.rule, self.ctx, frozenset(self.constant))
        edges = [x if isinstance(x, Tensor) else None for x in self.inputs]
        node = core.make_node(
            self.rule.node_class, self.rule.name + "Backward", run_backward, edges, metas, record,
            release,
        )  # fmt: skip
        for j, x in enumerate(anchors):
            if j not in self.constant:
                core.attach(x, node, j)
        return node

    def _keep(self, outputs: list[Any], node: Any) -> None:
        values = [
            self.inputs[r.index] if r.kind == INPUT
            else outputs[r.index] if r.kind == OUTPUT
            else r.value
            for r in self.references
        ]  # fmt: skip
        self.ctx._keep(self.references, values, node)

    def _push_tangents(self, level: int, anchors: list[Any], node: Any) -> None:
        """The tangents of the outputs at a level: by the `jvp` rule, else by transposition."""
        references = self.references
        if self.rule.has_jvp and self.forward_references is not None:
            references = self.forward_references
        given = tuple(
            r.value if r.value is None
            else core.primal_below(
                self.inputs[r.index] if r.kind == INPUT
                else anchors[r.index] if r.kind == OUTPUT
                else r.value, level)
            for r in references
        )  # fmt: skip
        tangents = self.tangents[level]
        if self.rule.has_jvp:
            found = self.rule.push(self.ctx._view(given=given), tangents)
        else:
            needs = self.rule.arguments_wanted([t is not None for t in tangents])
            ctx = self.ctx._view(given=given, needs=needs)
            shown = [None if j in self.constant else x for j, x in enumerate(anchors)]
            found = tangents_by_transposition(
                lambda cotangents: self.rule.pull(ctx, cotangents), tangents, shown, self.rule.name
            )
        for j, tangent in enumerate(found):
            if tangent is None or j in self.constant:
                continue
            new = dict(core.tangents_of(anchors[j]))
            new[level] = core.primal_below(tangent, level)
            core.replace_tangents(anchors[j], new)


class _ConstantCode:
    """A stretch of code whose operations are neither recorded nor given tangents."""

    def __enter__(self) -> None:
        self._mode = core.set_grad_mode(False)
        self._hidden = core.hide_forward_levels()

    def __exit__(self, *_: Any) -> None:
        core.show_forward_levels(self._hidden)
        core.set_grad_mode(self._mode)


def _is_view(x: Any) -> bool:
    return isinstance(x, Tensor) and x._base is not None


def _same_values(x: Tensor) -> Tensor:
    """A view of all of x."""
    with _ConstantCode():
        return x.view_as(x)


def _boxed(reference: Reference, level: Any) -> Reference:
    if reference.kind in (INPUT, OUTPUT) or reference.value is None:
        return Reference(reference.kind, reference.index, reference.value)
    value = reference.value
    if core.box_level(value) != level.id:
        value = core.box(value, None, level)
    return Reference(reference.kind, reference.index, value)
