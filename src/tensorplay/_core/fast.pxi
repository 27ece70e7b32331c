# The fast paths: plain contiguous float32/float64 tensors through compiled loops.
# Each returns None when it does not apply; the general path then does the work.

ctypedef void (*Unary32)(const float*, float*, int64_t) noexcept nogil
ctypedef void (*Unary64)(const double*, double*, int64_t) noexcept nogil
ctypedef void (*Binary32)(const float*, const float*, float*, int64_t, int64_t, int) noexcept nogil
ctypedef void (*Binary64)(const double*, const double*, double*, int64_t, int64_t,
                          int) noexcept nogil

cdef enum:
    GIL_SIZE = 1 << 15   # loops over more elements run without the interpreter lock


cdef inline cnp.ndarray empty_like_shape(cnp.ndarray x):
    return empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x))


cdef inline cnp.ndarray result_like(Primitive p, cnp.ndarray x):
    """Memory for the result of a binary loop."""
    if p.fast == FAST_COMPARE:
        return empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.NPY_BOOL)
    return empty_like_shape(x)


cdef inline bint is_loop_array(cnp.ndarray x) noexcept:
    cdef int num = cnp.PyArray_TYPE(x)
    return (num == cnp.NPY_FLOAT or num == cnp.NPY_DOUBLE) and cnp.PyArray_IS_C_CONTIGUOUS(x)


cdef void run_unary(Primitive p, cnp.ndarray x, cnp.ndarray out) noexcept:
    cdef int64_t n = cnp.PyArray_SIZE(x)
    cdef void* source = cnp.PyArray_DATA(x)
    cdef void* target = cnp.PyArray_DATA(out)
    cdef void* f32 = p.f32
    cdef void* f64 = p.f64
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        if n < GIL_SIZE:
            (<Unary32>f32)(<const float*>source, <float*>target, n)
        else:
            with nogil:
                (<Unary32>f32)(<const float*>source, <float*>target, n)
    elif n < GIL_SIZE:
        (<Unary64>f64)(<const double*>source, <double*>target, n)
    else:
        with nogil:
            (<Unary64>f64)(<const double*>source, <double*>target, n)


cdef inline bint has_loop(Primitive p, cnp.ndarray x) noexcept:
    return (p.f32 if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT else p.f64) is not NULL


cdef object half_result(Primitive p, cnp.ndarray x, cnp.ndarray y):
    """The loop's result for large arrays of half precision, through float32; or None."""
    if cnp.PyArray_SIZE(x) < SHUFFLED_SIZE or p.f32 is NULL:
        return None
    if y is None:
        result = unary_arrays(p, cast(x, FLOAT32))
    else:
        result = binary_arrays(p, cast(x, FLOAT32), cast(y, FLOAT32))
    if result is None or p.fast == FAST_COMPARE:
        return result
    return cast(result, x.dtype)


cdef object unary_arrays(Primitive p, cnp.ndarray x):
    """The loop's result for an array, or None; other orders of dims are kept."""
    cdef int order[64]
    cdef int num = cnp.PyArray_TYPE(x)
    cdef cnp.ndarray view, out
    if is_half(num):
        return half_result(p, x, None)
    if (num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE) or not has_loop(p, x):
        return None
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        out = empty_like_shape(x)
        run_unary(p, x, out)
        return out
    if cnp.PyArray_SIZE(x) < SHUFFLED_SIZE or not cnp.PyArray_ISALIGNED(x):
        return None
    view = in_memory_order(x, order)
    if view is not None:
        out = empty_like_shape(view)
        run_unary(p, view, out)
        return order_undone(out, order)
    out = copy_of(x)
    run_unary(p, out, out)
    return out


cdef object unary_fast(Primitive p, object a):
    cdef Tensor x, out
    cdef cnp.ndarray array
    cdef object result
    if not is_tensor(a) or tp_modes:
        return None
    x = <Tensor>a
    if x.flags & (SLOW | VIEW):
        if x.flags & SLOW:
            return None
        refresh(x)
        if x.flags & SLOW:
            return None
    array = <cnp.ndarray>x._array
    result = unary_arrays(p, array)
    if result is None:
        return None
    out = new_tensor(result)
    if x.flags & REQUIRES_GRAD and tp_grad_mode and p.differentiable:
        record_unary(p, x, out)
    return out


