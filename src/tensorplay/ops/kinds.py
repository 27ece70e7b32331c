"""How operators are defined: a kind states what an operator is, and derives its rules from that.

===============  ==================================================================================
kind             what is stated; what follows
===============  ==================================================================================
`elementwise`    the local derivative by each input; reverse, forward and batching follow
`linear`         the transpose; forward mode is the operator itself
`multilinear`    the transpose by each input; forward mode is the product rule
`primitive`      all three rules
`public`         a composition of other operators: no rule at all, only a name and a signature
===============  ==================================================================================

The arguments of a rule say what it needs, by name, and only that is kept for the backward pass:
`g` the cotangent of the output (a tuple for several outputs, None where none arrived), `t` the
tangent (a tuple for joint rules), `out` the output, an input's name for the input (in the order of
`inputs`, by default `x`, `y`, `z`), that name with `_shape` for its shape alone, and a parameter's
name. Rules are written with tensor operations, so they can be differentiated and batched again.
A rule may return a cotangent larger than a broadcast input: the engine sums it down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tensorplay._core import core
from tensorplay._core.core import (
    Inplace,
    MapInplace,
    Operation,
    Primitive,
    Rule,
    Tensor,
    batch_elementwise,
    jvp_partials,
)

#: Every public function by its public name, with the namespace it belongs to ('' is the package).
PUBLIC: dict[tuple[str, str], Any] = {}

#: Names of the methods of Tensor that were installed from here.
METHODS: dict[str, Any] = {}

#: A decorated function keeps its signature for type checkers.
_Function = TypeVar("_Function", bound=Callable[..., Any])

_INPUT_NAMES = ("x", "y", "z", "w")


# --- publishing -----------------------------------------------------------------------------------


def publish(
    function: Any,
    name: str,
    *,
    namespace: str = "",
    method: bool | str = True,
    inplace: bool = False,
    direct: MapInplace | None = None,
) -> Any:
    """Make `function` known as `namespace.name`, as a method, and in place as `name_`.

    direct: how the in-place form computes straight into memory where nothing is recorded.
    """
    PUBLIC[namespace, name] = function
    if method:
        install_method(method if isinstance(method, str) else name, function)
    if inplace:
        changed = Inplace(function, name + "_", direct)
        install_method(name + "_", changed)
        PUBLIC[namespace, name + "_"] = changed
    return function


def install_method(name: str, function: Any) -> None:
    """Make `function` a method (or property) of Tensor."""
    core.install(name, function)
    METHODS[name] = function


def public(
    name: str | None = None,
    *,
    namespace: str = "",
    method: bool | str = True,
    inplace: bool = False,
    out: bool = False,
    aliases: Sequence[str] = (),
    direct: MapInplace | None = None,
) -> Callable[[_Function], _Function]:
    """Decorator of a public function that is written with other operators.

    name: the public name, by default the function's own (a trailing underscore that avoids a
    Python name is dropped). method: also a method of Tensor (a string: under that name). inplace:
    also `name_`. out: accepts `out=`. aliases: further public names.
    """

    def decorate(function: _Function) -> _Function:
        label = name or function.__name__.rstrip("_")
        made: Any = Operation(function, label) if out else function
        for spelling in (label, *aliases):
            publish(
                made, spelling, namespace=namespace, method=method, inplace=inplace, direct=direct
            )
        return made

    return decorate


def method(name: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that is a method of Tensor only."""

    def decorate(function: Callable[..., Any]) -> Any:
        install_method(name or function.__name__.rstrip("_"), function)
        return function

    return decorate


