# Kernels of small arrays for classes: losses, one-hot rows, rows of a table.

cdef bint span_classes(Span* s, cnp.ndarray target, int64_t classes, int dim) noexcept:
    cdef int i
    s.outer = s.inner = 1
    s.length = classes
    s.ndim = 0
    for i in range(cnp.PyArray_NDIM(target) + 1):
        if i == dim:
            s.sizes[i] = classes
        else:
            s.sizes[i] = cnp.PyArray_DIMS(target)[i - (i > dim)]
            if i < dim:
                s.outer *= s.sizes[i]
            else:
                s.inner *= s.sizes[i]
        s.ndim += 1
    return s.ndim <= 32


cdef inline bint is_index(cnp.ndarray x) noexcept:
    return cnp.PyArray_TYPE(x) == cnp.NPY_INT64 and cnp.PyArray_IS_C_CONTIGUOUS(x)


cdef class ClassLossKernel(SmallKernel):
    """`kernel(x, target, dim, lead, ignore_index, reduction)`: minus the elements of classes."""

    cdef int64_t limit(self):
        return <int64_t>1 << 62

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray target = <cnp.ndarray?><object>args[1], out
        cdef str reduction = <object>args[5]
        cdef bint each = reduction == "none", fine
        cdef double total = 0
        cdef int64_t kept = 0, ignored = <object>args[4]
        cdef int dim = <object>args[2]
        cdef void* data
        if not is_loop_array(x) or not is_index(target) or <object>args[3] != 0:
            return None
        span_classes(&s, target, cnp.PyArray_DIMS(x)[dim], dim)
        out = empty_array(cnp.PyArray_NDIM(target) if each else 0, cnp.PyArray_DIMS(target),
                          cnp.PyArray_TYPE(x))
        data = cnp.PyArray_DATA(out)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            fine = pick_classes[float](
                <const float*>cnp.PyArray_DATA(x), <const int64_t*>cnp.PyArray_DATA(target),
                <float*>data if each else NULL, &total, &kept, s.outer, s.length, s.inner, ignored)
        else:
            fine = pick_classes[double](
                <const double*>cnp.PyArray_DATA(x), <const int64_t*>cnp.PyArray_DATA(target),
                <double*>data if each else NULL, &total, &kept, s.outer, s.length, s.inner, ignored)
        if not fine:
            return None
        if not each:
            if reduction == "mean":
                total /= <double>kept
            if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
                (<float*>data)[0] = <float>total
            else:
                (<double*>data)[0] = total
        return out


cdef class ClassSpreadKernel(SmallKernel):
    """`kernel(g, target, classes, dim, lead, ignore_index, reduction)`: its transpose."""

    cdef int64_t limit(self):
        return <int64_t>1 << 62

    cdef object small(self, cnp.ndarray g, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray target = <cnp.ndarray?><object>args[1], out
        cdef str reduction = <object>args[6]
        cdef bint each = reduction == "none", fine
        cdef int64_t ignored = <object>args[5], i
        cdef double divisor = 1
        if not is_loop_array(g) or not is_index(target) \
                or <object>args[4] != 0 \
                or cnp.PyArray_SIZE(g) != (cnp.PyArray_SIZE(target) if each else 1):
            return None
        if reduction == "mean":
            divisor = 0
            for i in range(cnp.PyArray_SIZE(target)):
                divisor += (<const int64_t*>cnp.PyArray_DATA(target))[i] != ignored
        if not span_classes(&s, target, <object>args[2], <object>args[3]):
            return None
        out = cnp.PyArray_ZEROS(s.ndim, s.sizes, cnp.PyArray_TYPE(g), 0)
        if cnp.PyArray_TYPE(g) == cnp.NPY_FLOAT:
            fine = put_classes[float](
                <const float*>cnp.PyArray_DATA(g), each,
                <const int64_t*>cnp.PyArray_DATA(target), <float*>cnp.PyArray_DATA(out), s.outer,
                s.length, s.inner, ignored, divisor)
        else:
            fine = put_classes[double](
                <const double*>cnp.PyArray_DATA(g), each,
                <const int64_t*>cnp.PyArray_DATA(target), <double*>cnp.PyArray_DATA(out), s.outer,
                s.length, s.inner, ignored, divisor)
        return out if fine else None


def names_classes(input, target):
    """Whether `target` holds integers, in the shape of `input` (2 dims or more) without dim 1."""
    cdef tuple shape
    if not is_tensor(input) or not is_tensor(target) or ndim_of(<Tensor>input) < 2 \
            or dtype_of(<Tensor>target).category != 1:
        return False
    shape = shape_of(<Tensor>input)
    return shape[:1] + shape[2:] == shape_of(<Tensor>target)


def one_hot_array(cnp.ndarray index, int64_t classes):
    """1 at the class that each entry of an int64 array names, else 0; None where one is outside.

    classes: -1 for one more than the largest.
    """
    cdef cnp.npy_intp sizes[65]
    cdef int ndim = cnp.PyArray_NDIM(index), i
    cdef int64_t n = cnp.PyArray_SIZE(index), k, largest = -1
    cdef const int64_t* places
    cdef int64_t* target
    cdef cnp.ndarray out
    index = in_order(index)
    places = <const int64_t*>cnp.PyArray_DATA(index)
    for k in range(n):
        if places[k] < 0:
            return None
        largest = max(largest, places[k])
    if classes == -1:
        classes = largest + 1
    if largest >= classes or ndim > 63:
        return None
    for i in range(ndim):
        sizes[i] = cnp.PyArray_DIMS(index)[i]
    sizes[ndim] = classes
    out = cnp.PyArray_ZEROS(ndim + 1, sizes, cnp.NPY_INT64, 0)
    target = <int64_t*>cnp.PyArray_DATA(out)
    for k in range(n):
        target[k * classes + places[k]] = 1
    return out


def rows_of_table(cnp.ndarray table, cnp.ndarray index):
    """The rows of a matrix that an index names, or None for what is not plain or out of range."""
    cdef cnp.npy_intp sizes[65]
    cdef int ndim = cnp.PyArray_NDIM(index), i
    cdef int64_t n = cnp.PyArray_SIZE(index), rows, k, at
    cdef int64_t width
    cdef const int64_t* places
    cdef char* target
    cdef cnp.ndarray out
    if cnp.PyArray_TYPE(index) != cnp.NPY_INT64 or cnp.PyArray_NDIM(table) != 2 or ndim > 63 \
            or not cnp.PyArray_IS_C_CONTIGUOUS(table):
        return None
    index = in_order(index)
    rows = cnp.PyArray_DIMS(table)[0]
    for i in range(ndim):
        sizes[i] = cnp.PyArray_DIMS(index)[i]
    sizes[ndim] = cnp.PyArray_DIMS(table)[1]
    width = sizes[ndim] * cnp.PyArray_ITEMSIZE(table)
    places = <const int64_t*>cnp.PyArray_DATA(index)
    out = empty_array(ndim + 1, sizes, cnp.PyArray_TYPE(table))
    target = <char*>cnp.PyArray_DATA(out)
    for k in range(n):
        at = places[k]
        if at < 0 or at >= rows:
            return None
        memcpy(target + k * width, <char*>cnp.PyArray_DATA(table) + at * width, width)
    return out