cdef object unary_call(Primitive p, object x):
    result = unary_fast(p, x) if p.fast == FAST_UNARY else None
    return apply_primitive(p, (x,), ()) if result is None else result


cdef int layout_of(cnp.ndarray a, cnp.ndarray b, int64_t* rows, int64_t* cols) noexcept:
    """How b lines up with the larger a (SAME, SCALAR_B, ROW_B, COL_B), or -1; both contiguous."""
    cdef int na = cnp.PyArray_NDIM(a), nb = cnp.PyArray_NDIM(b), i, skip
    cdef cnp.npy_intp* da = cnp.PyArray_DIMS(a)
    cdef cnp.npy_intp* db = cnp.PyArray_DIMS(b)
    cdef int64_t size
    if na == nb:
        for i in range(na):
            if da[i] != db[i]:
                break
        else:
            rows[0] = 1
            cols[0] = cnp.PyArray_SIZE(a)
            return SAME
    if nb > na:
        return -1
    if cnp.PyArray_SIZE(b) == 1:
        rows[0] = 1
        cols[0] = cnp.PyArray_SIZE(a)
        return SCALAR_B
    # b's trailing sizes equal a's: one row repeated.
    skip = 0
    while skip < nb and db[skip] == 1:
        skip += 1
    for i in range(skip, nb):
        if db[i] != da[na - nb + i]:
            break
    else:
        size = cnp.PyArray_SIZE(b)
        if size == 0:
            return -1
        cols[0] = size
        rows[0] = cnp.PyArray_SIZE(a) / size
        return ROW_B
    # b has a's leading sizes and ends in ones: one entry per row.
    if na == nb and na > 0:
        i = 0
        while i < na and db[i] == da[i]:
            i += 1
        size = 1
        for skip in range(i, na):
            if db[skip] != 1:
                return -1
            size *= da[skip]
        if size == 0:
            return -1
        cols[0] = size
        rows[0] = cnp.PyArray_SIZE(a) / size
        return COL_B
    return -1


cdef void run_binary(Primitive p, int num, void* a, void* b, void* out, int64_t rows,
                     int64_t cols, int layout) noexcept:
    cdef void* f32 = p.f32
    cdef void* f64 = p.f64
    if num == cnp.NPY_FLOAT:
        if rows * cols < GIL_SIZE:
            (<Binary32>f32)(<const float*>a, <const float*>b, <float*>out, rows, cols, layout)
        else:
            with nogil:
                (<Binary32>f32)(<const float*>a, <const float*>b, <float*>out, rows, cols, layout)
    elif rows * cols < GIL_SIZE:
        (<Binary64>f64)(<const double*>a, <const double*>b, <double*>out, rows, cols, layout)
    else:
        with nogil:
            (<Binary64>f64)(<const double*>a, <const double*>b, <double*>out, rows, cols, layout)


cdef bint is_repeated(cnp.ndarray x, cnp.ndarray other) noexcept:
    """Whether x is one element expanded to the shape of `other`, as the cotangent of a sum is."""
    cdef int i, ndim = cnp.PyArray_NDIM(x)
    if ndim != cnp.PyArray_NDIM(other):
        return False
    for i in range(ndim):
        if cnp.PyArray_DIMS(x)[i] != cnp.PyArray_DIMS(other)[i] \
                or (cnp.PyArray_STRIDES(x)[i] and cnp.PyArray_DIMS(x)[i] != 1):
            return False
    return True


cdef object repeated_arrays(Primitive p, cnp.ndarray a, cnp.ndarray b):
    """The loop's result where one of the arrays (of one dtype) is a repeated element, or None."""
    cdef bint first
    cdef cnp.ndarray full, out
    if is_loop_array(a) and is_repeated(b, a):
        first = False
        full = a
    elif is_loop_array(b) and is_repeated(a, b):
        first = True
        full = b
    else:
        return None
    if not has_loop(p, full):
        return None
    out = result_like(p, full)
    run_binary(p, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(b),
               cnp.PyArray_DATA(out), 1, cnp.PyArray_SIZE(full), SCALAR_A if first else SCALAR_B)
    return out


