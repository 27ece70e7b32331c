# The general path of an operation: promotion and transform levels.

cdef dict _layer = {}
cdef Primitive ADD = None, MUL = None     # of the layer, at hand for the engine


def register_layer(**functions):
    """Give the core what the Python layers define: cast, sum_to, expand, conj, neg, mul, ..."""
    global ADD, MUL
    _layer.update(functions)
    ADD = _layer.get("add")
    MUL = _layer.get("mul")


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


cdef enum:
    MAX_DIRECT = 16


cdef object direct_call(Primitive p, PyObject** args, Py_ssize_t n):
    """A call with plain tensors of one dtype that needs no unpacking; None where it is not one."""
    cdef PyObject* values[MAX_DIRECT]
    cdef unsigned int flags = 0
    cdef int num = -1, i
    cdef Tensor x
    if tp_modes or p.variadic or n != p.n_required or n > MAX_DIRECT or p.n_inputs == 0:
        return None
    for i in range(p.n_inputs):
        item = <object>args[i]
        if item is None:
            values[i] = args[i]
            continue
        if not is_tensor(item):
            return None
        x = <Tensor>item
        if x.flags & (SLOW | VIEW) and not fast_ready(x):
            return None
        if p.promote is not None and num >= 0 and num != typenum_of(x):
            return None
        num = typenum_of(x)
        flags |= x.flags
        values[i] = <PyObject*>x._array
    if p.promote_float and not is_differentiable_typenum(num):
        return None
    for i in range(p.n_inputs, n):
        values[i] = args[i]
    result = call_kernel(p, values, n)
    if p.is_view or (flags & REQUIRES_GRAD and tp_grad_mode and p.differentiable):
        inputs = tuple_of(args, p.n_inputs)
        params = tuple_of(args + p.n_inputs, n - p.n_inputs)
        if p.is_view:
            mark_views(p, inputs, params, result)
        if flags & REQUIRES_GRAD and tp_grad_mode and p.differentiable:
            record(p, inputs, params, result)
    return result


cdef tuple tuple_of(PyObject** items, Py_ssize_t n):
    cdef tuple out = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        Py_INCREF(<object>items[i])
        PyTuple_SET_ITEM(out, i, <object>items[i])
    return out


cdef object call_kernel(Primitive p, PyObject** values, Py_ssize_t n):
    """The kernel's result(s) for arrays and parameters, as tensor(s)."""
    try:
        if p.quiet:
            result = PyObject_Vectorcall(p.kernel, values, n, NULL)
        else:
            token = quiet_enter()
            try:
                result = PyObject_Vectorcall(p.kernel, values, n, NULL)
            finally:
                quiet_leave(token)
    except ValueError as error:
        raise kernel_error(p, [<object>values[i] for i in range(p.n_inputs)], error) from None
    if p.outputs == 1:
        return wrap_result(result)
    return tuple([wrap_result(item) for item in result])


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
    cdef int mode, previous = tp_grad_mode
    if not tp_modes & MODE_PULLING:
        return run_at_level(p, inputs, params, flags)
    mode = mode_below(highest_level(inputs), previous)
    if mode == previous:
        return run_at_level(p, inputs, params, flags)
    set_grad_mode(mode)
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
    elif tp_modes & MODE_SELECTED and not p.is_view:
        result = mode_data.selecting[-1](p, inputs, params, lambda: run_arrays(p, inputs, params))
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
                x = new_tensor(np.array(item, dtype=kind))
                x.flags |= NUMBER
                items[i] = x
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
    if p.fast == FAST_BINARY or p.fast == FAST_COMPARE:
        if inputs[0] is not None and inputs[1] is not None:
            result = binary_arrays(p, (<Tensor>inputs[0])._array, (<Tensor>inputs[1])._array)
            if result is not None:
                return new_tensor(result)
    elif p.fast == FAST_UNARY:
        result = unary_arrays(p, (<Tensor>inputs[0])._array)
        if result is not None:
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
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(inputs)
    cdef list values = [None] * n, bdims
    cdef Level level = find_level(level_id)
    cdef int previous = tp_grad_mode
    if level.handler is not None:
        return level.handler(p, inputs, params)
    for i in range(n):
        item = <object>PyTuple_GET_ITEM(inputs, i)
        if item is not None and (<Tensor>item)._level == level_id:
            x = <Tensor>item
            item = x._value
            batched |= x._bdim >= 0
        values[i] = item
    if level.grad_mode >= 0:
        # no_grad inside the function holds for what is outside of it too.
        set_grad_mode(level.grad_mode and (previous or tp_modes & MODE_PULLING))
    try:
        if not batched:
            return box_results(p, run_values(p, values, params), None, level_id)
        if p.batch is None:
            raise RuntimeError(f"{p.name}(): this operation has no batching rule, so it cannot be "
                               "used inside vmap")
        bdims = [None] * n
        for i in range(n):
            item = <object>PyTuple_GET_ITEM(inputs, i)
            if item is not None and (<Tensor>item)._level == level_id \
                    and (<Tensor>item)._bdim >= 0:
                bdims[i] = (<Tensor>item)._bdim
        if p.batch is batch_elementwise:
            result = run_aligned(p, values, bdims, params)
            return box_results(p, result, 0, level_id)
        result, bdim = p.batch(p, values, bdims, params)
        return box_results(p, result, bdim, level_id)
    finally:
        set_grad_mode(previous)


cdef object run_values(Primitive p, list values, tuple params):
    if not params:
        if len(values) == 2 and p.fast >= FAST_BINARY:
            return binary_call(p, values[0], values[1])
        if len(values) == 1 and p.fast == FAST_UNARY:
            return unary_call(p, values[0])
    return apply_primitive(p, tuple(values), params)


cdef object run_aligned(Primitive p, list values, list bdims, tuple params):
    """An elementwise operator on a batch: the batch in front, shorter inputs padded after it."""
    cdef Py_ssize_t i, n = len(values)
    cdef int rank = 0, own
    for i in range(n):
        if values[i] is not None:
            own = ndim_of(<Tensor>values[i]) - (bdims[i] is not None)
            rank = max(rank, own)
    for i in range(n):
        if bdims[i] is not None and (bdims[i] or ndim_of(<Tensor>values[i]) - 1 != rank):
            values[i] = _layer["pad_rank"](_layer["front"](values[i], bdims[i]), rank)
    return run_values(p, values, params)


def batch_elementwise(p, values, bdims, params):
    """Batching of elementwise operators: line the batch up in front, pad shorter inputs."""
    return run_aligned(p, list(values), list(bdims), params), 0


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
