# Forward mode: the tangents of a result, level by level.

cdef push_tangents(Primitive p, tuple inputs, tuple params, object result):
    """For every forward level among the inputs, the tangent of the result."""
    cdef set levels = set()
    cdef Tensor x
    for item in inputs:
        if item is not None and (<Tensor>item).flags & TANGENT:
            for level in (<Tensor>item).tangents:
                if find_level(level) is not None:
                    levels.add(level)
    if not levels or not p.differentiable:
        return
    outs = (result,) if p.outputs == 1 else result
    if not any([is_differentiable_typenum(typenum_of(<Tensor>item)) for item in outs]):
        return
    if p.jvp is None:
        raise RuntimeError(f"{p.name}(): this operation has no forward-mode rule")
    for level in sorted(levels):
        primals = [None if item is None else below(<Tensor>item, level) for item in inputs]
        tangents = [None if item is None or (<Tensor>item).tangents is None
                    else (<Tensor>item).tangents.get(level) for item in inputs]
        seen = tuple([alias_with_history(<Tensor>item) for item in outs])
        found = p.jvp(p, primals, tangents, seen[0] if p.outputs == 1 else seen, params)
        if p.outputs == 1:
            add_tangent(<Tensor>result, level, found)
        else:
            for i in range(len(outs)):
                if i not in p.fixed:
                    add_tangent(<Tensor>outs[i], level, found[i])
    keep_output_tangents(p, outs)


cdef keep_output_tangents(Primitive p, object outs):
    """Saved outputs carry the tangents too: differentiating a backward pass needs them."""
    cdef PrimitiveNode node
    cdef Tensor first = <Tensor>outs[0]
    if not first.flags & REQUIRES_GRAD or type(first._grad_fn) is not PrimitiveNode:
        return
    node = <PrimitiveNode>first._grad_fn
    if node.saved is None or len(node.saved) <= node.inputs:
        return
    kept = node.saved[node.inputs]
    for copy, out in zip(kept if type(kept) is tuple else (kept,), outs):
        if is_tensor(copy):
            (<Tensor>copy).tangents = (<Tensor>out).tangents
            (<Tensor>copy).flags |= (<Tensor>out).flags & TANGENT


cdef Tensor below(Tensor x, long level):
    """x with only the tangents of levels below `level`."""
    cdef Tensor out
    if x.tangents is None:
        return x
    kept = {k: t for k, t in x.tangents.items() if k < level}
    if len(kept) == len(x.tangents):
        return x
    out = alias(x, True)
    set_tangents(out, kept or None)
    return out


cdef add_tangent(Tensor out, long level, object tangent):
    cdef dict tangents
    if tangent is None:
        return
    if shape_of(<Tensor>tangent) != shape_of(out):
        tangent = _layer["expand"](tangent, shape_of(out))
    tangents = {} if out.tangents is None else dict(out.tangents)
    tangents[level] = tangent
    set_tangents(out, tangents)


def tangents_of(Tensor x):
    """{forward level id: tangent} of a tensor, of the levels that are active."""
    if x.flags & VIEW:
        refresh(x)
    if x.tangents is None:
        return {}
    return {level: t for level, t in x.tangents.items() if find_level(level) is not None}


def with_tangents(Tensor x, dict tangents):
    """An alias of x at the same place in the graph that carries exactly these tangents."""
    cdef Tensor out = alias_with_history(x)
    set_tangents(out, dict(tangents) or None)
    return out


def primal_below(Tensor x, long level):
    """x without the tangents of `level` and of levels inside it."""
    return below(x, level)


def result_dtype(tensors):
    """The dtype that PyTorch's promotion gives for tensors (0-dim ones and numbers are weak)."""
    cdef int first = typenum_of(<Tensor>tensors[0]) if tensors else -1
    for x in tensors:
        if typenum_of(<Tensor>x) != first or (<Tensor>x).flags & WEAK:
            break
    else:
        if first >= 0:
            return dtype_by_num[first]
    return _dtypes.promote([
        (dtype_of(<Tensor>x), 0 if (<Tensor>x).flags & WEAK else (2 if ndim_of(<Tensor>x) else 1))
        for x in tensors])


def map_box(Tensor x, function):
    """`function` of the value inside a box, boxed likewise; None where it gives None."""
    result = function(x._value)
    return None if result is None else make_box(result, None if x._bdim < 0 else x._bdim, x._level)