cdef bint worth_copying(cnp.ndarray x, cnp.ndarray other) noexcept:
    """Whether a copy of x and a loop take less time than NumPy, where only x is not contiguous."""
    return cnp.PyArray_SIZE(other) >= SHUFFLED_SIZE and cnp.PyArray_ISALIGNED(x) and (
        4 * cnp.PyArray_SIZE(x) <= cnp.PyArray_SIZE(other) or is_shuffled(x))


cdef object binary_arrays(Primitive p, cnp.ndarray a, cnp.ndarray b):
    """The loop's result for two arrays, or None."""
    cdef int64_t rows = 0, cols = 0
    cdef int layout
    cdef cnp.ndarray out
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b):
        return None
    if is_half(cnp.PyArray_TYPE(a)):
        return half_result(p, a, b)
    if not is_loop_array(a) or not cnp.PyArray_IS_C_CONTIGUOUS(b):
        result = repeated_arrays(p, a, b)
        if result is not None or not has_loop(p, a):
            return result
        if is_loop_array(a) and worth_copying(b, a):
            b = copy_of(b)
        elif is_loop_array(b) and worth_copying(a, b):
            a = copy_of(a)
        else:
            return None
    if not has_loop(p, a):
        return None
    layout = layout_of(a, b, &rows, &cols)
    if layout >= 0:
        out = result_like(p, a)
    else:
        layout = layout_of(b, a, &rows, &cols)
        if layout < 0:
            return None
        layout += layout > 0     # SCALAR_B -> SCALAR_A and so on
        out = result_like(p, b)
    run_binary(p, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(b),
               cnp.PyArray_DATA(out), rows, cols, layout)
    return out


cdef object number_arrays(Primitive p, cnp.ndarray x, double value, bint number_first):
    """The loop's result for an array and a Python number, or None."""
    cdef float value32
    cdef cnp.ndarray out
    cdef int64_t n
    if not is_loop_array(x) or not has_loop(p, x):
        return None
    out = result_like(p, x)
    n = cnp.PyArray_SIZE(x)
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        value32 = <float>value
        if number_first:
            run_binary(p, cnp.NPY_FLOAT, &value32, cnp.PyArray_DATA(x), cnp.PyArray_DATA(out), 1, n,
                       SCALAR_A)
        else:
            run_binary(p, cnp.NPY_FLOAT, cnp.PyArray_DATA(x), &value32, cnp.PyArray_DATA(out), 1, n,
                       SCALAR_B)
    elif number_first:
        run_binary(p, cnp.NPY_DOUBLE, &value, cnp.PyArray_DATA(x), cnp.PyArray_DATA(out), 1, n,
                   SCALAR_A)
    else:
        run_binary(p, cnp.NPY_DOUBLE, cnp.PyArray_DATA(x), &value, cnp.PyArray_DATA(out), 1, n,
                   SCALAR_B)
    return out


cdef inline bint is_number(object x) noexcept:
    return type(x) is float or type(x) is int


cdef bint fast_ready(Tensor x):
    """Whether a tensor with VIEW or SLOW flags can still take a fast path."""
    if x.flags & SLOW:
        return False
    if x.flags & VIEW:
        refresh(x)
    return not x.flags & SLOW


cdef object binary_fast(Primitive p, object a, object b):
    cdef Tensor x, y, out
    cdef object result
    cdef unsigned int flags
    if tp_modes:
        return None
    if is_tensor(a):
        x = <Tensor>a
        if x.flags & (SLOW | VIEW) and not fast_ready(x):
            return None
        if is_tensor(b):
            y = <Tensor>b
            if y.flags & (SLOW | VIEW) and not fast_ready(y):
                return None
            if p.fast == FAST_BINARY or p.fast == FAST_COMPARE:
                result = binary_arrays(p, <cnp.ndarray>x._array, <cnp.ndarray>y._array)
            else:
                result = small_product(<cnp.ndarray>x._array, <cnp.ndarray>y._array,
                                       p.fast == FAST_PRODUCT_TN, p.fast == FAST_PRODUCT_NT)
            flags = x.flags | y.flags
        elif is_number(b) and (p.fast == FAST_BINARY or p.fast == FAST_COMPARE):
            result = number_arrays(p, <cnp.ndarray>x._array, <double>b, False)
            flags = x.flags
        else:
            return None
    elif is_number(a) and is_tensor(b) and (p.fast == FAST_BINARY or p.fast == FAST_COMPARE):
        y = <Tensor>b
        if y.flags & (SLOW | VIEW) and not fast_ready(y):
            return None
        result = number_arrays(p, <cnp.ndarray>y._array, <double>a, True)
        flags = y.flags
    else:
        return None
    if result is None:
        return None
    out = new_tensor(result)
    if flags & REQUIRES_GRAD and tp_grad_mode and p.differentiable:
        record_binary(p, a, b, out)
    return out


