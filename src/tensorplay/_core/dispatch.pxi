# The general path of an operation: promotion, transform levels, recording, tangents.

cdef dict _layer = {}


def register_layer(**functions):
    """Give the core what the Python layers define: cast, sum_to, expand, conj, neg, mul, ..."""
    _layer.update(functions)


cdef object apply_primitive(Primitive p, tuple inputs, tuple params):
    """Run a primitive on inputs (tensors, numbers, None) whatever their state."""
    cdef unsigned int flags = 0
    cdef bint uniform = True
    cdef int num = -1, other
    cdef Tensor x
    cdef object result
    for item in inputs:
        if is_tensor(item):
            x = <Tensor>item
            if x.flags & VIEW:
                refresh(x)
            flags |= x.flags
            other = typenum_of(x)
            if num < 0:
                num = other
            elif num != other:
                uniform = False
        elif item is not None:
            uniform = False
    if not uniform or (p.promote == "float" and not is_differentiable_typenum(num)):
        inputs = unify(p, inputs)
        flags = 0
        for item in inputs:
            if item is not None:
                flags |= (<Tensor>item).flags
    if tp_modes & MODE_OBSERVED:
        return observed(p, inputs, params, flags)
    return run_primitive(p, inputs, params, flags)


cdef object observed(Primitive p, tuple inputs, tuple params, unsigned int flags):
    observers = list(mode_data.observers)
    tokens = [observer.enter(p.name, inputs) for observer in observers]
    result = None
    try:
        result = run_primitive(p, inputs, params, flags)
        return result
    finally:
        for observer, token in zip(observers, tokens):
            observer.leave(token, result)


cdef object run_primitive(Primitive p, tuple inputs, tuple params, unsigned int flags):
    """Run at the level of the inputs; see `run_at_level`.

    While the backward pass of a function transform runs, grad mode is off for that transform only:
    an operation below its level is recorded as it would be outside.
    """
    cdef Level above
    cdef int previous = tp_grad_mode
    if not tp_modes & MODE_PULLING:
        return run_at_level(p, inputs, params, flags)
    above = level_above(highest_level(inputs))
    if above is None or above.grad_mode == previous:
        return run_at_level(p, inputs, params, flags)
    set_grad_mode(above.grad_mode)
    try:
        return run_at_level(p, inputs, params, flags)
    finally:
        set_grad_mode(previous)


cdef object run_at_level(Primitive p, tuple inputs, tuple params, unsigned int flags):
    cdef object result
    cdef long level
    if flags & BOX:
        level = highest_level(inputs)
        if find_level(level) is None:
            return run_ended(p, inputs, params, level)
        result = run_boxed(p, inputs, params, level)
    else:
        result = run_arrays(p, inputs, params)
    if p.is_view:
        mark_views(p, inputs, params, result)
    if tp_modes & MODE_INFERENCE and not (p.is_view and not flags & INFERENCE):
        for out in (result if p.outputs != 1 else (result,)):
            (<Tensor>out).flags |= INFERENCE
    if flags & REQUIRES_GRAD and tp_grad_mode and p.differentiable:
        record(p, inputs, params, result)
    if flags & TANGENT:
        push_tangents(p, inputs, params, result)
    return result


# --- inputs ---------------------------------------------------------------------------------------

cdef tuple unify(Primitive p, tuple inputs):
    """Numbers become 0-dim tensors; where the primitive promotes, dtypes become the common one."""
    cdef list items = list(inputs)
    cdef Py_ssize_t i, n = len(items)
    cdef Tensor x
    tensors = 0
    for i in range(n):
        item = items[i]
        if is_tensor(item):
            tensors += 1
        elif item is None:
            continue
        elif isinstance(item, (bool, int, float, complex, np.bool_, np.number)):
            if p.promote is None or (n == 1):
                raise TypeError(argument_message(p, i, item))
        else:
            raise TypeError(argument_message(p, i, item))
    if p.promote is None:
        return inputs
    if p.check is not None:
        p.check(inputs)
    if tensors == 1 and n > 1 and numbers_like_tensor(items):
        return tuple(items)
    entries = []
    for i in range(n):
        item = items[i]
        if item is None:
            continue
        if not is_tensor(item):
            items[i] = number_tensor(item)
            if tensors == 0 and not p.variadic:
                raise TypeError(argument_message(p, i, item))
        x = <Tensor>items[i]
        entries.append((dtype_of(x), 0 if x.flags & WEAK else (2 if ndim_of(x) else 1)))
    target = _dtypes.promote(entries)
    if p.promote == "float" and target.category < 2:
        target = _dtypes.get_default_dtype()
    for i in range(n):
        if items[i] is not None and dtype_of(<Tensor>items[i]) is not target:
            items[i] = _layer["cast"](items[i], target)
    return tuple(items)


