"""What is applied: a user's `Function`, or one that works on a whole batch of its calls."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._context import FunctionCtx
from tensorplay.autograd._saved import INPUT, OUTPUT, Reference, refer
from tensorplay.autograd._structure import Structure, take_apart
from tensorplay.autograd._transpose import transpose


class VmapInfo(NamedTuple):
    """What the `vmap` staticmethod of a Function learns about the vmap it is called for."""

    batch_size: int
    randomness: str


class Record(NamedTuple):
    """What a node needs for its backward."""

    rule: Any
    ctx: FunctionCtx
    constant: frozenset[int]


class FunctionNode(core.PythonNode):
    """`grad_fn` of the outputs of a custom Function; attributes of its `ctx` are its own too."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self._context is None:
            raise AttributeError(name)
        try:
            return getattr(self._context.ctx, name)
        except AttributeError:
            raise AttributeError(f"{self.name()} has no attribute '{name}'") from None

    def differentiable(self, number: int) -> bool:
        """Whether an output has a gradient."""
        return number not in self._context.constant

    def saved_bytes(self) -> int:
        """Bytes that this node keeps alive for the backward pass."""
        return sum(core.kept_bytes(saved.value) for saved in self._context.ctx._state.saved or ())

    @property
    def is_released(self) -> bool:
        """Whether the saved tensors were freed by a backward pass."""
        return bool(self._context.ctx._state.released)


def run_backward(node: Any, cotangents: list[Any], wanted: Any) -> list[Any]:
    """What the engine calls: cotangents of the outputs in, of the inputs out."""
    rule, ctx, _ = node._context
    if wanted is None:
        wanted = [edge is not None for edge, _ in node.next_functions]
    found = rule.pull(ctx._view(needs=rule.arguments_wanted(wanted)), cotangents)
    return [g if want else None for g, want in zip(found, wanted, strict=True)]


def release(node: Any) -> None:
    """What the engine calls after a backward pass that was the last one."""
    node._context.ctx._release()


