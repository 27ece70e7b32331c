"""`grad`, `grad_and_value`, `vjp`: reverse mode as function transforms.

Each runs its function at a level of its own: the inputs are put into boxes that require grad there,
so that the recording stands above every vmap and gradient level that is already active, and the
values inside are still recorded for what is outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.func._trees import (
    check_argnums,
    check_differentiable,
    check_tensors,
    flatten,
    replace_args,
    split_aux,
    unbox_tree,
    unflatten,
)

_PULLING = 16  # the mode in which only this level's recording is off


def _require_grad(x: Tensor, level: Any) -> Tensor:
    boxed = core.box(x, None, level)
    boxed.requires_grad = True
    return boxed


class GradientLevel:
    """Context manager of one reverse-mode level, with grad mode on inside."""

    def __enter__(self) -> Any:
        self.level = core.push_level("grad")
        self.previous = core.set_grad_mode(True)
        return self.level

    def __exit__(self, *_: Any) -> None:
        core.set_grad_mode(self.previous)
        core.pop_level(self.level)


def pull_back(
    outputs: list[Tensor], cotangents: list[Any], inputs: list[Tensor], keep: bool
) -> list[Any]:
    """Gradients of `outputs` by boxed `inputs`, zeros where nothing connects them."""
    roots = []
    for out, cotangent in zip(outputs, cotangents, strict=True):
        node, number = core.gradient_edge(out)
        if node is not None:
            roots.append((node, number, cotangent))
    edges = [core.gradient_edge(x) for x in inputs]
    # After its level has ended, the pass is ordinary computation for what is outside.
    ended = core.level_of(inputs[0]) is None
    record = core.is_grad_enabled() if ended else False
    previous = core.set_mode(_PULLING, not ended)
    try:
        found = core.run_backward(roots, keep, record, edges) if roots else [None] * len(inputs)
    finally:
        core.set_mode(_PULLING, previous)
    return [core.zeros_of(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func` and its value.

    Args:
        func: a function that returns one tensor of one element (with has_aux, also anything else).
        argnums: which positional arguments (pytrees of tensors) to differentiate by.
        has_aux: `func` returns (output, aux).

    Returns:
        A function with the arguments of `func` that returns (gradient, value), or (gradient,
        (value, aux)); the gradient is structured as the argument, a tuple for a tuple of argnums.

    Raises:
        RuntimeError: from the returned function, if the output is not a single element.

    >>> import tensorplay as tp
    >>> tp.func.grad_and_value(lambda x: (x ** 2).sum())(tp.tensor([1., 2.]))
    (tensor([2., 4.]), tensor(5.))
    """
    return _differentiate(func, argnums, has_aux, "grad_and_value", True)


def _differentiate(
    func: Any, argnums: Any, has_aux: bool, name: str, with_value: bool
) -> Callable[..., Any]:
    """`grad`, or with the value `grad_and_value`; messages begin with `name`."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers = check_argnums(argnums, len(args), name)
        with GradientLevel() as level:
            leaves, spec = flatten(tuple(args[i] for i in numbers))
            check_tensors(leaves, "the arguments to differentiate by", name)
            check_differentiable(leaves, name)
            boxed = [_require_grad(x, level) for x in leaves]
            inputs = replace_args(args, numbers, unflatten(spec, boxed))
            output, aux = split_aux(func(*inputs, **kwargs), has_aux, name)
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"{name}(): the function must return a tensor, got {type(output).__name__}"
                )
            if output.ndim != 0:
                raise RuntimeError(
                    f"{name}(): the function must return a scalar tensor (0 dims), got "
                    f"{output.ndim} dims of shape {list(output.shape)}; did you mean a sum?"
                )
            if output.dtype.is_complex:
                raise RuntimeError(
                    f"{name}(): the function must return a real tensor, got dtype {output.dtype}; "
                    "take .real, .abs() or another real function of it"
                )
            one = core.unit_cotangent(output)
            found = pull_back([output], [one], boxed, False)
            gradients = unflatten(spec, [core.unbox(g, level)[0] for g in found])
            gradient = gradients[0] if isinstance(argnums, int) else gradients
            aux = unbox_tree(aux, level) if has_aux else None
            if not with_value:
                return (gradient, aux) if has_aux else gradient
            value = unbox_tree(output, level)
        return (gradient, (value, aux)) if has_aux else (gradient, value)

    return wrapped


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, a function with a scalar output.

    Arguments and errors as for `grad_and_value`. With has_aux it returns (gradient, aux).

    >>> import tensorplay as tp
    >>> from tensorplay.func import grad
    >>> grad(grad(tp.sin))(tp.tensor(0.5))
    tensor(-0.4794)
    """
    return _differentiate(func, argnums, has_aux, "grad", False)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `func`, and the function that multiplies by its transposed Jacobian there.

    Args:
        func: a function of pytrees of tensors that returns a pytree of tensors.
        primals: its arguments.
        has_aux: `func` returns (output, aux).

    Returns:
        (output, vjp_fn), or (output, vjp_fn, aux). `vjp_fn(cotangents)` takes a pytree like the
        output and returns a tuple with one pytree per primal; it can be called many times, also
        under `vmap`.

    >>> import tensorplay as tp
    >>> output, vjp_fn = tp.func.vjp(tp.sin, tp.zeros(2))
    >>> vjp_fn(tp.ones(2))
    (tensor([1., 1.]),)
    """
    with GradientLevel() as level:
        leaves, spec = flatten(primals)
        check_tensors(leaves, "the primals", "vjp")
        check_differentiable(leaves, "vjp")
        boxed = [_require_grad(x, level) for x in leaves]
        output, aux = split_aux(func(*unflatten(spec, boxed)), has_aux, "vjp")
        outputs, out_spec = flatten(output)
        check_tensors(outputs, "the outputs", "vjp")
        values = [core.unbox(out, level)[0] for out in outputs]
        aux = unbox_tree(aux, level)

    def vjp_fn(*cotangents: Any) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        flat, given_spec = flatten(given)
        if given_spec != out_spec:
            raise RuntimeError(
                f"vjp_fn(): the cotangents have structure {given_spec}, the output has {out_spec}"
            )
        for cotangent, out in zip(flat, outputs, strict=True):
            if not isinstance(cotangent, Tensor) or cotangent.shape != out.shape:
                raise RuntimeError(
                    f"vjp_fn(): a cotangent of shape {list(getattr(cotangent, 'shape', ()))} was "
                    f"given for an output of shape {list(out.shape)}"
                )
        found = pull_back(outputs, flat, boxed, True) if boxed else []
        return unbox_tree(unflatten(spec, found), level)

    result = unflatten(out_spec, values)
    return (result, vjp_fn, aux) if has_aux else (result, vjp_fn)