def signature(primitive: Primitive) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of the public signature of a primitive, for calls that it cannot take itself."""

    def decorate(function: Callable[..., Any]) -> Any:
        function.__name__ = function.__qualname__ = primitive.name  # what a TypeError says
        primitive.public = function
        primitive.__doc__ = function.__doc__ or primitive.__doc__
        primitive.__wrapped__ = function  # so that inspect shows the public signature
        primitive.__module__ = function.__module__
        return primitive

    return decorate


# --- kinds ----------------------------------------------------------------------------------------


def elementwise(
    name: str,
    kernel: Callable[..., Any],
    *partials: Any,
    vjp: Any = None,
    jvp: Any = None,
    inputs: tuple[str, ...] | None = None,
    params: tuple[str, ...] = (),
    promote: str | None = "float",
    loop: str | None = None,
    doc: str = "",
    **options: Any,
) -> Primitive:
    """An operator that works element by element, on broadcast inputs.

    partials: per input the local derivative, as a rule without `g`, a number, or None where the
    derivative is not defined. Where one fused operator computes cotangent times derivative, give
    `vjp` in place of the partials: per input a rule with `g` (and `jvp` rules where the operator is
    not complex differentiable). promote: 'float' (integers become
    floating point), 'same' (the inputs' common dtype) or None (no promotion).
    """
    count = len(partials) or (len(vjp) if isinstance(vjp, tuple) else 1)
    names = inputs or _INPUT_NAMES[:count]
    rules: Any = partials or (vjp if isinstance(vjp, tuple) else (vjp,))
    if not partials and vjp is None:
        rules = None
    elif all(rule is None for rule in rules):
        rules = None
    forward = jvp_partials if partials else jvp_scaled
    if jvp is not None:
        jvp = jvp if isinstance(jvp, tuple) else (jvp,)
        forward = jvp_by_rules(jvp, names, params, name, False)
    made = Primitive(
        name, kernel, names, params, vjp=rules, partials=bool(partials) and rules is not None,
        jvp=forward, batch=batch_elementwise, promote=promote,
        broadcasts=True, kind="elementwise", loop=loop, **options,
    )  # fmt: skip
    made.__doc__ = doc
    return made


def linear(
    name: str,
    kernel: Callable[..., Any],
    transpose: Any,
    *,
    inputs: tuple[str, ...] = ("x",),
    params: tuple[str, ...] = (),
    batch: Any = None,
    **options: Any,
) -> Primitive:
    """An operator that is linear in its (differentiable) inputs taken together.

    transpose: the reverse rule: one function, or per input a rule (None for an input, such as an
    index, that the operator is not a linear function of).
    """
    vjp = transpose if isinstance(transpose, tuple) or len(inputs) > 1 else (transpose,)
    if options.get("variadic"):
        vjp = transpose
    return Primitive(
        name, kernel, inputs, params, vjp=vjp, jvp=jvp_linear, batch=batch, kind="linear", **options
    )


def multilinear(
    name: str,
    kernel: Callable[..., Any],
    *transposes: Any,
    inputs: tuple[str, ...] | None = None,
    params: tuple[str, ...] = (),
    batch: Any = None,
    **options: Any,
) -> Primitive:
    """An operator that is linear in each input while the others are held (None: not in it)."""
    names = inputs or _INPUT_NAMES[: len(transposes)]
    return Primitive(
        name, kernel, names, params, vjp=transposes, jvp=jvp_multilinear, batch=batch,
        kind="multilinear", **options,
    )  # fmt: skip


def primitive(
    name: str,
    kernel: Callable[..., Any],
    *,
    inputs: tuple[str, ...] = ("x",),
    params: tuple[str, ...] = (),
    vjp: Any = None,
    jvp: Any = None,
    batch: Any = None,
    **options: Any,
) -> Primitive:
    """An operator that states every rule.

    vjp: a tuple with a rule per input, or one joint rule that returns a tuple (its argument
    `wanted` says which are used). jvp: a tuple with a rule per input, whose contributions are
    added, or one joint rule whose `t` is the tuple of tangents (None where an input has none).
    Without a `jvp` forward mode transposes the reverse rule.
    """
    forward = (
        jvp_by_rules(jvp, inputs, params, name, options.get("variadic", False))
        if jvp is not None
        else jvp_transposed
    )
    if vjp is not None and not isinstance(vjp, tuple) and len(inputs) == 1:
        if not options.get("variadic"):
            vjp = (vjp,)
    return Primitive(
        name, kernel, inputs, params, vjp=vjp, jvp=forward if vjp is not None else None,
        batch=batch, kind="primitive", **options,
    )  # fmt: skip


def constant(
    name: str,
    kernel: Callable[..., Any],
    *,
    inputs: tuple[str, ...] = ("x",),
    params: tuple[str, ...] = (),
    batch: Any = None,
    **options: Any,
) -> Primitive:
    """An operator whose result is not a differentiable function of its inputs (indices, bools)."""
    return Primitive(name, kernel, inputs, params, batch=batch, kind="constant", **options)


# --- forward mode ---------------------------------------------------------------------------------


def jvp_scaled(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule from fused reverse rules g -> g * conj(d): apply them to the conjugate."""
    total = None
    for rule, tangent in zip(p.vjp_rules, tangents, strict=True):
        if tangent is None or rule is None:
            continue
        if tangent.dtype.is_complex:
            term = rule.call(primals, params, out, tangent.conj()).conj()
        else:
            term = rule.call(primals, params, out, tangent)
        total = term if total is None else total + term
    return total


def jvp_linear(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule of a linear operator: itself, with zeros where an input has no tangent."""
    if len(tangents) == 1:
        return p.apply(tangents, *params)
    inputs = [
        (zeros_like(x) if is_differentiable(x) else x) if t is None else t
        for x, t in zip(primals, tangents, strict=True)
    ]
    return p.apply(inputs, *params)


def jvp_multilinear(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule of a multilinear operator: one term per input that has a tangent."""
    total = None
    for i, tangent in enumerate(tangents):
        if tangent is None:
            continue
        term = p.apply([*primals[:i], tangent, *primals[i + 1 :]], *params)
        total = term if total is None else total + term
    return total


def jvp_by_rules(rules: Any, inputs: Any, params: Any, name: str, variadic: bool) -> Any:
    """A forward rule from a rule per input, or from one joint rule."""
    where = f"the forward rule of '{name}'"
    if not isinstance(rules, tuple):
        joint = Rule(rules, inputs, params, where, variadic)

        def forward_joint(p: Any, primals: Any, tangents: Any, out: Any, values: Any) -> Any:
            tangent = tangents[0] if len(inputs) == 1 and not variadic else tuple(tangents)
            return joint.call(primals, values, out, tangent)

        forward_joint.uses_out = joint.saves_out  # type: ignore[attr-defined]
        return forward_joint
    per_input = [None if rule is None else Rule(rule, inputs, params, where) for rule in rules]

    def forward(p: Any, primals: Any, tangents: Any, out: Any, values: Any) -> Any:
        total = None
        for rule, tangent in zip(per_input, tangents, strict=True):
            if tangent is None or rule is None:
                continue
            term = rule.call(primals, values, out, tangent)
            total = term if total is None else add_results(total, term)
        return total

    forward.uses_out = any(r is not None and r.saves_out for r in per_input)  # type: ignore[attr-defined]
    return forward


def add_results(a: Any, b: Any) -> Any:
    """a + b for tensors or equally long tuples of tensors, None counting as zero."""
    if isinstance(a, tuple):
        return tuple(add_results(x, y) for x, y in zip(a, b, strict=True))
    return b if a is None else a if b is None else a + b


def jvp_transposed(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule from the reverse rule alone: the reverse pass is linear in its cotangent u, so
    the derivative of <pullback(u), t> by u is the tangent of the output."""
    return _transpose_pullback(p, primals, tangents, out, params)


def _transpose_pullback(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    raise RuntimeError(f"{p.name}(): forward mode by transposition is not available yet")


def set_transposition(function: Callable[..., Any]) -> None:
    """Give `jvp_transposed` its machinery (the layer that can run a backward pass)."""
    global _transpose_pullback
    _transpose_pullback = function


# --- batching -------------------------------------------------------------------------------------


def pad_rank(x: Any, rank: int) -> Any:
    """A batched x (batch in front) with size-1 dims after the batch, up to `rank` of its own."""
    missing = rank - (x.ndim - 1)
    if missing <= 0:
        return x
    shape = x.shape
    return x.reshape((shape[0],) + (1,) * missing + tuple(shape[1:]))


def front(x: Any, bdim: int | None) -> Any:
    """x with its batch dimension first."""
    return x if not bdim else x.movedim(bdim, 0)


core.register_layer(pad_rank=pad_rank, front=front)


def batch_size(values: Any, bdims: Any) -> int:
    """The size of the batch that some of the values carry."""
    for x, b in zip(values, bdims, strict=True):
        if b is not None:
            return x.shape[b]
    raise ValueError("batch_size(): no value is batched")


def materialize(x: Any, bdim: int | None, size: int) -> Any:
    """x with a batch in front: its own, or a broadcast one (a view, no copy)."""
    if x is None:
        return None
    if bdim is not None:
        return front(x, bdim)
    return x.unsqueeze(0).expand((size, *x.shape))


def shifting(dims: Sequence[str] = (), sizes: Sequence[str] = (), out_bdim: Any = 0) -> Any:
    """Batching of an operator whose parameters name dims or sizes: the batch goes in front.

    dims: parameters that are a dim or a tuple of dims (each grows by one). sizes: parameters that
    are a shape of the whole result or input (the batch size goes in front).
    """

    def batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
        size = batch_size(values, bdims)
        moved = [materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]
        shifted = []
        for name, value in zip(p.param_names, params, strict=True):
            if name in dims and value is not None:
                value = shift(value)
            elif name in sizes:
                value = (size, *value)
            shifted.append(value)
        return p.apply(moved, *shifted), out_bdim

    return batch


def shift(dims: Any) -> Any:
    """Dims (an int or a tuple) one further back."""
    return dims + 1 if isinstance(dims, int) else tuple(d + 1 for d in dims)


def leading(*core_dims: int) -> Any:
    """Batching of an operator that takes any batch dims before the `core_dims` of each input."""

    def batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
        ranks = [
            0 if x is None else x.ndim - (b is not None) - core
            for x, b, core in zip(values, bdims, core_dims, strict=True)
        ]
        lead = max(ranks)
        moved = [
            x if b is None else pad_rank(front(x, b), lead + core)
            for x, b, core in zip(values, bdims, core_dims, strict=True)
        ]
        return p.apply(moved, *params), 0

    return batch


# --- small helpers that rules share ---------------------------------------------------------------


def is_differentiable(x: Any) -> bool:
    """Whether x is a tensor of floating point or complex dtype."""
    return isinstance(x, Tensor) and core.is_differentiable_dtype(x)


def tensors_only(*operators: Primitive, first: bool = False) -> None:
    """Let operators refuse numbers in the place of tensors (first: of the first one only)."""
    for made in operators:
        made.check = _number_check(made, 1 if first else len(made.keywords))


def _number_check(made: Primitive, count: int) -> Any:
    def check(inputs: Any) -> None:
        for x, argument in zip(inputs[:count], made.keywords, strict=False):
            require_tensor(x, made.name, argument)

    return check


def zeros_like(x: Any) -> Any:
    """A tensor of zeros like x: a broadcast 0-dim zero, which costs no memory."""
    return core.zeros_of(x)


wrap_dim = core.wrap_dim
wrap_dims = core.wrap_dims
require_tensor = core.require_tensor