class UserRule:
    """One call of a user's Function: its rules on flat lists of arguments and results."""

    out_dims = None

    def __init__(self, function: Any, items: tuple[Any, ...], keywords: tuple[str, ...]) -> None:
        self.function = function
        self.name = function.__name__
        self.node_class = function._node_class
        self.has_setup = function._has_setup
        self.has_vmap = function._has_vmap
        self.has_jvp = function._has_jvp
        self.has_backward = function._has_backward
        self.keywords = keywords
        self.flat, self.arguments = take_apart(items)
        self.original: tuple[Any, ...] | None = items
        self.in_metas = [_meta(x) for x in self.flat]
        self.results: Structure | None = None
        self.single = True
        self.out_metas: list[Any] = []

    def forget_arguments(self) -> None:
        """Let go of the arguments: the graph keeps what it needs of them."""
        self.flat = []
        self.original = None

    def arguments_wanted(self, flags: Any) -> tuple[bool, ...]:
        """Per argument, whether any of its tensors is flagged."""
        return self.arguments.per_item(flags)

    def _arguments(self, flat: list[Any]) -> tuple[Any, ...]:
        if flat is self.flat and self.original is not None:
            return self.original  # the caller's own containers
        return self.arguments.build(flat)

    # --- forward ---

    def run(self, ctx: FunctionCtx, flat: list[Any]) -> list[Any]:
        """The forward: flat arguments to flat results."""
        items = self._arguments(flat)
        split = len(items) - len(self.keywords)
        named = dict(zip(self.keywords, items[split:], strict=True))
        if self.has_setup:
            result = self.function.forward(*items[:split], **named)
        else:
            result = self.function.forward(ctx, *items[:split], **named)
        return self._take_results(result)

    def _take_results(self, result: Any) -> list[Any]:
        self.single = not isinstance(result, tuple)
        leaves, self.results = take_apart((result,) if self.single else tuple(result))
        self.out_metas = [_meta(x) for x in leaves]
        return leaves

    def setup(self, ctx: FunctionCtx, flat: list[Any], outputs: list[Any]) -> None:
        """Let `setup_context` see the call, where there is one."""
        if self.has_setup:
            self.function.setup_context(ctx, self._arguments(flat), self.give(outputs))

    def give(self, outputs: list[Any]) -> Any:
        """Flat results in the form in which the forward returned them."""
        items = self._results().build(outputs)
        return items[0] if self.single else items

    def _results(self) -> Structure:
        if self.results is None:
            raise RuntimeError(f"{self.name}: its forward has not run")
        return self.results

    def box(self, values: list[Any], dims: Any, level: Any) -> list[Any]:
        """Values of a level, in boxes."""
        return _box(values, dims, level)

    # --- reverse ---

    def pull(self, ctx: FunctionCtx, cotangents: list[Any]) -> list[Any]:
        """The cotangents of the inputs, checked, and of the inputs' shapes and dtypes."""
        function = self.function
        if not self.has_backward:
            if self.has_jvp:
                return self._pull_by_transposition(ctx, cotangents)
            raise NotImplementedError(
                f"{self.name}: it has no backward, so it cannot be differentiated; implement "
                "backward (or vjp, or jvp)"
            )
        if ctx._state.materialize:
            cotangents = _zeros_for_none(cotangents, self.out_metas)
        rule = function._backward_rule()
        found = rule(ctx, *self._results().build(cotangents))
        return self._check_gradients(found if isinstance(found, tuple) else (found,), ctx._needs)

    def _check_gradients(self, found: tuple[Any, ...], needs: tuple[bool, ...]) -> list[Any]:
        count = self.arguments.items
        if len(found) > count and all(g is None for g in found[count:]):
            found = found[:count]
        if len(found) != count:
            raise RuntimeError(
                f"{self.name}: its backward returned an incorrect number of gradients (expected "
                f"{count}, got {len(found)}); return one per input of forward, None where an "
                "input has none"
            )
        leaves = self.arguments.leaves_like(found, f"{self.name}: its backward returned gradients:")
        wanted = [
            need for need, n in zip(needs, self.arguments.counts, strict=True) for _ in range(n)
        ]
        return [
            self._check_gradient(i, g, meta, want)
            for i, (g, meta, want) in enumerate(zip(leaves, self.in_metas, wanted, strict=True))
        ]

    def _check_gradient(self, i: int, g: Any, meta: Any, wanted: bool) -> Any:
        if g is None:
            return None
        if meta is None:
            raise RuntimeError(
                f"{self.name}: its backward returned a gradient different from None at position "
                f"{i}, but the corresponding input of forward is not a tensor"
            )
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"{self.name}: its backward must return tensors or None, got "
                f"{type(g).__name__} at position {i}"
            )
        if not wanted:
            return None
        shape, dtype = meta
        if tuple(g.shape) != shape:
            if not _sums_to(tuple(g.shape), shape):
                raise RuntimeError(
                    f"{self.name}: its backward returned an invalid gradient at index {i}: got "
                    f"shape {list(g.shape)}, expected one compatible with {list(shape)}"
                )
            g = core.registry["sum_to"](g, shape)
        if g.dtype is not dtype:
            if g.dtype.is_complex and not dtype.is_complex:
                raise RuntimeError(
                    f"{self.name}: its backward returned an invalid gradient at index {i}: got "
                    f"dtype {g.dtype} for an input of dtype {dtype}; take the real part"
                )
            g = core.registry["to_dtype"](g, dtype)
        return g

    def _pull_by_transposition(self, ctx: FunctionCtx, cotangents: list[Any]) -> list[Any]:
        wanted = [
            need for need, n in zip(ctx._needs, self.arguments.counts, strict=True)
            for _ in range(n)
        ]  # fmt: skip
        metas = [meta if want else None for want, meta in zip(wanted, self.in_metas, strict=True)]
        return transpose(
            lambda tangents: self.push(ctx, tangents),
            cotangents,
            metas,
            f"{self.name}: reverse mode transposes its jvp, which must do so with tensor "
            "operations all the way from the tangent; write it so, or give a backward",
        )

    # --- forward mode ---

    def push(self, ctx: FunctionCtx, tangents: list[Any]) -> list[Any]:
        """The tangents of the outputs by the `jvp` rule (None: zero)."""
        if ctx._state.materialize:
            tangents = _zeros_for_none(tangents, self.in_metas)
        found = self.function.jvp(ctx, *self.arguments.build(tangents))
        items = found if isinstance(found, tuple) else (found,)
        count = self._results().items
        if len(items) != count:
            raise RuntimeError(
                f"{self.name}: its jvp returned {len(items)} tangents, expected {count}, one per "
                "output of forward"
            )
        leaves = self._results().leaves_like(items, f"{self.name}: its jvp returned tangents:")
        return [
            self._check_tangent(j, t, meta)
            for j, (t, meta) in enumerate(zip(leaves, self.out_metas, strict=True))
        ]

    def _check_tangent(self, j: int, t: Any, meta: Any) -> Any:
        if t is None or meta is None:
            return None
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"{self.name}: its jvp must return tensors or None, got {type(t).__name__} at "
                f"position {j}"
            )
        shape, dtype = meta
        if tuple(t.shape) != shape:
            raise RuntimeError(
                f"{self.name}: its jvp returned a tangent of shape {list(t.shape)} at position "
                f"{j} for an output of shape {list(shape)}"
            )
        return t if t.dtype is dtype else core.registry["to_dtype"](t, dtype)

    # --- batching by the user's own rule ---

    def batch(self, level: Any, values: list[Any], dims: list[Any]) -> tuple[list[Any], list[Any]]:
        """Outputs and the dims of their batches, by the `vmap` staticmethod."""
        info = VmapInfo(level.size, level.randomness)
        in_dims = self.arguments.build(dims)
        result = self.function.vmap(info, in_dims, *self.arguments.build(values))
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(
                f"{self.name}: its vmap staticmethod must return two things, the output and its "
                f"out_dims, got {type(result).__name__}"
            )
        output, out_dims = result
        leaves = self._take_results(output)
        given = out_dims if isinstance(out_dims, tuple) and not self.single else (out_dims,)
        if isinstance(out_dims, int) or out_dims is None:
            flat = [out_dims if isinstance(x, Tensor) else None for x in leaves]
        else:
            if len(given) != self._results().items:
                raise RuntimeError(
                    f"{self.name}: its vmap staticmethod returned out_dims={out_dims}, which does "
                    f"not match its {self._results().items} outputs"
                )
            flat = self._results().leaves_like(given, f"{self.name}: out_dims of its vmap:")
        self.out_metas = [
            _meta(core.box(x, d, level)) if isinstance(x, Tensor) else None
            for x, d in zip(leaves, flat, strict=True)
        ]
        return leaves, flat


