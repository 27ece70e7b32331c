# Views and in-place changes: who shares memory with whom, and how history follows a write.

cdef mark_views(Primitive p, tuple inputs, tuple params, object result):
    """Tie the results of a view primitive to the tensor they look into."""
    cdef Tensor x = <Tensor>inputs[0], out
    cdef Version version = version_of(x)
    cdef ViewInfo info
    cdef int i = 0
    cdef bint several = p.outputs != 1
    for item in (result if several else (result,)):
        out = <Tensor>item
        out.version = version
        info = ViewInfo.__new__(ViewInfo)
        info.base = x if x.view is None else x.view.base
        info.parent = x
        info.memory = x._value if x._array is None else x._array
        info.bdim = x._bdim
        info.primitive = p
        info.params = params
        info.output_nr = i
        info.seen = version.value
        out.view = info
        out.flags |= VIEW | (NO_INPLACE if several else 0) | (0 if tp_grad_mode else NO_GRAD_VIEW)
        out.flags |= x.flags & (NO_INPLACE | NO_GRAD_VIEW | CUSTOM_VIEW | INFERENCE)
        if x.flags & (NO_GRAD_VIEW | CUSTOM_VIEW):
            info.maker = x.view.maker
            info.made_at = x.view.made_at
        elif not tp_grad_mode:
            info.made_at = info.base._grad_fn
        i += 1


cdef refresh(Tensor x):
    """Bring the history and tangents of a view up to date with in-place changes of its base."""
    cdef ViewInfo info = x.view
    cdef Tensor fresh, base
    cdef Node old
    cdef bint constant
    if info is None or info.seen == x.version.value:
        return
    base = info.base
    if is_interpreted(base):
        info.seen = x.version.value
        result = apply_primitive(info.primitive, (info.parent,), info.params)
        replace_box(x, <Tensor>(result if info.primitive.outputs == 1 else result[info.output_nr]))
        return
    constant = not base.flags & (REQUIRES_GRAD | TANGENT)
    if x.flags & BOX and (x.attributes is not NULL or base.attributes is not NULL):
        carry(x, replayed(x, tp_grad_mode))
    if constant and (not x.flags & (REQUIRES_GRAD | TANGENT)
                     or (x._grad_fn is None and not x.flags & TANGENT)):
        info.seen = x.version.value
        return
    if x.flags & CUSTOM_VIEW:
        if tp_grad_mode:
            raise RuntimeError(custom_view_message(info, "its base or another view of its base"))
        return
    if x.flags & NO_GRAD_VIEW:
        if tp_grad_mode and base.flags & REQUIRES_GRAD and base._grad_fn is not info.made_at:
            raise RuntimeError(
                "a view that was made under no_grad is used after its base was changed in place "
                "with grad mode on, so it is not clear what its history is; make the view with "
                "grad mode on, or change its base under no_grad")
        if constant or not (base.flags | x.flags) & TANGENT:
            return
    fresh = replayed(x, not x.flags & NO_GRAD_VIEW)
    old = x._grad_fn
    x._grad_fn = fresh._grad_fn
    x.output_nr = fresh.output_nr
    x.flags = (x.flags & ~<unsigned int>REQUIRES_GRAD) | (fresh.flags & REQUIRES_GRAD)
    if x.flags & RETAIN_GRAD:
        move_retain(x, old)
    set_tangents(x, fresh.tangents)


cdef Tensor replayed(Tensor x, bint grad_mode):
    """A view made again from what it is a view of."""
    cdef ViewInfo info = x.view
    cdef int previous = tp_grad_mode
    info.seen = x.version.value
    set_grad_mode(grad_mode)
    try:
        parent = info.parent
        step = earlier_form(info)
        if step is not None:
            parent = apply_primitive(<Primitive>step[0], (parent,), step[1])
        result = apply_primitive(info.primitive, (parent,), info.params)
    finally:
        set_grad_mode(previous)
    return <Tensor>(result if info.primitive.outputs == 1 else result[info.output_nr])


