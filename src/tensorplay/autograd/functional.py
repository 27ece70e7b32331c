"""Products with Jacobians and Hessians of functions, and the matrices themselves.

Functions take and return a tensor or a tuple of tensors; results are structured likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._arguments import (
    as_tuple,
    check_differentiable,
    check_vectors,
    fresh_inputs,
    ones_for_single,
    result,
    strict_failure,
    zeros_like,
)
from tensorplay.autograd.backward import grad
from tensorplay.autograd.grad_mode import enable_grad
from tensorplay.transforms import forward
from tensorplay.transforms.vmap import vmap

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# --- running the function -------------------------------------------------------------------------


def _evaluate(func: Callable[..., Any], inputs: Any, name: str, strict: bool) -> tuple[bool, Any]:
    """(is a tuple, outputs) of the function; strict: each must be computed from the inputs."""
    given, outputs = as_tuple(func(*inputs), "outputs of the user-provided function", name)
    if strict:
        for i, out in enumerate(outputs):
            if not out.requires_grad:
                raise strict_failure(
                    name,
                    f"output {i} of the function does not depend on the inputs in a "
                    "differentiable manner",
                )
    return given, outputs


def _check_used(outputs: Any, inputs: Any, name: str) -> None:
    """Strict mode: every input must reach some output."""
    reached = reachable_nodes(outputs)
    for i, x in enumerate(inputs):
        if core.gradient_edge(x)[0] not in reached:
            raise strict_failure(name, f"the outputs of the function are independent of input {i}")


def reachable_nodes(outputs: Any) -> set[Any]:
    """All graph nodes that lead to the outputs."""
    stack = [core.gradient_edge(x)[0] for x in outputs]
    seen = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack.extend(child for child, _ in node.next_functions)
    return seen


def _grads(
    outputs: Any, inputs: Any, cotangents: Any, create_graph: bool, retain: bool | None = None
) -> Any:
    """Gradients, None where nothing leads from an output to the input."""
    pairs = [
        (out, g) for out, g in zip(outputs, cotangents, strict=True)
        if g is not None and out.requires_grad
    ]  # fmt: skip
    if not pairs:
        return [None] * len(inputs)
    outs, gs = zip(*pairs, strict=True)
    return list(
        grad(outs, inputs, gs, retain_graph=retain, create_graph=create_graph, allow_unused=True)
    )


def _fill(
    values: Any, like: Any, name: str, strict: bool, create_graph: bool, text: str
) -> tuple[Tensor, ...]:
    """Zeros for what is None; strict: that, or a constant under create_graph, is an error."""
    found = []
    for i, (value, x) in enumerate(zip(values, like, strict=True)):
        if value is None:
            if strict:
                raise strict_failure(name, text.format(i))
            value = zeros_like(x)
        elif strict and create_graph and not value.requires_grad:
            raise strict_failure(
                name, f"{text.format(i)} (its derivative is constant, and create_graph=True)"
            )
        found.append(value)
    return tuple(found)


# --- products -------------------------------------------------------------------------------------


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The function's value, and the product of a vector with its Jacobian at the inputs.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: the vector, shaped as the output; may be left out for an output of one element.
        create_graph: compute both results in a differentiable way.
        strict: an input that no output depends on is an error, not a zero.

    Returns:
        (func_output, vjp): the output, and a product shaped as the inputs.

    Raises:
        RuntimeError: if v does not fit, or in strict mode.

    >>> import tensorplay as tp
    >>> tp.autograd.functional.vjp(lambda x: x.exp().sum(), tp.zeros(2))
    (tensor(2.), tensor([1., 1.]))
    """
    with enable_grad():
        given_inputs, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = fresh_inputs(inputs, create_graph, "vjp")
        given, outputs = _evaluate(func, inputs, "vjp", strict)
        if v is not None:
            vectors = check_vectors(v, outputs, given, "the output of the function", "vjp")
        else:
            vectors = ones_for_single(outputs, "the output of the function", "vjp")
            _check_real(outputs[0], "vjp")
        found = _grads(outputs, inputs, vectors, create_graph)
        found = _fill(
            found, inputs, "vjp", strict, create_graph,
            "the outputs of the function are independent of input {}",
        )  # fmt: skip
    return result(outputs, given, create_graph), result(found, given_inputs, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False, mode: str = "forward",
) -> tuple[Any, Any]:  # fmt: skip
    """The function's value, and the product of its Jacobian at the inputs with a vector.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: the vector, shaped as the inputs; may be left out for an input of one element.
        create_graph: compute both results in a differentiable way.
        strict: an input that no output depends on is an error, not a zero.
        mode: 'forward' runs the function once on dual tensors; 'reversed' differentiates the
            backward pass by its cotangent (the double-backward trick).

    Returns:
        (func_output, jvp): the output, and a product shaped as the output.

    Raises:
        RuntimeError: if v does not fit, or in strict mode.
        ValueError: for another mode.

    >>> import tensorplay as tp
    >>> def adder(x, y):
    ...     return 2 * x + 3 * y
    >>> inputs = (tp.zeros(2), tp.ones(2))
    >>> tp.autograd.jvp(adder, inputs, (tp.ones(2), tp.ones(2)))
    (tensor([3., 3.]), tensor([5., 5.]))
    """
    if mode not in ("forward", "reversed"):
        raise ValueError(f"jvp(): mode must be 'forward' or 'reversed', got {mode!r}")
    given_inputs, inputs = as_tuple(inputs, "inputs", "jvp")
    if v is not None:
        vectors = check_vectors(v, inputs, given_inputs, "the inputs", "jvp")
    else:
        vectors = ones_for_single(inputs, "the input", "jvp")
    run = _jvp_forward if mode == "forward" else _jvp_reversed
    return run(func, inputs, vectors, create_graph, strict)