class _Sample(NamedTuple):
    """The forward of a batched function, as one call of the user's function saw it."""

    ctx: FunctionCtx
    inputs: list[Any]
    raw: list[Any]
    references: list[Reference]
    forward_references: list[Reference] | None


class _Extra(NamedTuple):
    """How the saved values of a batched function are batched."""

    ctx: FunctionCtx  # of the user's function
    dims: list[Any]
    forward_dims: list[Any] | None
    attributes: dict[str, tuple[Any, Any]]  # tensors set on ctx: (value, dim)


class Batched:
    """A rule that applies another one to a whole batch, by running it on boxes of a vmap level.

    Its backward runs the other's backward under a vmap of its own, as it may run long after the
    level has ended.
    """

    has_vmap = False

    def __init__(self, rule: Any, level: Any, dims: list[Any]) -> None:
        self.rule = rule
        self.level = level
        self.size = level.size
        self.randomness = level.randomness
        self.dims = dims
        self.name = rule.name
        self.node_class = rule.node_class
        self.has_setup = rule.has_setup
        self.has_jvp = rule.has_jvp
        self.has_backward = rule.has_backward
        self.out_dims: list[Any] = []
        self.sample: _Sample | None = None

    def arguments_wanted(self, flags: Any) -> tuple[bool, ...]:
        """Per argument, whether any of its tensors is flagged."""
        return self.rule.arguments_wanted(flags)

    def box(self, values: list[Any], dims: Any, level: Any) -> list[Any]:
        """Values of a level, in boxes."""
        return _box(values, dims, level)

    def run(self, ctx: FunctionCtx, values: list[Any]) -> list[Any]:
        """The forward on boxes, its results without their boxes."""
        boxed = _box(values, self.dims, self.level)
        inner = FunctionCtx(self.name, ctx._needs, ctx._state.recording)
        with _Inside(self.level):
            raw = self.rule.run(inner, boxed)
        given = {id(x): i for i, x in enumerate(boxed) if isinstance(x, Tensor)}
        outputs: list[Any] = []
        self.out_dims = []
        done: dict[int, tuple[Any, Any]] = {}
        for x in raw:
            if id(x) not in done:
                i = given.get(id(x))
                done[id(x)] = self._output(x) if i is None else (values[i], self.dims[i])
            value, dim = done[id(x)]
            outputs.append(value)
            self.out_dims.append(dim)
        if not self.has_setup:
            self._transfer(ctx, inner, boxed, raw, values, outputs)
        return outputs

    def _output(self, x: Any) -> tuple[Any, Any]:
        """(value, batch dim) of a result; one that can have a gradient has one per sample."""
        if not isinstance(x, Tensor):
            return x, None
        value, dim = core.unbox(x, self.level)
        if dim is None and core.is_differentiable_dtype(value):
            value = value.unsqueeze(0).expand((self.size, *value.shape)).clone()
            dim = 0
        if x._base is None and value._base is not None:
            value = core.without_history(value)  # a view of nothing that anybody else sees
        return value, dim

    def setup(self, ctx: FunctionCtx, values: list[Any], outputs: list[Any]) -> None:
        """Let `setup_context` see the call of one sample."""
        if not self.has_setup:
            return
        boxed = _box(values, self.dims, self.level)
        place = {id(x): i for i, x in enumerate(values) if isinstance(x, Tensor)}
        raw = [
            boxed[place[id(x)]] if id(x) in place else y
            for x, y in zip(outputs, _box(outputs, self.out_dims, self.level), strict=True)
        ]
        inner = FunctionCtx(self.name, ctx._needs, ctx._state.recording)
        with _Inside(self.level):
            self.rule.setup(inner, boxed, raw)
        self._transfer(ctx, inner, boxed, raw, values, outputs)

    def _transfer(
        self, ctx: FunctionCtx, inner: FunctionCtx, boxed: Any, raw: Any, values: Any, outputs: Any
    ) -> None:
        """Say to `ctx`, about the values, what the user's function said about the boxes."""
        state = inner._state
        dirty = {id(x) for x in state.dirty}
        fixed = {id(x) for x in state.non_differentiable}
        place = {id(x) for x in boxed if isinstance(x, Tensor)}
        shown = [None if id(x) in place and id(x) not in dirty else x for x in raw]
        request = state.request
        if not request and state.forward_request and not self.has_backward:
            request = state.forward_request
        references = refer(request, boxed, shown)
        saved, dims = self._values(references, values, outputs)
        ctx.save_for_backward(*saved)
        forward_references, forward_dims = None, None
        if state.forward_request is not None:
            forward_references = refer(state.forward_request, boxed, shown)
            saved, forward_dims = self._values(forward_references, values, outputs)
            ctx.save_for_forward(*saved)
        ctx.mark_dirty(*[v for x, v in zip(boxed, values, strict=True) if id(x) in dirty])
        ctx.mark_non_differentiable(
            *[v for x, v in zip(raw, outputs, strict=True) if id(x) in fixed]
        )
        ctx.set_materialize_grads(False)  # the user's function sees zeros of its own shapes
        attributes = {
            name: core.unbox(value, self.level)
            for name, value in inner.__dict__.items()
            if isinstance(value, Tensor) and core.box_level(value) == self.level.id
        }
        ctx._state.extra = _Extra(inner, dims, forward_dims, attributes)
        self.sample = _Sample(inner, boxed, raw, references, forward_references)

    def _values(
        self, references: list[Reference], values: Any, outputs: Any
    ) -> tuple[list[Any], list[Any]]:
        pairs = [
            (values[r.index], self.dims[r.index]) if r.kind == INPUT
            else (outputs[r.index], self.out_dims[r.index]) if r.kind == OUTPUT
            else (None, None) if r.value is None
            else core.unbox(r.value, self.level)
            for r in references
        ]  # fmt: skip
        return [value for value, _ in pairs], [dim for _, dim in pairs]

    def forget_arguments(self) -> None:
        """Let go of the forward's tensors."""
        self.sample = None
        self.level = None

    def pull(self, ctx: FunctionCtx, cotangents: list[Any]) -> list[Any]:
        """The cotangents of the inputs, each with the batch where the input has it."""
        extra = ctx._state.extra
        with _Vmap(self.size, self.randomness) as level:
            inner = self._inner(ctx, extra.dims, level)
            found = self.rule.pull(inner, _box(cotangents, self.out_dims, level))
            return [
                self._sum_or_place(g, dim, level) for g, dim in zip(found, self.dims, strict=True)
            ]

    def push(self, ctx: FunctionCtx, tangents: list[Any]) -> list[Any]:
        """The tangents of the outputs, each with the batch where the output has it."""
        extra = ctx._state.extra
        dims = extra.dims if extra.forward_dims is None else extra.forward_dims
        with _Vmap(self.size, self.randomness) as level:
            inner = self._inner(ctx, dims, level)
            found = self.rule.push(inner, _box(tangents, self.dims, level))
            return [
                None if t is None else _placed(dim, self.size, *core.unbox(t, level))
                for t, dim in zip(found, self.out_dims, strict=True)
            ]

    def _inner(self, ctx: FunctionCtx, dims: list[Any], level: Any) -> FunctionCtx:
        extra = ctx._state.extra
        given = tuple(_box(list(ctx.saved_tensors), dims, level))
        inner = extra.ctx._view(given=given, needs=ctx._needs)
        if extra.attributes:
            boxed = {name: core.box(v, d, level) for name, (v, d) in extra.attributes.items()}
            inner.__dict__ = {**extra.ctx.__dict__, **boxed}
        return inner

    def _sum_or_place(self, g: Any, dim: int | None, level: Any) -> Any:
        """A cotangent for an input: summed over the samples where they share the input."""
        if g is None:
            return None
        value, found = core.unbox(g, level)
        if dim is None:
            return value if found is None else value.sum(found)
        return _placed(dim, self.size, value, found)


