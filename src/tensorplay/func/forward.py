"""`jvp` and `linearize`: forward mode as function transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.func._trees import check_tensors, flatten, split_aux, unflatten
from tensorplay.func.reverse import vjp
from tensorplay.transforms import forward


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """The value of `func` at `primals`, and its derivative along `tangents`, in one forward pass.

    Args:
        func: a function of pytrees of tensors that returns a pytree of tensors.
        primals: a tuple of its arguments.
        tangents: a tuple like primals.
        strict: an output that does not depend on the primals is an error, not a zero.
        has_aux: `func` returns (output, aux).

    Returns:
        (output, tangent) structured as the output, or (output, tangent, aux).

    Raises:
        RuntimeError: if the tangents do not fit, or in strict mode.

    >>> import tensorplay as tp
    >>> tp.func.jvp(tp.sin, (tp.tensor(0.),), (tp.tensor(2.),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            f"jvp(): primals and tangents must be tuples, got {type(primals).__name__} and "
            f"{type(tangents).__name__}"
        )
    leaves, spec = flatten(primals)
    directions, tangent_spec = flatten(tangents)
    if spec != tangent_spec:
        raise RuntimeError(
            f"jvp(): the tangents have structure {tangent_spec}, the primals have {spec}"
        )
    check_tensors(leaves, "the primals", "jvp")
    for x, t in zip(leaves, directions, strict=True):
        forward.check_dual(x, t, "jvp")
    level = forward.enter_level()
    try:
        duals = [
            forward.attach_tangent(x, t, level) for x, t in zip(leaves, directions, strict=True)
        ]
        output, aux = split_aux(func(*unflatten(spec, duals)), has_aux, "jvp")
        outputs, out_spec = flatten(output)
        check_tensors(outputs, "the outputs", "jvp")
        values = [forward.without_level(out, level) for out in outputs]
        found = [forward.tangent_at(out, level) for out in outputs]
        aux_leaves, aux_spec = flatten(aux)
        aux = unflatten(
            aux_spec,
            [forward.without_level(x, level) if isinstance(x, Tensor) else x for x in aux_leaves],
        )
    finally:
        forward.exit_level(level)
    if strict and any(t is None for t in found):
        raise RuntimeError(
            f"jvp(): output {found.index(None)} of the function is independent of the primals; "
            "with strict=True this is an error"
        )
    moved = [core.zeros_of(x) if t is None else t for t, x in zip(found, values, strict=True)]
    results = (unflatten(out_spec, values), unflatten(out_spec, moved))
    return (*results, aux) if has_aux else results


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `func` at `primals`, and its linear approximation there as a function.

    The function is run once; every call of the returned `jvp_fn(*tangents)` only walks the recorded
    linear map (the transpose of the recorded backward pass).

    >>> import tensorplay as tp
    >>> value, push = tp.func.linearize(tp.sin, tp.tensor(0.))
    >>> push(tp.tensor(3.))
    tensor(3.)
    """
    output, pull = vjp(func, *primals)
    outputs, out_spec = flatten(output)
    _, spec = flatten(primals)
    zeros = [core.zeros_of(x) for x in outputs]
    _, push = vjp(lambda *u: pull(unflatten(out_spec, list(u))), *zeros)

    def jvp_fn(*tangents: Any) -> Any:
        flat, given = flatten(tangents)
        if given != spec:
            raise RuntimeError(
                f"jvp_fn(): the tangents have structure {given}, the primals have {spec}"
            )
        return unflatten(out_spec, list(push(unflatten(spec, flat))))

    return output, jvp_fn