def _jvp_forward(func: Any, inputs: Any, vectors: Any, create_graph: bool, strict: bool) -> Any:
    previous = core.set_grad_mode(create_graph or strict)
    level = forward.enter_level()
    try:
        check_differentiable(inputs, "jvp")
        if create_graph or strict:
            inputs = fresh_inputs(inputs, create_graph, "jvp")
        duals = [
            forward.attach_tangent(x, t if t.dtype is x.dtype else t.to(x.dtype), level)
            for x, t in zip(inputs, vectors, strict=True)
        ]
        given, outputs = _evaluate(func, duals, "jvp", strict)
        if strict:
            _check_used(outputs, inputs, "jvp")
        primals = [forward.without_level(out, level) for out in outputs]
        tangents: Any = [forward.tangent_at(out, level) for out in outputs]
    finally:
        forward.exit_level(level)
        core.set_grad_mode(previous)
    tangents = _fill(
        tangents, primals, "jvp", strict, create_graph,
        "output {} of the function is independent of the inputs",
    )  # fmt: skip
    return result(primals, given, create_graph), result(tangents, given, create_graph)


def _jvp_reversed(func: Any, inputs: Any, vectors: Any, create_graph: bool, strict: bool) -> Any:
    with enable_grad():
        inputs = fresh_inputs(inputs, create_graph, "jvp")
        if create_graph:
            vectors = tuple(vectors)
        given, outputs = _evaluate(func, inputs, "jvp", strict)
        # The backward pass is linear in its cotangent u, so its derivative by u is the Jacobian.
        cotangents = tuple(zeros_like(out).requires_grad_() for out in outputs)
        pulled = _grads(outputs, inputs, cotangents, True)
        if strict:
            _check_used(outputs, inputs, "jvp")
        pulled = [zeros_like(x) if g is None else g for g, x in zip(pulled, inputs, strict=True)]
        products = _grads(pulled, cotangents, vectors, create_graph, True)
    products = _fill(
        products, outputs, "jvp", strict, create_graph,
        "output {} of the function is independent of the inputs",
    )  # fmt: skip
    return result(outputs, given, create_graph), result(products, given, create_graph)


# --- Jacobians ------------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode", *, chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """The Jacobian of a function at the inputs.

    Args:
        func: a function of tensors that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: compute the Jacobian in a differentiable way.
        strict: an output that does not depend on an input is an error, not a zero.
        vectorize: compute all rows (or columns) in one `vmap`.
        strategy: 'reverse-mode', a row per output element, or 'forward-mode' (with vectorize), a
            column per input element.
        chunk_size: with vectorize, how many rows or columns at a time.

    Returns:
        A tensor of shape (*output.shape, *input.shape); a tuple over outputs and/or inputs of them
        where those are tuples.

    >>> import tensorplay as tp
    >>> tp.autograd.functional.jacobian(lambda x: x * x, tp.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            "jacobian(): expected strategy to be 'forward-mode' or 'reverse-mode', got "
            f"{strategy!r}"
        )
    if strategy == "forward-mode":
        return _jacobian_forward(func, inputs, create_graph, strict, vectorize, chunk_size)
    if strict and vectorize:
        raise RuntimeError(
            "jacobian(): strict=True and vectorize=True are not supported together; set one of "
            "them to False"
        )
    with enable_grad():
        given_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
        inputs = fresh_inputs(inputs, create_graph, "jacobian")
        given, outputs = _evaluate(func, inputs, "jacobian", strict)
        rows = [
            _rows_vectorized(out, inputs, create_graph, chunk_size) if vectorize
            else _rows(out, inputs, create_graph, strict, i)
            for i, out in enumerate(outputs)
        ]  # fmt: skip
    return _arrange(rows, given, given_inputs, create_graph)


