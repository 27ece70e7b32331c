# Forward mode: the tangents of a result, level by level.

cdef push_tangents(Primitive p, tuple inputs, tuple params, object result):
    """For every forward level among the inputs, the tangent of the result."""
    cdef long level = only_level(inputs)
    if level == 0 or not p.differentiable:
        return
    outs = (result,) if p.outputs == 1 else result
    if not any_differentiable(outs):
        return
    if p.jvp is None:
        raise RuntimeError(f"{p.name}(): this operation has no forward-mode rule")
    if level > 0:
        push_level_tangents(p, inputs, params, result, outs, level)
    else:
        for level in sorted(active_tangent_levels(inputs)):
            push_level_tangents(p, inputs, params, result, outs, level)
    keep_output_tangents(p, outs)


cdef bint any_differentiable(tuple outs):
    for item in outs:
        if is_differentiable_typenum(typenum_of(<Tensor>item)):
            return True
    return False


cdef long only_level(tuple inputs):
    """The one forward level that is active among the inputs; 0: none, -1: several."""
    cdef long found = 0
    for item in inputs:
        if item is not None and (<Tensor>item).flags & TANGENT:
            for level in (<Tensor>item).tangents:
                if level != found and is_forward_active(level):
                    if found:
                        return -1
                    found = level
    return found


cdef set active_tangent_levels(tuple inputs):
    cdef set levels = set()
    for item in inputs:
        if item is not None and (<Tensor>item).flags & TANGENT:
            for level in (<Tensor>item).tangents:
                if is_forward_active(level):
                    levels.add(level)
    return levels


cdef push_level_tangents(Primitive p, tuple inputs, tuple params, object result, tuple outs,
                         long level):
    cdef tuple primals = tuple([None if item is None else primal_of(<Tensor>item, level)
                                for item in inputs])
    cdef list tangents = [None if item is None or (<Tensor>item).tangents is None
                          else (<Tensor>item).tangents.get(level) for item in inputs]
    # While recording, what a rule saves must not have the tangents that the result will get.
    if p.jvp is jvp_partials:
        out = alias_with_history(<Tensor>result) if tp_grad_mode else <Tensor>result
        add_tangent(<Tensor>result, level, sum_of_partials(p, primals, tangents, params, out))
        return
    seen = outs
    if tp_grad_mode:
        seen = tuple([alias_with_history(<Tensor>item) for item in outs])
    found = p.jvp(p, primals, tangents, seen[0] if p.outputs == 1 else seen, params)
    if p.outputs == 1:
        add_tangent(<Tensor>result, level, found)
    else:
        for i in range(len(outs)):
            if i not in p.fixed:
                add_tangent(<Tensor>outs[i], level, found[i])


cdef object sum_of_partials(Primitive p, tuple primals, list tangents, tuple params, Tensor out):
    """The tangent of an elementwise operator: each input's tangent times its local derivative."""
    cdef object total = None, term, shapes
    cdef Rule rule
    cdef Py_ssize_t i
    for i in range(len(primals)):
        if tangents[i] is None or p.vjp_rules[i] is None:
            continue
        rule = <Rule>p.vjp_rules[i]
        if rule.function is None:
            term = tangents[i]
            if rule.constant != 1:
                term = binary_call(MUL, term, rule.constant)
        else:
            shapes = None
            if rule.needs_shapes:
                shapes = tuple([shape_of(<Tensor>x) if is_tensor(x) else None for x in primals])
            term = binary_call(MUL, tangents[i],
                               call_rule(rule, primals, params, shapes, out, None, None))
        total = term if total is None else binary_call(ADD, total, term)
    return total


def jvp_partials(p, primals, tangents, out, params):
    """Forward rule of an elementwise operator: the sum of tangent times local derivative."""
    return sum_of_partials(p, tuple(primals), list(tangents), params, out)


cdef keep_output_tangents(Primitive p, object outs):
    """Saved outputs carry the tangents too: differentiating a backward pass needs them."""
    cdef PrimitiveNode node
    cdef Tensor first = <Tensor>outs[0]
    if not first.flags & REQUIRES_GRAD or type(first._grad_fn) is not PrimitiveNode:
        return
    node = <PrimitiveNode>first._grad_fn
    saved = saved_of(node)
    if saved is None or len(saved) <= node.inputs:
        return
    kept = saved[node.inputs]
    for copy, out in zip(kept if type(kept) is tuple else (kept,), outs):
        keep_tangents(copy, (<Tensor>out).tangents)


def keep_tangents(copy, dict tangents):
    """Let a saved output (a tensor, or what hooks made of one) carry tangents, while they last.

    Their history leads back to the operation that saved the output: the end of the level, at which
    they cannot be used any more, breaks that cycle.
    """
    cdef Level level
    if is_tensor(copy):
        set_tangents(<Tensor>copy, tangents)
    elif type(copy) is Packed:
        (<Layer>(<Packed>copy).layers[0]).tangents = tangents
    for number in tangents or ():
        level = find_level(number)
        if level is not None:
            if level.kept is None:
                level.kept = []
            level.kept.append(_weakref(copy))


cdef forget_tangents(Level level):
    """A forward level has ended: its tangents go from what graphs have saved."""
    for ref in level.kept:
        copy = ref()
        tangents = None
        if is_tensor(copy):
            tangents = (<Tensor>copy).tangents
        elif copy is not None:
            tangents = (<Layer>(<Packed>copy).layers[0]).tangents
        if tangents is not None:
            rest = {number: t for number, t in tangents.items() if number != level.id}
            if is_tensor(copy):
                set_tangents(<Tensor>copy, rest or None)
            else:
                (<Layer>(<Packed>copy).layers[0]).tangents = rest or None
    level.kept = None


cdef inline Tensor primal_of(Tensor x, long level):
    """What a forward rule at a level sees of an input."""
    cdef Tensor out
    if x.tangents is None:
        return x
    if len(x.tangents) == 1 and level in x.tangents and x._array is not None \
            and not (tp_grad_mode and x.flags & REQUIRES_GRAD):
        out = new_tensor(x._array)       # nothing will be saved: values are enough
        out.flags = x.flags & (WEAK | INFERENCE)
        return out
    return below(x, level)


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
    if not same_shape(<Tensor>tangent, out):
        tangent = _layer["expand"](tangent, shape_of(out))
    if out.tangents is None:
        tangents = {level: tangent}
    else:
        tangents = dict(out.tangents)
        tangents[level] = tangent
    set_tangents(out, tangents)


def tangents_of(Tensor x):
    """{forward level id: tangent} of a tensor, of the levels that are active."""
    if x.flags & VIEW:
        refresh(x)
    if x.tangents is None:
        return {}
    return {level: t for level, t in x.tangents.items() if is_forward_open(level)}


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
