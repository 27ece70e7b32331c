"""`backward` and `grad`: checking of what is asked, and the call of the engine."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from tensorplay._core import core
from tensorplay._core.core import Node, Tensor
from tensorplay.ops.kinds import method
from tensorplay.transforms.vmap import vmap


class GradientEdge(NamedTuple):
    """A place in the graph that cotangents flow through: output `output_nr` of `node`."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place of a tensor in the graph.

    Raises:
        RuntimeError: if the tensor does not require grad.
    """
    node, number = core.gradient_edge(tensor)
    if node is None:
        raise RuntimeError(
            "get_gradient_edge(): the tensor does not require grad, so it has no place in a graph"
        )
    return GradientEdge(node, number)


def _as_list(value: Any, name: str, argument: str) -> list[Any]:
    """Tensors (or gradient edges) given alone, in a sequence or in a dict, as a checked list."""
    if isinstance(value, (Tensor, GradientEdge)):
        return [value]
    if isinstance(value, Mapping):
        items = list(value.values())
    elif hasattr(value, "__iter__"):
        items = list(value)
    else:
        raise TypeError(
            f"{name}(): argument '{argument}' must be a Tensor or a sequence of tensors, got "
            f"{type(value).__name__}"
        )
    for item in items:
        if not isinstance(item, (Tensor, GradientEdge)):
            raise TypeError(
                f"{name}(): argument '{argument}' must hold tensors or gradient edges, got "
                f"{type(item).__name__}"
            )
    return items


def _meta(item: Any) -> Any:
    """(shape, dtype) of an output; None where a node does not know."""
    if isinstance(item, Tensor):
        return tuple(item.shape), item.dtype
    return item.node.output_meta(item.output_nr)


def _implicit_cotangent(meta: Any, name: str, argument: str) -> Tensor:
    """The one that a real scalar output starts with."""
    shape, dtype = meta or ((), None)
    if math.prod(shape) != 1:
        raise RuntimeError(
            f"{name}(): grad can be implicitly created only for scalar outputs, got an output of "
            f"shape {list(shape)}; give its cotangent in {argument}"
        )
    if dtype is not None and dtype.is_complex:
        raise RuntimeError(
            f"{name}(): grad can be implicitly created only for real scalar outputs, got dtype "
            f"{dtype}; give its cotangent in {argument}"
        )
    return core.ones_shaped(shape, dtype)


def _check_cotangent(item: Any, given: Any, name: str, argument: str, batched: bool) -> Tensor:
    if not isinstance(given, Tensor):
        raise TypeError(
            f"{name}(): {argument} must hold tensors or None, got {type(given).__name__}"
        )
    if core.gradient_edges((item,))[0][0] is None:
        raise RuntimeError(
            f"{name}(): {argument} has a cotangent for an output that does not require grad and "
            "has no grad_fn; pass None for it"
        )
    meta = _meta(item)
    if meta is None:
        return given
    shape, dtype = meta
    if tuple(given.shape)[batched:] != shape:
        after = ", after its batch dimension" if batched else ""
        raise RuntimeError(
            f"{name}(): mismatch in shape: {argument} has a cotangent of shape "
            f"{list(given.shape)} for an output of shape {list(shape)}; they must be equal{after}"
        )
    if given.dtype.is_complex != dtype.is_complex:
        raise RuntimeError(
            f"{name}(): {argument} has a cotangent of dtype {given.dtype} for an output of dtype "
            f"{dtype}; both must be complex, or both real"
        )
    return given if given.dtype is dtype else core.registry["to_dtype"](given, dtype)


def _cotangents(given: Any, count: int, name: str, argument: str, outputs: str) -> list[Any]:
    if given is None:
        return [None] * count
    found = [given] if isinstance(given, Tensor) else list(given)
    if len(found) != count:
        raise RuntimeError(
            f"{name}(): got {count} {outputs} and {len(found)} {argument}; give one cotangent (or "
            "None) for each"
        )
    return found


def _roots(outputs: list[Any], given: list[Any], name: str, argument: str) -> list[Any]:
    """(node, output number, cotangent) of every output that takes part."""
    found = []
    edges = core.gradient_edges(outputs)
    for item, (node, number), cotangent in zip(outputs, edges, given, strict=True):
        if cotangent is not None:
            start = _check_cotangent(item, cotangent, name, argument, False)
        elif node is None:
            continue
        else:
            start = core.unit_cotangent(item)
            if start is None:
                start = _implicit_cotangent(_meta(item), name, argument)
        found.append((node, number, start))
    if not found:
        what = "tensors" if name == "backward" else "outputs"
        raise RuntimeError(
            f"{name}(): none of the {what} requires grad and has a grad_fn, so there is nothing to "
            "differentiate; call requires_grad_() on the inputs before computing them"
        )
    return found


def _target_edges(wanted: list[Any], name: str) -> list[tuple[Any, int]]:
    edges = core.gradient_edges(wanted)
    for item, (node, _) in zip(wanted, edges, strict=True):
        if node is None:
            raise RuntimeError(
                f"{name}(): one of the inputs (shape {list(item.shape)}) does not require grad; "
                "call requires_grad_() on it before computing the outputs"
            )
    return edges


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the sum of gradients of `tensors` by the leaves of their graph, into `.grad`.

    Args:
        tensors: a tensor (or GradientEdge), or a sequence of them.
        grad_tensors: the cotangent of each, of its shape; None for a scalar, or where a tensor
            requires no grad.
        retain_graph: keep what the graph saved, for another pass. Default: `create_graph`.
        create_graph: record the pass itself, for higher derivatives.
        grad_variables: deprecated spelling of `grad_tensors`.
        inputs: only these (a tensor, a sequence, or a dict) get a gradient, and only what leads to
            them runs. A non-leaf named here keeps its gradient as with `retain_grad()`.

    Raises:
        RuntimeError: if no tensor requires grad, a cotangent does not fit, a non-scalar has none,
            or the graph was freed by an earlier pass.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> tp.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn(
            "backward(): grad_variables is deprecated, use grad_tensors",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "backward(): grad_tensors and its deprecated spelling grad_variables were both "
                "given; use grad_tensors only"
            )
        grad_tensors = grad_variables
    roots = core.scalar_root(tensors) if grad_tensors is None else None
    if roots is None:
        outputs = _as_list(tensors, "backward", "tensors")
        given = _cotangents(grad_tensors, len(outputs), "backward", "grad_tensors", "tensors")
        roots = _roots(outputs, given, "backward", "grad_tensors")
    keep = bool(create_graph if retain_graph is None else retain_graph)
    if inputs is None:
        core.run_backward(roots, keep, bool(create_graph))
        return
    wanted = _as_list(inputs, "backward", "inputs")
    if not wanted:
        raise RuntimeError("backward(): argument 'inputs' is empty; leave it out for all leaves")
    _backward_into(roots, wanted, keep, bool(create_graph))


def _backward_into(roots: list[Any], wanted: list[Any], keep: bool, create_graph: bool) -> None:
    """Fill the gradients of the wanted leaves and non-leaves only, each once."""
    edges = _target_edges(wanted, "backward")
    leaves = {i for i, (node, _) in enumerate(edges) if isinstance(node, core.AccumulateGrad)}
    found = core.run_backward(roots, keep, create_graph, edges, tuple(leaves))
    filled = set()
    for i, (item, cotangent) in enumerate(zip(wanted, found, strict=True)):
        key = (id(edges[i][0]), edges[i][1])
        if i in leaves or cotangent is None or key in filled or not isinstance(item, Tensor):
            continue
        filled.add(key)
        if not item.retains_grad:
            core.accumulate_into(item, cotangent)
            item.retain_grad()


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Compute and return the sum of gradients of `outputs` by `inputs`.

    Args:
        outputs: tensor(s) or GradientEdge(s) to differentiate.
        inputs: tensor(s) or GradientEdge(s) to differentiate by, or a dict of them. Their `.grad`
            is left alone.
        grad_outputs: the cotangent of each output, of its shape; None for a scalar, or where an
            output requires no grad.
        retain_graph: keep what the graph saved, for another pass. Default: `create_graph`.
        create_graph: record the pass itself, for higher derivatives.
        only_inputs: deprecated and ignored.
        allow_unused: an input that was not used is no error and gets None. Default:
            `materialize_grads`.
        is_grads_batched: the first dim of each cotangent is a batch; all its vector-Jacobian
            products are computed in one `vmap` over the backward pass.
        materialize_grads: an unused input gets zeros in place of None.

    Returns:
        A tuple with one gradient per input; a dict keyed like `inputs` when that is a dict.

    Raises:
        RuntimeError: if no output requires grad, an input requires none or was not used, a
            cotangent does not fit, or the graph was freed.
        ValueError: for `materialize_grads=True` with `allow_unused=False`.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1., 2.], requires_grad=True)
    >>> tp.autograd.grad((x ** 3).sum(), x)
    (tensor([ 3., 12.]),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "grad(): materialize_grads=True needs allow_unused to be True (or left out), got "
            "allow_unused=False"
        )
    if not only_inputs:
        warnings.warn(
            "grad(): only_inputs is deprecated and ignored (it is always True); to fill .grad of "
            "leaves use backward()", FutureWarning, stacklevel=2,
        )  # fmt: skip
    unused_ok = bool(materialize_grads if allow_unused is None else allow_unused)
    wanted = _as_list(inputs, "grad", "inputs")
    keep = bool(create_graph if retain_graph is None else retain_graph)
    roots = None
    given: list[Any] = []
    if grad_outputs is None and not is_grads_batched:
        roots = core.scalar_root(outputs)
    if roots is None:
        sources = _as_list(outputs, "grad", "outputs")
        given = _cotangents(grad_outputs, len(sources), "grad", "grad_outputs", "outputs")
    if is_grads_batched:
        found = _grad_batched(sources, wanted, given, keep, bool(create_graph), unused_ok)
    else:
        if roots is None:
            roots = _roots(sources, given, "grad", "grad_outputs")
        found = _grad(roots, wanted, keep, bool(create_graph), unused_ok)
    if materialize_grads:
        batch = given if is_grads_batched else ()
        size = next(((g.shape[0],) for g in batch if g is not None), ())
        found = [
            core.new_zeros(size + _meta(item)[0], _meta(item)[1]) if g is None else g
            for item, g in zip(wanted, found, strict=True)
        ]
    if isinstance(inputs, Mapping):
        return dict(zip(inputs, found, strict=True))
    return tuple(found)


_UNUSED = (
    "grad(): number {} of the inputs was not used in computing the outputs; pass allow_unused=True "
    "to get None for it, or materialize_grads=True to get zeros"
)


def _grad(roots: Any, wanted: Any, keep: bool, create_graph: bool, unused_ok: bool) -> list[Any]:
    edges = _target_edges(wanted, "grad")
    if not edges:
        raise RuntimeError("grad(): argument 'inputs' is empty; name at least one tensor")
    return core.run_backward(roots, keep, create_graph, edges, (), unused_ok, _UNUSED, "grad")


def _grad_batched(
    sources: Any, wanted: Any, given: Any, keep: bool, create_graph: bool, unused_ok: bool
) -> list[Any]:
    """One vmap over the backward pass; a batch of cotangents in, a batch of gradients out."""
    present = [i for i, g in enumerate(given) if g is not None]
    for i in present:
        if isinstance(given[i], Tensor) and given[i].ndim == 0:
            raise RuntimeError(
                "grad(): is_grads_batched=True needs a batch dimension in grad_outputs, got a "
                "0-dim cotangent"
            )
        _check_cotangent(sources[i], given[i], "grad", "grad_outputs", True)
    sizes = sorted({given[i].shape[0] for i in present})
    if len(sizes) > 1:
        raise ValueError(
            f"grad(): with is_grads_batched=True all grad_outputs must have one batch size, got "
            f"{sizes}"
        )
    if not present:
        raise RuntimeError(
            "grad(): is_grads_batched=True needs grad_outputs with a batch dimension"
        )
    unused: list[int] = []

    def one(*cotangents: Tensor) -> Any:
        full: list[Any] = [None] * len(sources)
        for i, cotangent in zip(present, cotangents, strict=True):
            full[i] = cotangent
        roots = _roots(sources, full, "grad", "grad_outputs")
        found = _grad(roots, wanted, keep, create_graph, unused_ok)
        unused.extend(i for i, g in enumerate(found) if g is None)
        return tuple(g for g in found if g is not None)

    used = list(vmap(one)(*[given[i] for i in present]))
    return [None if i in unused else used.pop(0) for i in range(len(wanted))]


@method("backward")
def _backward_method(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of this tensor by the leaves of its graph, into `.grad`.

    See `tensorplay.autograd.backward`; `gradient` is the cotangent, None for a scalar.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)