def _arrange(rows: list[Any], given: bool, given_inputs: bool, create_graph: bool) -> Any:
    table = tuple(
        tuple(x if create_graph else core.detach(x) for x in row) if given_inputs
        else (row[0] if create_graph else core.detach(row[0]))
        for row in rows
    )  # fmt: skip
    return table if given else table[0]


def _rows(out: Tensor, inputs: Any, create_graph: bool, strict: bool, number: int) -> list[Tensor]:
    """The Jacobian of one output, one backward pass per element."""
    collected: list[list[Tensor]] = [[] for _ in inputs]
    used = [False] * len(inputs)
    root, edges = core.gradient_edge(out), [core.gradient_edge(x) for x in inputs]
    for j in range(out.numel()):
        # Straight to the engine: what `grad` checks is known here, and there are many rows.
        found: list[Any] = [None] * len(inputs)
        if root[0] is not None:
            unit = core.unit_vector(out, j)
            found = core.run_backward([(*root, unit)], True, create_graph, edges)
        for k, (g, x) in enumerate(zip(found, inputs, strict=True)):
            if g is not None and strict and create_graph and not g.requires_grad:
                raise strict_failure(
                    "jacobian",
                    f"the Jacobian of output {number} is independent of input {k}, and "
                    "create_graph=True",
                )
            used[k] |= g is not None
            collected[k].append(zeros_like(x) if g is None else g)
    if strict and not all(used):
        raise strict_failure(
            "jacobian",
            f"output {number} of the function is independent of input {used.index(False)}",
        )
    stack = core.registry["stack"]
    return [
        stack(pieces, 0).reshape((*out.shape, *x.shape)) if pieces
        else x.new_zeros((*out.shape, *x.shape))
        for pieces, x in zip(collected, inputs, strict=True)
    ]  # fmt: skip


def _rows_vectorized(out: Tensor, inputs: Any, create_graph: bool, chunk_size: Any) -> list[Tensor]:
    """The Jacobian of one output, all cotangents in one vmap."""
    shapes = [(*out.shape, *x.shape) for x in inputs]
    count = out.numel()
    if not out.requires_grad or count == 0:
        return [x.new_zeros(shape) for x, shape in zip(inputs, shapes, strict=True)]

    def pull(cotangent: Tensor) -> Any:
        found = grad(out, inputs, cotangent, True, create_graph, allow_unused=True)
        return tuple(zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True))

    rows = vmap(pull, chunk_size=chunk_size)(basis_of(out))
    return [row.reshape(shape) for row, shape in zip(rows, shapes, strict=True)]


def basis_of(x: Tensor) -> Tensor:
    """The unit vectors of x's space, of shape (numel, *x.shape)."""
    return core.identity(x.numel(), x.dtype).reshape((x.numel(), *x.shape))


def _jacobian_forward(
    func: Any, inputs: Any, create_graph: bool, strict: bool, vectorize: bool, chunk_size: Any
) -> Any:
    if strict:
        raise RuntimeError(
            "jacobian(): strict=True is not supported with strategy='forward-mode'; use "
            "strategy='reverse-mode'"
        )
    if not vectorize:
        raise NotImplementedError("jacobian(): strategy='forward-mode' needs vectorize=True")
    given_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
    check_differentiable(inputs, "jacobian")
    if create_graph:
        inputs = fresh_inputs(inputs, True, "jacobian")
    else:
        inputs = tuple(core.detach(x) for x in inputs)
    structure: list[Any] = []
    columns = []  # per input, per output: (numel of the input, *output shape)
    for k in range(len(inputs)):

        def push(direction: Tensor, k: int = k) -> tuple[Tensor, ...]:
            level = forward.enter_level()
            try:
                point = list(inputs)
                point[k] = forward.attach_tangent(inputs[k], direction, level)
                given, outputs = as_tuple(
                    func(*point), "outputs of the user-provided function", "jacobian"
                )
                structure[:] = [given, [tuple(out.shape) for out in outputs]]
                tangents = [forward.tangent_at(out, level) for out in outputs]
            finally:
                forward.exit_level(level)
            return tuple(
                zeros_like(out) if t is None else t
                for t, out in zip(tangents, outputs, strict=True)
            )

        columns.append(vmap(push, chunk_size=chunk_size)(basis_of(inputs[k])))
    given, shapes = structure
    rows = [
        [columns[k][i].movedim(0, -1).reshape((*shapes[i], *x.shape)) for k, x in enumerate(inputs)]
        for i in range(len(shapes))
    ]
    return _arrange(rows, given, given_inputs, create_graph)