cdef bint numbers_like_tensor(list items):
    """Give real numbers beside one floating-point tensor its dtype; False: promotion decides."""
    cdef Tensor x = None
    for item in items:
        if is_tensor(item):
            x = item
        elif item is not None and type(item) is not float and type(item) is not int:
            return False
    if x.flags & WEAK or not is_differentiable_typenum(typenum_of(x)):
        return False
    kind = dtype_of(x).numpy
    token = quiet_enter()     # a number beyond the dtype's range is infinite
    try:
        for i, item in enumerate(items):
            if item is not None and not is_tensor(item):
                items[i] = new_tensor(np.array(item, dtype=kind))
    finally:
        quiet_leave(token)
    return True


cdef str argument_message(Primitive p, Py_ssize_t i, object value):
    names = p.arg_names if p.variadic else p.keywords
    name = names[0] if p.variadic or i >= len(names) else names[i]
    kind = type(value).__name__
    return (f"{p.name}(): argument '{name}' (position {i + 1}) must be Tensor, not {kind}; "
            f"make one with tensorplay.tensor(...)")


cdef Tensor number_tensor(object value):
    """A 0-dim tensor that takes part in promotion as a Python number does."""
    cdef Tensor out
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        array = np.array(value)
    elif isinstance(value, int):
        array = np.array(value, dtype=np.int64 if -2 ** 63 <= value < 2 ** 63 else np.float64)
    elif isinstance(value, float):
        array = np.array(value, dtype=np.float64)
    else:
        array = np.array(value, dtype=np.complex128)
    out = new_tensor(array)
    out.flags |= WEAK
    return out


def weak_tensor(value):
    """A 0-dim tensor made from a Python number that stays weak in dtype promotion."""
    return number_tensor(value)


# --- NumPy's floating-point warnings ---

# Ordinary mathematics (1 / 0, log(-1)) gives its value and no warning. np.errstate costs as much as
# the operation; what it does to NumPy's context variable, done directly, costs a tenth.
try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj
    _quiet_state = _make_extobj(divide="ignore", over="ignore", under="ignore", invalid="ignore")
except (ImportError, TypeError):
    _extobj_contextvar = None


cdef object quiet_enter():
    if _extobj_contextvar is None:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state
    return _extobj_contextvar.set(_quiet_state)


cdef quiet_leave(object token):
    if _extobj_contextvar is None:
        token.__exit__(None, None, None)
    else:
        _extobj_contextvar.reset(token)


# --- computing ------------------------------------------------------------------------------------

cdef object run_arrays(Primitive p, tuple inputs, tuple params):
    cdef list arrays = []
    cdef object result
    if p.fast == FAST_BINARY:
        if inputs[0] is not None and inputs[1] is not None:
            result = binary_arrays(p, (<Tensor>inputs[0])._array, (<Tensor>inputs[1])._array)
            if result is not None:
                return new_tensor(result)
    elif p.fast == FAST_UNARY:
        array = (<Tensor>inputs[0])._array
        if is_loop_array(<cnp.ndarray>array) and has_loop(p, <cnp.ndarray>array):
            result = empty_like_shape(<cnp.ndarray>array)
            run_unary(p, <cnp.ndarray>array, <cnp.ndarray>result)
            return new_tensor(result)
    for item in inputs:
        arrays.append(None if item is None else (<Tensor>item)._array)
    try:
        if p.quiet:
            result = p.kernel(arrays, *params) if p.variadic else p.kernel(*arrays, *params)
        else:
            token = quiet_enter()
            try:
                result = p.kernel(arrays, *params) if p.variadic else p.kernel(*arrays, *params)
            finally:
                quiet_leave(token)
    except ValueError as error:
        raise kernel_error(p, arrays, error) from None
    if p.outputs == 1:
        return wrap_result(result)
    return tuple([wrap_result(item) for item in result])