# --- recording without the general machinery ------------------------------------------------------

cdef inline void set_meta(PrimitiveNode node, cnp.ndarray out):
    cdef int ndim = cnp.PyArray_NDIM(out), i
    node.outputs = 1
    node.meta.typenum = cnp.PyArray_TYPE(out)
    if ndim <= 5:
        node.meta.ndim = ndim
        for i in range(ndim):
            node.meta.dims[i] = cnp.PyArray_DIMS(out)[i]
    else:
        node.metas = (((<object>out).shape, dtype_by_num[node.meta.typenum]),)


cdef inline Tensor saved_output(Tensor out):
    cdef Tensor kept = new_tensor(out._array)
    kept.version = version_of(out)
    return kept


cdef inline void set_history(Tensor out, Node node):
    global _sequence
    _sequence += 1
    node.sequence = _sequence
    out._grad_fn = node
    out.flags |= REQUIRES_GRAD


cdef record_unary(Primitive p, Tensor x, Tensor out):
    cdef PrimitiveNode node = PrimitiveNode.__new__(PrimitiveNode)
    cdef Rule rule = <Rule>p.vjp_rules[0]
    node.primitive = p
    node.params = ()
    node.inputs = 1
    node.first = edge_of(x)
    if x.output_nr:
        node.next_numbers = (x.output_nr,)
    if rule.saves_out:
        node.held = HELD_RESULT
        node.held_result = saved_output(out)
        if rule.saves:
            node.held_first = x
    elif rule.saves:
        node.held = HELD_INPUTS
        node.held_first = x
    if rule.saves and x.version is not None and x.version.value:
        node.versions = (x.version.value,)
    set_meta(node, <cnp.ndarray>out._array)
    set_history(out, node)


cdef inline long version_number(object x) noexcept:
    if is_tensor(x) and (<Tensor>x).version is not None:
        return (<Tensor>x).version.value
    return 0


cdef record_binary(Primitive p, object a, object b, Tensor out):
    cdef PrimitiveNode node = PrimitiveNode.__new__(PrimitiveNode)
    cdef Node node_a = edge_of(<Tensor>a) if is_tensor(a) else None
    cdef Node node_b = edge_of(<Tensor>b) if is_tensor(b) else None
    cdef uint64_t saves = 0
    cdef bint saves_out = False, needs_shapes = False
    cdef Rule rule
    cdef long version_a, version_b
    node.primitive = p
    node.params = ()
    node.inputs = 2
    node.first = node_a
    node.second = node_b
    if node_a is not None:
        rule = <Rule>p.vjp_rules[0]
        saves |= rule.saves
        saves_out |= rule.saves_out
        needs_shapes |= rule.needs_shapes
        if (<Tensor>a).output_nr:
            node.next_numbers = ((<Tensor>a).output_nr, 0)
    if node_b is not None:
        rule = <Rule>p.vjp_rules[1]
        saves |= rule.saves
        saves_out |= rule.saves_out
        needs_shapes |= rule.needs_shapes
        if (<Tensor>b).output_nr:
            node.next_numbers = (0 if node.next_numbers is None else node.next_numbers[0],
                                 (<Tensor>b).output_nr)
    if saves or saves_out:
        node.held = HELD_INPUTS
        if saves & 1:
            node.held_first = a
        if saves & 2:
            node.held_second = b
        if saves_out:
            node.held = HELD_RESULT
            node.held_result = saved_output(out)
        version_a = version_number(a) if saves & 1 else 0
        version_b = version_number(b) if saves & 2 else 0
        if version_a or version_b:
            node.versions = (version_a, version_b)
    if is_tensor(a) and is_tensor(b) and (needs_shapes
                                          or not same_shape(<Tensor>a, <Tensor>b)):
        node.shapes = (shape_of(<Tensor>a), shape_of(<Tensor>b))
    set_meta(node, <cnp.ndarray>out._array)
    set_history(out, node)