# --- second order ---------------------------------------------------------------------------------


def _check_real(output: Tensor, name: str) -> None:
    """Raise where a gradient would need a vector that nobody gave."""
    if output.dtype.is_complex:
        raise RuntimeError(
            f"{name}(): the gradient of a complex output depends on the vector it is multiplied "
            f"by, got an output of dtype {output.dtype}; differentiate its real or imaginary part"
        )


def _ones_like(x: Tensor) -> Tensor:
    return core.ones_shaped(tuple(x.shape), x.dtype)


def _scalar(func: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The function, checked to return one real element."""

    def checked(*args: Tensor) -> Tensor:
        given, outputs = as_tuple(func(*args), "outputs of the user-provided function", name)
        if given or outputs[0].numel() != 1:
            raise RuntimeError(
                f"{name}(): the function must return a single tensor with a single element, got "
                f"{'a tuple' if given else f'shape {list(outputs[0].shape)}'}"
            )
        _check_real(outputs[0], name)
        return outputs[0]

    return checked


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode", *,
    chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """The Hessian of a scalar function at the inputs.

    Args: as for `jacobian`; `outer_jacobian_strategy` is the strategy of the second derivative.

    Returns:
        A tensor of shape (*input.shape, *input.shape); a tuple of tuples of them for tuple inputs.

    >>> import tensorplay as tp
    >>> tp.autograd.functional.hessian(lambda x: (x ** 3).sum(), tp.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    given_inputs, tensors = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            "hessian(): expected outer_jacobian_strategy to be 'forward-mode' or 'reverse-mode', "
            f"got {outer_jacobian_strategy!r}"
        )
    scalar = _scalar(func, "hessian")

    def gradient(*args: Tensor) -> Any:
        leaves = tuple(
            x if x.requires_grad else core.alias_with_history(x).requires_grad_() for x in args
        )
        with enable_grad():
            value = scalar(*leaves)
            if strict and not value.requires_grad:
                raise strict_failure("hessian", "the output does not depend on the inputs")
            found = _grads((value,), leaves, (_ones_like(value),), True)
            return _fill(
                found, leaves, "hessian", strict, True,
                "the gradient by input {} is independent of the inputs",
            )  # fmt: skip

    table = jacobian(
        gradient, tensors, create_graph, strict, vectorize, outer_jacobian_strategy,
        chunk_size=chunk_size,
    )  # fmt: skip
    return table if given_inputs else table[0][0]


def _gradient_graph(
    func: Any, inputs: Any, name: str, create_graph: bool, strict: bool
) -> tuple[Any, Any, Any]:
    """(inputs, value, gradients with a graph) of a scalar function."""
    inputs = fresh_inputs(inputs, create_graph, name)
    value = _scalar(func, name)(*inputs)
    if strict:
        _evaluate(lambda *_: value, inputs, name, True)
        _check_used((value,), inputs, name)
    found = _grads((value,), inputs, (_ones_like(value),), True)
    found = _fill(
        found, inputs, name, strict, True,
        "the gradient by input {} is independent of the inputs",
    )  # fmt: skip
    return inputs, value, found


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The value of a scalar function, and the product of a vector with its Hessian.

    Arguments and errors as for `vjp`; `v` is shaped as the inputs.

    Returns:
        (func_output, vhp): the output, and a product shaped as the inputs.
    """
    with enable_grad():
        given_inputs, tensors = as_tuple(inputs, "inputs", "vhp")
        vectors = (
            check_vectors(v, tensors, given_inputs, "the inputs", "vhp")
            if v is not None
            else ones_for_single(tensors, "the input", "vhp")
        )
        points, value, gradients = _gradient_graph(func, tensors, "vhp", create_graph, strict)
        found = _grads(gradients, points, vectors, create_graph)
        found = _fill(
            found, points, "vhp", strict, create_graph,
            "the Hessian is independent of input {}",
        )  # fmt: skip
    return result((value,), False, create_graph), result(found, given_inputs, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The value of a scalar function, and the product of its Hessian with a vector.

    Arguments and errors as for `jvp`. The Hessian is symmetric, so this is `vhp`; for one pass in
    forward over reverse mode see `tensorplay.func.hvp`.

    Returns:
        (func_output, hvp): the output, and a product shaped as the inputs.
    """
    return vhp(func, inputs, v, create_graph, strict)