cdef object kernel_error(Primitive p, list arrays, object error):
    """What NumPy refused, with the operation's name and the shapes it was given."""
    if str(error).startswith(p.name):
        return error
    shapes = " and ".join([str(list(x.shape)) for x in arrays if x is not None])
    if p.broadcasts and "broadcast" in str(error):
        return RuntimeError(
            f"{p.name}(): the shapes {shapes} of its inputs cannot be broadcast together; sizes "
            "must be equal, or one of them 1, counted from the last dim")
    return RuntimeError(f"{p.name}(): {error}; the inputs have shapes {shapes}")


cdef inline Tensor wrap_result(object result):
    if type(result) is not np.ndarray:
        result = np.asarray(result)
    return new_tensor(result)


cdef long highest_level(tuple inputs):
    cdef long level = 0
    for item in inputs:
        if item is not None and (<Tensor>item).flags & BOX and (<Tensor>item)._level > level:
            level = (<Tensor>item)._level
    return level


cdef object run_ended(Primitive p, tuple inputs, tuple params, long level):
    """Boxes of a gradient level that has ended stand for their values."""
    values = []
    for item in inputs:
        if item is not None and (<Tensor>item)._level == level and (<Tensor>item).flags & BOX:
            if (<Tensor>item)._bdim >= 0:
                raise RuntimeError(
                    f"{p.name}(): a tensor that was made inside vmap is used after that vmap has "
                    "ended; return it from the mapped function instead")
            item = (<Tensor>item)._value
        values.append(item)
    return apply_primitive(p, tuple(values), params)


cdef object run_boxed(Primitive p, tuple inputs, tuple params, long level_id):
    """Run on the values inside the boxes of the innermost level, and box the results."""
    cdef bint batched = False
    cdef Tensor x
    cdef list values = [], bdims = []
    cdef Level level = find_level(level_id)
    cdef int previous = tp_grad_mode
    if level.handler is not None:
        return level.handler(p, inputs, params)
    for item in inputs:
        if item is not None and (<Tensor>item)._level == level_id:
            x = <Tensor>item
            values.append(x._value)
            bdims.append(x._bdim if x._bdim >= 0 else None)
            batched |= x._bdim >= 0
        else:
            values.append(item)
            bdims.append(None)
    if level.grad_mode >= 0:
        # no_grad inside the function holds for what is outside of it too.
        set_grad_mode(level.grad_mode and (previous or tp_modes & MODE_PULLING))
    try:
        if not batched:
            return box_results(p, apply_primitive(p, tuple(values), params), None, level_id)
        if p.batch is None:
            raise RuntimeError(f"{p.name}(): this operation has no batching rule, so it cannot be "
                               "used inside vmap")
        result, bdim = p.batch(p, values, bdims, params)
        return box_results(p, result, bdim, level_id)
    finally:
        set_grad_mode(previous)


cdef object box_results(Primitive p, object result, object bdim, long level):
    if p.outputs == 1:
        return make_box(result, bdim, level)
    if isinstance(bdim, (tuple, list)):
        return tuple([make_box(item, b, level) for item, b in zip(result, bdim)])
    return tuple([make_box(item, bdim, level) for item in result])


cdef Tensor make_box(Tensor value, object bdim, long level):
    cdef Tensor out = Tensor.__new__(Tensor)
    out._value = value
    out._bdim = -1 if bdim is None else bdim
    out._level = level
    out.flags = BOX | (value.flags & WEAK)
    return out


def box(Tensor value, bdim, Level level):
    """`value` inside a transform level; `bdim` is its batch dimension, None when not batched."""
    return make_box(value, bdim, level.id)


def unbox(x, Level level):
    """(value, bdim) of a tensor at a level; (x, None) for anything that is not boxed there."""
    cdef Tensor t
    if is_tensor(x):
        t = x
        if t.flags & VIEW:
            refresh(t)
        if t._level == level.id and t.flags & BOX:
            return t._value, (None if t._bdim < 0 else t._bdim)
    return x, None