cdef carry(Tensor x, Tensor source):
    """At a level that interprets operations, let x stand for what `source` stands for."""
    cdef Level level = find_level(x._level)
    cdef PyObject* held = x.attributes
    if level is None or level.handler is None:
        return
    x.attributes = NULL
    if source.flags & BOX and source._level == x._level and source.attributes is not NULL:
        x.attributes = source.attributes
        Py_INCREF(<object>x.attributes)
    Py_XDECREF(held)


cdef str custom_view_message(ViewInfo info, str what):
    return (f"{info.maker}: an output is a view, made inside the custom Function or because an "
            f"input was returned as it is, and {what} is being changed in place; the history of "
            "such a change would bypass the Function's own backward, so .clone() the output first")


def view_chain(Tensor x):
    """((primitive, params, output number), ...) that lead from the base of a view to it."""
    cdef list chain = []
    while x.view is not None:
        chain.append((x.view.primitive, x.view.params, x.view.output_nr))
        step = earlier_form(x.view)
        if step is not None:
            chain.append(step)
        x = x.view.parent
    return tuple(reversed(chain))


cdef tuple earlier_form(ViewInfo info):
    """(primitive, params, 0) that leads to what the parent of a view was when the view was made.

    None where it still is: only operations like `t_` give a tensor another form. They look at the
    same memory, so a strided view of what it is now gives what it was.
    """
    cdef Tensor now = info.parent, then
    if info.memory is None or info.memory is (now._value if now._array is None else now._array):
        return None
    if now._array is None:
        then = make_box(info.memory, None if info.bdim < 0 else info.bdim, now._level)
    else:
        then = new_tensor(info.memory)
    array, before = innermost_array(now), innermost_array(then)
    if not np.may_share_memory(array, before):
        raise RuntimeError(
            "a view is used after the tensor that it looks into was given other memory (by .data = "
            "... or resize_) and changed in place; make the view again")
    distance = <Py_ssize_t>(<char*>cnp.PyArray_DATA(<cnp.ndarray>before)
                            - <char*>cnp.PyArray_DATA(<cnp.ndarray>array))
    return (_layer["as_strided"],
            (shape_of(then), strides_of(then), distance // array.itemsize, strides_of(now)), 0)


cdef object innermost_array(Tensor x):
    while x._array is None:
        x = x._value
    return x._array


def check_inplace(Tensor x, str name):
    """Raise, before anything is changed, where an in-place change of `x` is not allowed."""
    cdef Tensor base
    if x.flags & VIEW:
        refresh(x)
    if x.flags & INFERENCE and not tp_modes & MODE_INFERENCE:
        raise RuntimeError(f"{name}(): an inference tensor cannot be changed in place outside "
                           "inference_mode; use .clone() to make a normal tensor")
    if not tp_grad_mode:
        return
    if x.flags & REQUIRES_GRAD and (x._grad_fn is None or type(x._grad_fn) is AccumulateGrad):
        raise RuntimeError(
            f"{name}(): a leaf tensor that requires grad is being used in an in-place operation; "
            "do it under tensorplay.no_grad(), or on a copy made with .clone()")
    if x.view is None:
        return
    base = x.view.base
    if base.flags & REQUIRES_GRAD and (base._grad_fn is None
                                       or type(base._grad_fn) is AccumulateGrad):
        raise RuntimeError(
            f"{name}(): a view of a leaf tensor that requires grad is being used in an in-place "
            "operation; do it under tensorplay.no_grad(), or on a copy made with .clone()")
    if x.flags & NO_INPLACE and x.flags & REQUIRES_GRAD:
        raise RuntimeError(
            f"{name}(): output {x.view.output_nr} of {x.view.primitive.node_name} is one of "
            "several views made by one operation and cannot be changed in place; use the "
            "out-of-place operation, or narrow/select to make the view")
    if base.flags & REQUIRES_GRAD or x.flags & REQUIRES_GRAD:
        check_view(x, name)


cdef check_view(Tensor x, str name):
    """Raise where history cannot be given to a view."""
    if x.flags & CUSTOM_VIEW:
        raise RuntimeError(f"{name}(): " + custom_view_message(x.view, "it"))
    if x.flags & NO_GRAD_VIEW:
        raise RuntimeError(
            f"{name}(): a view that was made under no_grad is being changed in place with grad "
            "mode on; make the view with grad mode on, or change it under no_grad")


def assign(Tensor x, Tensor value, str name):
    """Write `value` (the result of an operation) into x's memory and give x its history."""
    cdef Tensor before
    cdef ViewInfo info
    check_inplace(x, name)
    value = same_for_all(value, x)
    if x.flags & VIEW and value.flags & REQUIRES_GRAD and tp_grad_mode:
        check_view(x, name)
    if shape_of(value) != shape_of(x):
        raise RuntimeError(
            f"{name}(): the result has shape {list(shape_of(value))}, which does not match the "
            f"shape {list(shape_of(x))} of the tensor it would be written to")
    if typenum_of(value) != typenum_of(x):
        if not _dtypes.can_cast(dtype_of(value), dtype_of(x)):
            raise RuntimeError(
                f"{name}(): result type {dtype_of(value)} can't be cast to the desired output "
                f"type {dtype_of(x)}")
        value = _layer["cast"](value, dtype_of(x))
    info = x.view
    before = alias_with_history(x if info is None else info.base)
    if is_interpreted(before):
        assign_interpreted(x, before, value)
        return x
    write_values(x, value, name)
    count_change(x)
    if info is not None:
        rebase(info.base, before, value, view_chain(x))
        refresh(x)
    else:
        take_history(x, value)
        if x.flags & BOX:
            carry(x, value)
    return x


cdef inline bint is_interpreted(Tensor x):
    """Whether x is a box of a level that computes with more than values (a series, a pattern)."""
    cdef Level level
    if not x.flags & BOX:
        return False
    level = find_level(x._level)
    return level is not None and level.handler is not None


cdef assign_interpreted(Tensor x, Tensor before, Tensor value):
    """In-place change at such a level: the base becomes the result, its views follow it.

    Memory is left alone, since what the level knows beside the values is not in it.
    """
    if value._level != x._level or not value.flags & BOX:
        value = make_box(value, None, x._level)
    if x.view is not None:
        scatter = <Primitive>_layer["view_scatter"]
        value = apply_primitive(scatter, (before, value), (view_chain(x),))
        x = x.view.base
    count_change(x)
    replace_box(x, value)


cdef drop_attributes(Tensor x):
    """Let x start anew with none; an alias may share the dictionary, so that is left as it is."""
    cdef PyObject* held = x.attributes
    x.attributes = NULL
    Py_XDECREF(held)


cdef replace_box(Tensor x, Tensor value):
    """x takes the value inside another box, its history and what is known of it."""
    x._value = value._value
    drop_attributes(x)
    if value.attributes is not NULL:
        attributes_of(x).update(attributes_of(value))
    x._grad_fn = value._grad_fn
    x.output_nr = value.output_nr
    x.flags = (x.flags & ~<unsigned int>REQUIRES_GRAD) | (value.flags & REQUIRES_GRAD)
    set_tangents(x, value.tangents)


cdef take_history(Tensor x, Tensor value):
    """x is now what `value` is; under no_grad its history stays (its values are data)."""
    cdef Node old = x._grad_fn
    if tp_grad_mode:
        if value.flags & REQUIRES_GRAD:
            x._grad_fn = edge_of(value)
            x.output_nr = value.output_nr
            x.flags |= REQUIRES_GRAD
        else:
            x._grad_fn = None
            x.output_nr = 0
            x.flags &= ~<unsigned int>REQUIRES_GRAD
        if x.flags & RETAIN_GRAD and x._grad_fn is not old:
            move_retain(x, old)
    set_tangents(x, value.tangents)


cdef move_retain(Tensor x, Node old):
    if old is not None and old.extras is not None and old.extras.retained is not None:
        retained = old.extras.retained
        for key in list(retained):
            retained[key] = [ref for ref in retained[key] if ref() is not x]
    if x._grad_fn is not None:
        x._grad_fn.add_retain(x)
    else:
        x.flags &= ~<unsigned int>RETAIN_GRAD


cdef rebase(Tensor base, Tensor before, Tensor value, tuple chain):
    """A view of `base` was overwritten with `value`: record that at the base."""
    cdef Primitive scatter = <Primitive>_layer["view_scatter"]
    cdef unsigned int flags = before.flags | value.flags
    cdef Node old = base._grad_fn
    cdef tuple inputs = (before, value)
    cdef Level level
    if tp_grad_mode:
        base._grad_fn = None
        base.output_nr = 0
        base.flags &= ~<unsigned int>REQUIRES_GRAD
        if flags & REQUIRES_GRAD:
            record(scatter, inputs, (chain,), base)
        if base.flags & RETAIN_GRAD:
            move_retain(base, old)
    set_tangents(base, None)
    if flags & TANGENT:
        push_tangents(scatter, inputs, (chain,), base)
    if base.flags & BOX:
        level = find_level(base._level)
        if level is not None and level.handler is not None:
            carry(base, level.handler(scatter, inputs, (chain,)))


cdef write_values(Tensor x, Tensor value, str name):
    """Copy values, level by level, without touching x's own history."""
    cdef Tensor inner
    cdef int bdim
    if x._array is not None:
        if value._array is None:
            raise RuntimeError(
                f"{name}(): a tensor from outside of vmap or a function transform cannot take the "
                "values of one inside it in place; use the out-of-place operation, or make the "
                "tensor inside")
        if not (<object>x._array).flags.writeable:
            raise RuntimeError(f"{name}(): the tensor is over a read-only array; use .clone()")
        # One number everywhere is no conflict, unless a gradient would have to be shared out.
        if name != "zero_" and (name != "fill_" or value.flags & (REQUIRES_GRAD | TANGENT)):
            check_self_overlap(x, name)
        if tp_modes & MODE_MUTATION:
            _layer["before_write"](x)
        np.copyto(x._array, value._array, casting="unsafe")
        return
    if value.flags & BOX and value._level == x._level:
        inner = value._value
        bdim = value._bdim
    else:
        inner = value
        bdim = -1
    if x._bdim < 0 and bdim >= 0:
        raise RuntimeError(
            f"{name}(): inside vmap, a tensor that is the same for every sample cannot take "
            "values that differ between samples in place; use the out-of-place operation, or "
            "make the tensor from a batched one (x.new_zeros, zeros_like)")
    if x._bdim >= 0:
        if bdim < 0:
            shape = shape_of(inner)
            inner = _layer["unsqueeze"](inner, x._bdim)
            full = shape[:x._bdim] + (shape_of(x._value)[x._bdim],) + shape[x._bdim:]
            inner = _layer["expand"](inner, full)
        elif bdim != x._bdim:
            inner = _layer["movedim"](inner, bdim, x._bdim)
    assign_inner(x, inner, name)


cdef Tensor same_for_all(Tensor value, Tensor x):
    """`value` without boxes of vmap levels inside x's own that hold one value for all samples.

    A box stays where it has history of its own, or a tangent that differs from sample to sample.
    """
    cdef Level level
    cdef Tensor inner
    while value.flags & BOX and value._bdim < 0 and not value.flags & REQUIRES_GRAD:
        level = find_level(value._level)
        if level is None or level.kind != "vmap" or x.flags & BOX and x._level >= value._level:
            break
        inner = value._value
        if value.flags & TANGENT:
            tangents = dict(inner.tangents or {})
            for key, tangent in value.tangents.items():
                tangent = same_for_all_tangent(tangent, value._level)
                if tangent is None or key in tangents:
                    return value
                tangents[key] = tangent
            inner = with_tangents(inner, tangents)
        value = inner
    return value


cdef Tensor same_for_all_tangent(Tensor tangent, long level):
    """A tangent without its box at a vmap level; None where it needs it."""
    if not tangent.flags & BOX or tangent._level < level:
        return tangent
    if tangent._level > level or tangent._bdim >= 0 or tangent.flags & (REQUIRES_GRAD | TANGENT):
        return None
    return tangent._value


cdef assign_inner(Tensor x, Tensor inner, str name):
    cdef Level level = find_level(x._level)
    cdef int previous = tp_grad_mode
    if level is not None and level.grad_mode >= 0:
        set_grad_mode(level.grad_mode and (previous or tp_modes & MODE_PULLING))
    try:
        # An operation of its own, so that the value's history is never that of a leaf.
        assign(x._value, _layer["clone"](inner) if inner.flags & REQUIRES_GRAD else inner, name)
    finally:
        set_grad_mode(previous)


cdef check_self_overlap(Tensor x, str name):
    cdef cnp.ndarray array = x._array
    cdef int i
    if cnp.PyArray_SIZE(array) == 0:  # NumPy gives empty arrays strides of 0
        return
    for i in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_STRIDES(array)[i] == 0 and cnp.PyArray_DIMS(array)[i] > 1:
            raise RuntimeError(
                f"{name}(): more than one element of the written-to tensor refers to a single "
                "memory location (it was expanded); .clone() the tensor first")


def write_out(name, out, result):
    """Store a result in `out=`: a tensor, or a tuple of tensors for several results."""
    if isinstance(result, tuple):
        for target, item in zip(out, result):
            write_one_out(name, target, item)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    return write_one_out(name, out, result)


cdef object write_one_out(str name, object target, Tensor result):
    cdef Tensor out
    if not is_tensor(target):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    out = target
    if tp_grad_mode and (out.flags | result.flags) & REQUIRES_GRAD:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad; leave out= away, or use no_grad()")
    if not _dtypes.can_cast(dtype_of(result), dtype_of(out)):
        raise RuntimeError(f"{name}(): result type {dtype_of(result)} can't be cast to the desired "
                           f"output type {dtype_of(out)}")
    if shape_of(out) != shape_of(result):
        if (<object>out._array).size:
            warnings.warn(
                f"{name}(): the out tensor of shape {list(shape_of(out))} was resized to "
                f"{list(shape_of(result))}; give an out of the right shape", UserWarning,
                stacklevel=2)
        out._array = np.empty(shape_of(result), dtype=(<object>out._array).dtype)
        out.version = None
    return assign(out, result, name)


# --- in-place forms of operations -----------------------------------------------------------------

cdef class Inplace:
    """The in-place form of an operation: `x.add_(y)` computes `add(x, y)` and writes it into x."""

    cdef readonly object function
    cdef readonly str name
    cdef MapInplace direct      # how to compute straight into the tensor, or None
    cdef dict __dict__

    def __init__(self, function, str name, MapInplace direct=None):
        self.function = function
        self.direct = direct
        self.name = name
        setattr(self, "__name__", name)
        setattr(self, "__qualname__", name)
        setattr(self, "__wrapped__", function)
        setattr(self, "__doc__", f"In-place form of `{name[:-1]}`.")

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return <object>PyMethod_New_object(self, instance)

    def __repr__(self):
        return f"<tensorplay operator {self.name}>"

    def __call__(self, Tensor x, *args, **kwargs):
        if not kwargs and type(self.function) is Primitive and \
                fast_inplace(<Primitive>self.function, x, args):
            return x
        if self.direct is not None and self.direct.run(x, args, kwargs):
            return x
        check_inplace(x, self.name)
        source = before_change(x, self.function, args, kwargs)
        try:
            result = self.function(source, *args, **kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            message = str(error)
            if not message.startswith(self.name[:-1] + "()"):
                raise
            raise type(error)(self.name + message[len(self.name) - 1:]) from None
        return assign(x, result, self.name)


cdef Tensor before_change(Tensor x, object function, tuple args, dict kwargs):
    """x as it is now; in memory of its own where the operation's rules keep it for backward."""
    cdef unsigned int flags = x.flags
    cdef Tensor out
    for item in args + tuple(kwargs.values()):
        if is_tensor(item):
            if (<Tensor>item).flags & VIEW:
                refresh(<Tensor>item)
            flags |= (<Tensor>item).flags
    if not tp_grad_mode:
        flags &= ~<unsigned int>REQUIRES_GRAD
    if not flags & (REQUIRES_GRAD | TANGENT | BOX):
        return x
    out = alias_with_history(x)
    if not keeps_first_input(function):
        return out
    if out._array is None:
        return _layer["clone"](out)
    out._array = out._array.copy(order="K")
    out.version = None
    return out


cdef bint keeps_first_input(object function):
    """Whether a backward pass may need what the operation's first input was."""
    cdef Primitive p
    if type(function) is not Primitive:
        return True
    p = function
    if not p.differentiable:
        return False
    if p.vjp_joint is not None:
        return p.vjp_joint.saves & 1 != 0
    for rule in p.vjp_rules:
        if rule is not None and (<Rule>rule).saves & 1:
            return True
    return False


cdef bint fast_inplace(Primitive p, Tensor x, tuple args):
    """Straight into x's memory with the compiled loop; False where that does not apply."""
    cdef cnp.ndarray a, b
    cdef Tensor y
    cdef int64_t rows = 0, cols = 0
    cdef int layout
    cdef double value
    cdef float value32
    if p.fast == FAST_NONE or p.fast == FAST_COMPARE or tp_modes \
            or x.flags & (SLOW | VIEW | INFERENCE):
        return False
    a = x._array
    if (x.flags & REQUIRES_GRAD and tp_grad_mode) or not is_loop_array(a) or not has_loop(p, a) \
            or not cnp.PyArray_ISWRITEABLE(a):
        return False
    if p.fast == FAST_UNARY:
        if args:
            return False
        run_unary(p, a, a)
    elif len(args) != 1:
        return False
    elif is_number(args[0]):
        value = args[0]
        value32 = <float>value
        run_binary(p, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a),
                   <void*>&value32 if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT else <void*>&value,
                   cnp.PyArray_DATA(a), 1, cnp.PyArray_SIZE(a), SCALAR_B)
    elif is_tensor(args[0]):
        y = args[0]
        if y.flags & (SLOW | VIEW) or (y.flags & REQUIRES_GRAD and tp_grad_mode):
            return False
        b = y._array
        if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or not cnp.PyArray_IS_C_CONTIGUOUS(b):
            return False
        layout = layout_of(a, b, &rows, &cols)
        if layout < 0 or (layout != SAME and overlap(a, b)):
            return False
        if layout == SAME and cnp.PyArray_DATA(a) != cnp.PyArray_DATA(b) and overlap(a, b):
            return False
        run_binary(p, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(b),
                   cnp.PyArray_DATA(a), rows, cols, layout)
    else:
        return False
    if x.version is None:
        x.version = Version.__new__(Version)
    x.version.value += 1
    return True


def overwrite(Tensor x, source):
    """Put a number, or the elements of a tensor of x's dtype and shape, straight into x's memory.

    False where that is not all there is to do (history, transforms, broadcasting, conversion): then
    nothing has been changed.
    """
    cdef cnp.ndarray a, b
    cdef Tensor y
    cdef unsigned int recorded = REQUIRES_GRAD if tp_grad_mode else 0
    cdef int i
    if tp_modes or x.flags & (SLOW | INFERENCE | NO_INPLACE | NO_GRAD_VIEW | recorded):
        return False
    if x.flags & VIEW and x.view.base.flags & (SLOW | REQUIRES_GRAD):
        return False
    a = x._array
    if not cnp.PyArray_ISWRITEABLE(a):
        return False
    for i in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_STRIDES(a)[i] == 0:
            return False
    if is_tensor(source):
        y = <Tensor>source
        if y.flags & (SLOW | VIEW | recorded):
            return False
        b = y._array
        if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or not same_shape(x, y):
            return False
        cnp.PyArray_CopyInto(a, b)
    elif type(source) is float and cnp.PyArray_TYPE(a) != cnp.NPY_DOUBLE and (
            cnp.PyArray_TYPE(a) != cnp.NPY_FLOAT or not -3e38 < source < 3e38):
        return False
    elif not is_number(source) or (type(source) is int and not -128 <= source < 128):
        return False
    elif source < 0 and not is_differentiable_typenum(cnp.PyArray_TYPE(a)):
        return False
    elif source == 0 and (type(source) is int or copysign(1, source) > 0) \
            and cnp.PyArray_IS_C_CONTIGUOUS(a):
        memset(cnp.PyArray_DATA(a), 0, cnp.PyArray_NBYTES(a))
    else:
        cnp.PyArray_FillWithScalar(a, source)
    count_change(x)
    return True


cdef bint overlap(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether two contiguous arrays share any memory."""
    cdef char* start_a = <char*>cnp.PyArray_DATA(a)
    cdef char* start_b = <char*>cnp.PyArray_DATA(b)
    return start_a < start_b + cnp.PyArray_NBYTES(b) and start_b < start_a + cnp.PyArray_NBYTES(a)


def is_plain(Tensor x):
    """Whether x is outside of every transform, and nothing done to it now would be recorded."""
    if x.flags & VIEW:
        refresh(x)
    return not (x.flags & SLOW or (tp_grad_mode and x.flags & REQUIRES_GRAD))


def bump_version(Tensor x, long by=1):
    """Count an in-place change made outside the library's sight."""
    count_change(x, by)


def set_data(Tensor x, Tensor value):
    """Let x stand over the memory of another tensor, outside of the graph (`x.data = value`)."""
    x._array = value._array
    x._value = value._value
    x._bdim = value._bdim
    x._level = value._level
    x.version = None if x.version is None else Version.__new__(Version)


def become(Tensor x, object function, str name):
    """Let x be `function(x)`, which is a view of what x was (`t_`, `unsqueeze_` and their kin)."""
    cdef Tensor before, after
    cdef int mode, previous = tp_grad_mode
    check_inplace(x, name)
    before = alias_with_history(x)
    if x.view is not None:
        before.view = x.view
        before.flags |= x.flags & (VIEW | NO_INPLACE | NO_GRAD_VIEW)
    # Values stay as they are, so under no_grad the history has to follow: gradients would not fit.
    mode = tp_grad_mode or not (x._grad_fn is None or type(x._grad_fn) is AccumulateGrad)
    set_grad_mode(mode)
    try:
        after = function(before)
        relay(x, after)
    finally:
        set_grad_mode(previous)
    return x


cdef relay(Tensor x, Tensor after):
    """x is over the same memory from now on as `after`, which is a view of it."""
    x._array = after._array
    x._value = after._value
    x._bdim = after._bdim
    x._level = after._level
    if x.view is not None:
        x.view = after.view
    if is_interpreted(after):
        replace_box(x, after)
    else:
        take_history(x, after)
    count_change(x)


def share_version(Tensor x, Tensor other):
    """Let two tensors over the same memory count their changes together."""
    x.version = version_of(other)


def is_inference(Tensor x):
    """Whether x was made under inference_mode."""
    return (x.flags & INFERENCE) != 0


def forget_history(Tensor x):
    """Take x out of the graph in place (`detach_`)."""
    if x.view is not None:
        raise RuntimeError("detach_(): can't detach a view in place; use detach() instead")
    x._grad_fn = None
    x.output_nr = 0
    x.flags &= ~<unsigned int>(REQUIRES_GRAD | RETAIN_GRAD)
    set_tangents(x, None)
    if is_interpreted(x):
        drop_attributes(x)
    if x._value is not None:
        x._value = detach(x._value, False)
