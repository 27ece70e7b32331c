# Recording of the general path: nodes, what they save, and the reverse rules at work.

cdef record(Primitive p, tuple inputs, tuple params, object result):
    """Make the node of an operation and attach it to what the operation gave."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(inputs)
    cdef uint64_t saves = 0
    cdef bint saves_out = False, needs_shapes = p.broadcasts
    cdef Rule rule
    cdef PrimitiveNode node
    cdef tuple outs = None
    if p.outputs == 1:
        if not is_differentiable_typenum(typenum_of(<Tensor>result)):
            return
    else:
        outs = <tuple?>result
        if not any_differentiable(outs):
            return
    if p.vjp_joint is not None:
        saves = p.vjp_joint.saves
        saves_out = p.vjp_joint.saves_out
        needs_shapes |= p.vjp_joint.needs_shapes
    else:
        for i in range(n):
            item = <object>PyTuple_GET_ITEM(inputs, i)
            if is_tensor(item) and (<Tensor>item).flags & REQUIRES_GRAD \
                    and p.vjp_rules[i] is not None:
                rule = <Rule>p.vjp_rules[i]
                saves |= rule.saves
                saves_out |= rule.saves_out
                needs_shapes |= rule.needs_shapes
    node = PrimitiveNode.__new__(PrimitiveNode)
    node.primitive = p
    node.params = params
    link(node, inputs)
    if saves or saves_out:
        save_values(node, inputs, (result,) if outs is None and saves_out else outs, saves,
                    saves_out)
    if needs_shapes:
        node.shapes = shapes_of(inputs)
    if outs is None:
        if (<Tensor>result)._array is not None:
            set_meta(node, (<Tensor>result)._array)
        else:
            node.outputs = 1
            node.metas = ((shape_of(<Tensor>result), dtype_of(<Tensor>result)),)
        if 0 not in p.fixed:
            become_output(<Tensor>result, node, 0)
    else:
        node.outputs = len(outs)
        node.metas = tuple([(shape_of(<Tensor>x), dtype_of(<Tensor>x)) for x in outs])
        for i in range(len(outs)):
            if i not in p.fixed and is_differentiable_typenum(typenum_of(<Tensor>outs[i])):
                become_output(<Tensor>outs[i], node, i)
    if tp_modes & MODE_ANOMALY:
        _layer["on_record"](node)


cdef tuple shapes_of(tuple inputs):
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(inputs)
    cdef tuple shapes = PyTuple_New(n)
    for i in range(n):
        item = <object>PyTuple_GET_ITEM(inputs, i)
        shape = shape_of(<Tensor>item) if is_tensor(item) else None
        Py_INCREF(shape)
        PyTuple_SET_ITEM(shapes, i, shape)
    return shapes


cdef save_values(PrimitiveNode node, tuple inputs, tuple outs, uint64_t saves, bint saves_out):
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(inputs)
    cdef tuple saved = PyTuple_New(n + saves_out)
    cdef bint versioned = False
    hooks = mode_data.saved_hooks[-1] if tp_modes & MODE_SAVED_HOOKS else None
    for i in range(n):
        item = <object>PyTuple_GET_ITEM(inputs, i) if i >= 64 or saves >> i & 1 else None
        if item is not None and is_tensor(item):
            versioned |= version_number(item) != 0
            if (<Tensor>item).flags & INFERENCE:
                raise RuntimeError(
                    f"{node.primitive.name}(): an inference tensor cannot be saved for backward; "
                    "make a normal tensor of it with .clone() outside inference_mode")
            if hooks is not None and not (<Tensor>item).flags & (NUMBER | WEAK):
                item = pack(<Tensor>item, hooks)
        Py_INCREF(item)
        PyTuple_SET_ITEM(saved, i, item)
    if versioned:
        node.versions = tuple([version_number(x) for x in inputs])
    if saves_out:
        kept = tuple([alias(<Tensor>x, False) for x in outs])
        if hooks is not None:
            kept = tuple([pack(x, hooks) for x in kept])
        kept = kept[0] if len(kept) == 1 and node.primitive.outputs == 1 else kept
        Py_INCREF(kept)
        PyTuple_SET_ITEM(saved, n, kept)
    node.saved = saved


cdef check_version(PrimitiveNode node, Py_ssize_t i):
    """Raise when the input saved at position i was changed in place since."""
    check_item(node, i, saved_of(node)[i])


cdef check_item(PrimitiveNode node, Py_ssize_t i, object item):
    cdef Tensor x
    cdef long expected
    if not is_tensor(item):      # of several outputs, each is checked when it is unpacked
        return
    x = <Tensor>item
    if x.version is not None:
        expected = 0 if node.versions is None or i >= node.inputs else node.versions[i]
        if x.version.value != expected:
            raise RuntimeError(modified_message(node, x, expected))


cdef object unpack_saved(PrimitiveNode node, Py_ssize_t i):
    """What was saved at position i, checked against in-place changes, at its place in the graph."""
    item = saved_of(node)[i]
    cdef Py_ssize_t n = node.inputs
    cdef Tensor x
    cdef Node edge
    if i < n:
        if is_tensor(item):
            x = <Tensor>item
            check_item(node, i, item)
            edge = next_node(node, i)
            if x._grad_fn is not edge and edge is not None and tp_grad_mode and \
                    type(edge) is not AccumulateGrad:
                # Re-based since (through a view, or detached): stand where it stood.
                x = alias(x, False)
                x._grad_fn = edge
                x.output_nr = next_number(node, i)
                x.flags |= REQUIRES_GRAD
                return x
            return item
        return unpack(<Packed>item) if type(item) is Packed else item
    if type(item) is tuple:
        return tuple([unpack_output(node, part, k) for k, part in enumerate(item)])
    return unpack_output(node, item, 0)


cdef object unpack_output(PrimitiveNode node, object item, int number):
    cdef Tensor out, kept
    if type(item) is Packed:
        kept = unpack(<Packed>item)
    else:
        kept = item
        if kept.version is not None and kept.version.value:
            raise RuntimeError(modified_message(node, kept, 0))
    if not tp_grad_mode or number in node.primitive.fixed \
            or not is_differentiable_typenum(typenum_of(kept)):
        return kept
    out = alias(kept, False)
    out.tangents = kept.tangents
    out.flags |= kept.flags & TANGENT
    out._grad_fn = node
    out.output_nr = number
    out.flags |= REQUIRES_GRAD
    return out


cdef str modified_message(Node node, Tensor x, long expected):
    return (f"{_running}(): a tensor needed for the gradient of {node.name()} was changed by an "
            f"in-place operation: {dtype_of(x)} of shape {list(shape_of(x))} is at version "
            f"{x.version.value}, expected version {expected}; use the out-of-place operation, or "
            ".clone() the tensor before changing it")


cdef tuple primitive_vjp(PrimitiveNode node, object cotangent, object wanted):
    cdef Primitive p = node.primitive
    cdef Py_ssize_t i, n = node.inputs, saved_count
    cdef tuple saved = saved_of(node)
    cdef object source = saved, out = None, value
    cdef list unpacked, result
    if node.released:
        raise RuntimeError(released_message(node))
    if saved is not None:
        saved_count = len(saved)
        unpacked = [None] * n
        for i in range(saved_count):
            if saved[i] is None:
                continue
            if i < n:
                unpacked[i] = unpack_saved(node, i)
            else:
                out = unpack_saved(node, i)
        source = tuple(unpacked)
    if p.vjp_joint is not None:
        if wanted is None:
            wanted = tuple([edge is not None for edge in next_nodes(node)])
        value = call_rule(p.vjp_joint, source, node.params, node.shapes, out, cotangent, wanted)
        result = list(value) if isinstance(value, (tuple, list)) else [value]
        if len(result) != n:
            raise RuntimeError(f"{p.name}: its reverse rule gave {len(result)} cotangents for "
                               f"{n} inputs")
    else:
        result = [None] * n
        for i in range(n):
            if next_node(node, i) is None or (wanted is not None and not wanted[i]):
                continue
            if p.vjp_rules[i] is not None:
                result[i] = input_vjp(p, <Rule>p.vjp_rules[i], source, node, out, cotangent)
    if node.shapes is not None and p.broadcasts:
        for i in range(n):
            if result[i] is not None:
                result[i] = sum_to(<Tensor>result[i], node.shapes[i])
    return tuple(result)


cdef bint saved_as_is(PrimitiveNode node, tuple saved) except -1:
    """Whether rules can take what a node saved just as it is kept; checks it for changes."""
    cdef Py_ssize_t i, n = node.inputs
    cdef Tensor kept
    if tp_grad_mode:
        return False
    for i in range(PyTuple_GET_SIZE(saved)):
        item = <object>PyTuple_GET_ITEM(saved, i)
        if type(item) is Packed or type(item) is tuple:
            return False
        if i < n:
            check_item(node, i, item)
        else:
            kept = <Tensor>item
            if kept.version is not None and kept.version.value:
                return False      # which says what is wrong
    return True


cdef Tensor sum_to(Tensor value, tuple shape):
    """A cotangent summed over the dims that broadcasting from `shape` added or stretched."""
    cdef cnp.ndarray array
    if value._array is not None and not tp_modes and not value.flags & (SLOW | VIEW) \
            and not (tp_grad_mode and value.flags & REQUIRES_GRAD):
        array = value._array
        if has_shape(array, shape):
            return value
        return wrap_result(sum_to_kernel(array, shape))
    if shape_of(value) == shape:
        return value
    return _layer["sum_to"](value, shape)


cdef bint has_shape(cnp.ndarray x, tuple shape):
    cdef int i
    if cnp.PyArray_NDIM(x) != PyTuple_GET_SIZE(shape):
        return False
    for i in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIMS(x)[i] != <Py_ssize_t>shape[i]:
            return False
    return True


cdef object input_vjp(Primitive p, Rule rule, object source, PrimitiveNode node, object out,
                      object cotangent):
    """One input's cotangent; a local derivative d gives g * conj(d)."""
    if not p.partials:
        return call_rule(rule, source, node.params, node.shapes, out, cotangent, None)
    if rule.function is None:
        if rule.constant == 1:
            return cotangent
        if rule.constant == -1:
            return _layer["neg"](cotangent)
        return binary_call(MUL, cotangent, rule.constant)
    d = call_rule(rule, source, node.params, node.shapes, out, cotangent, None)
    if is_tensor(d) and is_complex_num(typenum_of(<Tensor>d)):
        d = _layer["conj"](d)
    elif type(d) is complex:
        d = d.conjugate()
    return binary_call(MUL, cotangent, d)


def conjugate(x):
    """The conjugate of a tensor or number, for rules; a real one as it is."""
    if is_tensor(x):
        return _layer["conj"](x) if is_complex_num(typenum_of(<Tensor>x)) else x
    return x.conjugate()


cdef inline bint is_complex_num(int num) noexcept:
    return cnp.NPY_CFLOAT <= num <= cnp.NPY_CLONGDOUBLE


cdef object binary_call(Primitive p, object a, object b):
    result = binary_fast(p, a, b)
    return apply_primitive(p, (a, b), ()) if result is None else result