def box_level(Tensor x):
    """The id of the level a tensor is boxed at; 0 for a plain tensor."""
    return x._level if x.flags & BOX else 0


def innermost_level():
    """The innermost vmap or function-gradient level; None outside of them."""
    return find_level(innermost_box_level())


def lift(Tensor x):
    """`x`, boxed (unbatched) at the innermost level where it is not yet a value of it."""
    cdef long level = innermost_box_level()
    if level == 0 or (x.flags & BOX and x._level == level):
        return x
    return make_box(x, None, level)


def batched_levels(Tensor x):
    """Ids of the vmap levels over which x differs from sample to sample, innermost first."""
    found = []
    while x.flags & BOX:
        if x._bdim >= 0:
            found.append(x._level)
        x = x._value
    return found


# --- recording ------------------------------------------------------------------------------------

cdef record(Primitive p, tuple inputs, tuple params, object result):
    cdef Py_ssize_t i, n = len(inputs)
    cdef uint64_t saves = 0
    cdef bint saves_out = False, needs_shapes = False, versioned = False
    cdef Rule rule
    cdef PrimitiveNode node
    cdef Tensor out
    cdef bint any_edge = False
    outs = (result,) if p.outputs == 1 else result
    for item in outs:
        if is_differentiable_typenum(typenum_of(<Tensor>item)):
            any_edge = True
    if not any_edge:
        return
    if p.vjp_joint is not None:
        saves = p.vjp_joint.saves
        saves_out = p.vjp_joint.saves_out
        needs_shapes = p.vjp_joint.needs_shapes
    else:
        for i in range(n):
            if is_tensor(inputs[i]) and (<Tensor>inputs[i]).flags & REQUIRES_GRAD \
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
        save_values(node, inputs, outs, saves, saves_out)
    if needs_shapes or p.broadcasts:
        node.shapes = tuple([shape_of(<Tensor>x) if is_tensor(x) else None for x in inputs])
    if p.outputs == 1 and (<Tensor>result)._array is not None:
        set_meta(node, (<Tensor>result)._array)
    else:
        node.outputs = len(outs)
        node.metas = tuple([(shape_of(<Tensor>x), dtype_of(<Tensor>x)) for x in outs])
    for i in range(len(outs)):
        out = <Tensor>outs[i]
        if i in p.fixed or not is_differentiable_typenum(typenum_of(out)):
            continue
        out._grad_fn = node
        out.output_nr = i
        out.flags |= REQUIRES_GRAD
    if tp_modes & MODE_ANOMALY:
        _layer["on_record"](node)


cdef save_values(PrimitiveNode node, tuple inputs, tuple outs, uint64_t saves, bint saves_out):
    cdef Py_ssize_t i, n = len(inputs)
    cdef list saved = []
    cdef bint versioned = False
    hooks = mode_data.saved_hooks[-1] if tp_modes & MODE_SAVED_HOOKS else None
    for i in range(n):
        item = inputs[i] if i >= 64 or saves >> i & 1 else None
        if item is not None and version_number(item):
            versioned = True
        if is_tensor(item) and (<Tensor>item).flags & INFERENCE:
            raise RuntimeError(
                f"{node.primitive.name}(): an inference tensor cannot be saved for backward; make "
                "a normal tensor of it with .clone() outside inference_mode")
        if hooks is not None and is_tensor(item):
            item = pack(item, hooks)
        saved.append(item)
    if versioned:
        node.versions = tuple([version_number(x) for x in inputs])
    if saves_out:
        kept = tuple([alias(<Tensor>x, False) for x in outs])
        if hooks is not None:
            kept = tuple([pack(x, hooks) for x in kept])
        saved.append(kept[0] if len(kept) == 1 and node.primitive.outputs == 1 else kept)
    node.saved = tuple(saved)


cdef class Packed:
    """A saved tensor that went through a pack hook."""
    cdef object value, unpack
    cdef tuple shape
    cdef object dtype


cdef object pack(Tensor x, tuple hooks):
    cdef Packed packed = Packed.__new__(Packed)
    packed.value = call_pack_hook(hooks[0], hooks[1], x)
    packed.unpack = hooks[1]
    return packed