class _Vmap:
    """A vmap level that is open for the length of a `with` statement."""

    def __init__(self, size: int, randomness: str) -> None:
        self._arguments = (size, randomness)

    def __enter__(self) -> Any:
        self._level = core.push_level("vmap", *self._arguments)
        return self._level

    def __exit__(self, *_: Any) -> None:
        core.pop_level(self._level)


class _Inside:
    """A stretch of code for which a level is active that code of an outer level has left."""

    def __init__(self, level: Any) -> None:
        self._level = level

    def __enter__(self) -> None:
        active = core.active_levels()
        inner = self._level if self._level not in active else None
        self._active = core.exchange_levels([*active, *([inner] if inner else [])])

    def __exit__(self, *_: Any) -> None:
        core.exchange_levels(self._active)


def _placed(dim: int | None, size: int, value: Any, found: int | None) -> Any:
    """A value with its batch moved to (or repeated at) `dim`."""
    if dim is None:
        return value
    if found is None:
        return value.unsqueeze(dim).expand((*value.shape[:dim], size, *value.shape[dim:]))
    return value if found == dim else value.movedim(found, dim)


def _box(values: list[Any], dims: Any, level: Any) -> list[Any]:
    """Values of a level, in boxes; without dims, none of them is batched."""
    if dims is None:
        dims = [None] * len(values)
    return [
        core.box(x, d, level) if isinstance(x, Tensor) else x
        for x, d in zip(values, dims, strict=True)
    ]


def _meta(x: Any) -> Any:
    return (tuple(x.shape), x.dtype) if isinstance(x, Tensor) else None


def _zeros_for_none(values: list[Any], metas: list[Any]) -> list[Any]:
    return [
        core.new_zeros(*meta) if x is None and meta is not None else x
        for x, meta in zip(values, metas, strict=True)
    ]


def _sums_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `target` broadcasts to `shape`."""
    extra = len(shape) - len(target)
    return extra >= 0 and all(t in (1, s) for s, t in zip(shape[extra:], target, strict=True))