cdef object unpack_one(object item):
    if type(item) is Packed:
        value = (<Packed>item).unpack((<Packed>item).value)
        if not is_tensor(value):
            raise TypeError("saved_tensors_hooks(): the unpack hook must return a Tensor, got "
                            f"{type(value).__name__}")
        return value
    return item


cdef check_version(PrimitiveNode node, Py_ssize_t i):
    """Raise when the input saved at position i was changed in place since."""
    cdef Tensor x
    cdef long expected
    item = node.saved[i]
    if type(item) is tuple:
        item = None      # several outputs: each is checked when it is unpacked
    if not is_tensor(item):
        return
    x = <Tensor>item
    if x.version is not None:
        expected = 0 if node.versions is None or i >= node.inputs else node.versions[i]
        if x.version.value != expected:
            raise RuntimeError(modified_message(node, x, expected))


cdef object unpack_saved(PrimitiveNode node, Py_ssize_t i):
    """What was saved at position i, checked against in-place changes, at its place in the graph."""
    item = node.saved[i]
    cdef Py_ssize_t n = node.inputs
    cdef Tensor x
    cdef Node edge
    if i < n:
        if is_tensor(item):
            x = <Tensor>item
            check_version(node, i)
            edge = next_node(node, i)
            if x._grad_fn is not edge and edge is not None and tp_grad_mode and \
                    type(edge) is not AccumulateGrad:
                # Re-based since (through a view, or detached): stand where it stood.
                x = alias(x, False)
                x._grad_fn = edge
                x.output_nr = 0 if node.next_numbers is None else node.next_numbers[i]
                x.flags |= REQUIRES_GRAD
                return x
            return item
        item = unpack_one(item)
        if is_tensor(item) and next_node(node, i) is not None and tp_grad_mode \
                and not (<Tensor>item).flags & REQUIRES_GRAD:
            x = alias(<Tensor>item, False)
            x._grad_fn = next_node(node, i)
            x.output_nr = 0 if node.next_numbers is None else node.next_numbers[i]
            x.flags |= REQUIRES_GRAD
            return x
        return item
    if type(item) is tuple:
        return tuple([unpack_output(node, unpack_one(x), k) for k, x in enumerate(item)])
    return unpack_output(node, unpack_one(item), 0)


cdef object unpack_output(PrimitiveNode node, Tensor kept, int number):
    cdef Tensor out
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


cdef tuple primitive_vjp(PrimitiveNode node, object cotangent, object wanted, bint keep):
    cdef Primitive p = node.primitive
    cdef Py_ssize_t i, n = node.inputs, saved_count
    cdef object source = node.saved, out = None, value
    cdef list unpacked, result
    cdef tuple saved = node.saved
    if node.released:
        raise RuntimeError(released_message(node))
    if saved is not None:
        saved_count = len(saved)
        if not keep:
            node.released = True
            node.saved = None
        unpacked = [None] * n
        if not keep:
            node.saved = saved
        try:
            for i in range(saved_count):
                if saved[i] is None:
                    continue
                if i < n:
                    unpacked[i] = unpack_saved(node, i)
                else:
                    out = unpack_saved(node, i)
        finally:
            if not keep:
                node.saved = None
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
            value = result[i]
            if value is not None and shape_of(<Tensor>value) != node.shapes[i]:
                result[i] = _layer["sum_to"](value, node.shapes[i])
    return tuple(result)


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
        return binary_call(<Primitive>_layer["mul"], cotangent, rule.constant)
    d = call_rule(rule, source, node.params, node.shapes, out, cotangent, None)
    if is_tensor(d) and is_complex_num(typenum_of(<Tensor>d)):
        d = _layer["conj"](d)
    elif type(d) is complex:
        d = d.conjugate()
    return binary_call(<Primitive>_layer["mul"], cotangent, d)


cdef inline bint is_complex_num(int num) noexcept:
    return cnp.NPY_CFLOAT <= num <= cnp.NPY_CLONGDOUBLE


cdef object binary_call(Primitive p, object a, object b):
    result = binary_fast(p, a, b)
    return apply_primitive(p, (a, b), ()) if result is None else result


# --- tangents -------------------------------------------------------------------------------------

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
