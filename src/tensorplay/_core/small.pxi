# Kernels of small arrays: one call of a plain loop (small.hpp) in place of several of NumPy.
# Each is made with a `fallback` for everything else: other dtypes, and arrays that are not small.

cdef extern from "small.hpp" namespace "tensorplay" nogil:
    void variance[T](const T*, T*, int64_t, int64_t, int64_t, double, bint)
    void euclidean[T](const T*, T*, int64_t, int64_t, int64_t)
    void scan[T, A](const T*, T*, int64_t, int64_t, int64_t, bint, bint)
    void extremum[T](const T*, T*, int64_t*, int64_t, int64_t, int64_t, bint)
    void truth(const char*, char*, int64_t, int64_t, int64_t, bint)
    bint pick_classes[T](const T*, const int64_t*, T*, double*, int64_t*, int64_t, int64_t,
                         int64_t, int64_t)
    bint put_classes[T](const T*, int64_t, const int64_t*, T*, int64_t, int64_t, int64_t, int64_t,
                        double)
    cdef struct Window:
        int64_t size, out, kernel, stride, padding, dilation
    void top_places[T](const T*, int64_t*, int64_t, int64_t, int64_t, int64_t, bint)
    void cross[T](const T*, const T*, T*, int64_t, int64_t)
    bint max_windows[T](const T*, T*, int64_t*, int64_t, const Window&, const Window&)

cdef enum:
    SMALL_SIZE = 1 << 12     # elements up to which a plain loop beats NumPy's preparations


cdef struct Span:
    # An array seen as [outer, length, inner], and the shape of what is left without the length.
    int64_t outer, length, inner
    int ndim
    cnp.npy_intp sizes[64]


cdef bint span_dims(Span* s, cnp.ndarray x, tuple dims, bint keepdim) except -1:
    """Fill `s` for neighbouring sorted dims; False where they are no neighbours, or none."""
    cdef int ndim = cnp.PyArray_NDIM(x), count = len(dims), first, last, i
    cdef cnp.npy_intp size
    s.outer = s.length = s.inner = 1
    s.ndim = 0
    if count == 0:
        return False
    first = dims[0]
    last = dims[count - 1]
    if last - first != count - 1:
        return False
    for i in range(ndim):
        size = cnp.PyArray_DIMS(x)[i]
        if i < first:
            s.outer *= size
        elif i <= last:
            s.length *= size
        else:
            s.inner *= size
        if i < first or i > last:
            s.sizes[s.ndim] = size
            s.ndim += 1
        elif keepdim:
            s.sizes[s.ndim] = 1
            s.ndim += 1
    return True


cdef inline bint is_small(cnp.ndarray x) noexcept:
    return cnp.PyArray_SIZE(x) <= SMALL_SIZE


cdef inline cnp.ndarray in_order(cnp.ndarray x):
    """x itself where its elements are in order, else a copy."""
    return x if cnp.PyArray_IS_C_CONTIGUOUS(x) else copied(x)


cdef inline bint is_real(cnp.ndarray x) noexcept:
    """Whether x is float32 or float64."""
    return cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT or cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE


cdef object run_quietly(object function, PyObject** args, Py_ssize_t n):
    """Call a function of NumPy's without its warnings."""
    token = quiet_enter()
    try:
        return PyObject_Vectorcall(function, args, n, NULL)
    finally:
        quiet_leave(token)


cdef class SmallKernel(Kernel):
    """A kernel of small arrays: `small` says what it does, `fallback` does the rest."""

    cdef object fallback
    cdef object parameter

    def __init__(self, fallback, parameter=None):
        self.fallback = fallback
        self.parameter = parameter

    cdef object run(self, PyObject** args, Py_ssize_t n):
        result = None
        if is_small(<cnp.ndarray?><object>args[0]):
            result = self.small(<cnp.ndarray><object>args[0], args, n)
        return run_quietly(self.fallback, args, n) if result is None else result

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        """The result, or None for what the fallback should do."""
        return None


cdef class VarianceKernel(SmallKernel):
    """`kernel(x, dims, correction, keepdim)`: the variance; its root where `parameter`."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray out
        cdef double divisor
        if not is_real(x) or not span_dims(&s, x, <tuple?><object>args[1],
                                           bool(<object>args[3])) or s.length == 0:
            return None
        divisor = <double>s.length - <double><object>args[2]
        divisor = max(divisor, 0.0)
        x = in_order(x)
        out = empty_array(s.ndim, s.sizes, cnp.PyArray_TYPE(x))
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            variance[float](<const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(out),
                            s.outer, s.length, s.inner, divisor, bool(self.parameter))
        else:
            variance[double](<const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(out),
                             s.outer, s.length, s.inner, divisor, bool(self.parameter))
        return out


cdef class NormOfKernel(SmallKernel):
    """`kernel(x, p, dims, keepdim)`: the vector norm of order 2; others by the fallback."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray out
        if not is_real(x) or <object>args[1] != 2 \
                or not span_dims(&s, x, <tuple?><object>args[2], bool(<object>args[3])):
            return None
        x = in_order(x)
        out = empty_array(s.ndim, s.sizes, cnp.PyArray_TYPE(x))
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            euclidean[float](<const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(out),
                             s.outer, s.length, s.inner)
        else:
            euclidean[double](<const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(out),
                              s.outer, s.length, s.inner)
        return out


cdef class ScanKernel(SmallKernel):
    """`kernel(x, dim, reverse)`: running sums; products where `parameter`."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray out
        cdef bint reverse = bool(<object>args[2]), product = bool(self.parameter)
        if not is_real(x) and cnp.PyArray_TYPE(x) != cnp.NPY_INT64:
            return None
        span_dims(&s, x, (<object>args[1],), True)
        x = in_order(x)
        out = empty_like_shape(x)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            scan[float, double](<const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(out),
                                s.outer, s.length, s.inner, product, reverse)
        elif cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE:
            scan[double, double](<const double*>cnp.PyArray_DATA(x),
                                 <double*>cnp.PyArray_DATA(out),
                                 s.outer, s.length, s.inner, product, reverse)
        else:     # in unsigned numbers, which wrap
            scan[uint64_t, uint64_t](<const uint64_t*>cnp.PyArray_DATA(x),
                                     <uint64_t*>cnp.PyArray_DATA(out),
                                     s.outer, s.length, s.inner, product, reverse)
        return out


cdef class TruthKernel(SmallKernel):
    """`kernel(x, dims, keepdim)`: whether any element is not zero; whether all, for `parameter`."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray out
        cdef int kind = cnp.PyArray_TYPE(x)
        if not span_dims(&s, x, <tuple?><object>args[1], bool(<object>args[2])):
            return None
        if kind != cnp.NPY_BOOL and kind != cnp.NPY_UINT8:
            x = (<object>x).astype(np.bool_)
        x = in_order(x)
        out = empty_array(s.ndim, s.sizes, cnp.NPY_UINT8 if kind == cnp.NPY_UINT8 else cnp.NPY_BOOL)
        truth(<const char*>cnp.PyArray_DATA(x), <char*>cnp.PyArray_DATA(out), s.outer, s.length,
              s.inner, bool(self.parameter))
        return out


cdef class ExtremumKernel(SmallKernel):
    """`kernel(x, dim, keepdim)`: (largest elements, places), or the places alone.

    parameter: (whether the largest, whether the elements too).
    """

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray places, values = None
        cdef bint largest, both
        cdef int kind = cnp.PyArray_TYPE(x)
        largest, both = self.parameter
        if not is_real(x) and kind != cnp.NPY_INT64:
            return None
        span_dims(&s, x, (<object>args[1],), bool(<object>args[2]))
        if s.length == 0:
            return None
        x = in_order(x)
        places = empty_array(s.ndim, s.sizes, cnp.NPY_INT64)
        data = NULL
        if both:
            values = empty_array(s.ndim, s.sizes, kind)
            data = cnp.PyArray_DATA(values)
        if kind == cnp.NPY_FLOAT:
            extremum[float](<const float*>cnp.PyArray_DATA(x), <float*>data,
                            <int64_t*>cnp.PyArray_DATA(places), s.outer, s.length, s.inner, largest)
        elif kind == cnp.NPY_DOUBLE:
            extremum[double](<const double*>cnp.PyArray_DATA(x), <double*>data,
                             <int64_t*>cnp.PyArray_DATA(places), s.outer, s.length, s.inner,
                             largest)
        else:
            extremum[int64_t](<const int64_t*>cnp.PyArray_DATA(x), <int64_t*>data,
                              <int64_t*>cnp.PyArray_DATA(places), s.outer, s.length, s.inner,
                              largest)
        return (values, places) if both else places


cdef class TopKernel(SmallKernel):
    """`kernel(x, k, dim, largest, ordered)`: the places of the k largest (smallest) elements."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray places
        cdef int dim = <object>args[2], kind = cnp.PyArray_TYPE(x)
        cdef int64_t k = <object>args[1]
        cdef bint largest = bool(<object>args[3])
        if not is_real(x) and kind != cnp.NPY_INT64:
            return None
        span_dims(&s, x, (dim,), True)
        if s.length > 64:
            return None
        s.sizes[dim] = k
        x = in_order(x)
        places = empty_array(s.ndim, s.sizes, cnp.NPY_INT64)
        target = <int64_t*>cnp.PyArray_DATA(places)
        if kind == cnp.NPY_FLOAT:
            top_places[float](<const float*>cnp.PyArray_DATA(x), target, s.outer, s.length,
                              s.inner, k, largest)
        elif kind == cnp.NPY_DOUBLE:
            top_places[double](<const double*>cnp.PyArray_DATA(x), target, s.outer, s.length,
                               s.inner, k, largest)
        else:
            top_places[int64_t](<const int64_t*>cnp.PyArray_DATA(x), target, s.outer, s.length,
                                s.inner, k, largest)
        return places


cdef class CrossKernel(SmallKernel):
    """`kernel(x, y, dim)`: vector products along a dim of size 3."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray y = <cnp.ndarray?><object>args[1], out
        if not is_real(x) or cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(y) or not same_sizes(x, y):
            return None
        span_dims(&s, x, (<object>args[2],), True)
        x = in_order(x)
        y = in_order(y)
        out = empty_like_shape(x)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            cross[float](<const float*>cnp.PyArray_DATA(x), <const float*>cnp.PyArray_DATA(y),
                         <float*>cnp.PyArray_DATA(out), s.outer, s.inner)
        else:
            cross[double](<const double*>cnp.PyArray_DATA(x), <const double*>cnp.PyArray_DATA(y),
                          <double*>cnp.PyArray_DATA(out), s.outer, s.inner)
        return out


def same_elements(cnp.ndarray x, cnp.ndarray y):
    """Whether two arrays of one shape and dtype have equal elements; NaN equals nothing."""
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    if not is_small(x) or not is_loop_array(x) or not cnp.PyArray_IS_C_CONTIGUOUS(y):
        return bool((<object>x == <object>y).all())
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        for i in range(n):
            if (<float*>cnp.PyArray_DATA(x))[i] != (<float*>cnp.PyArray_DATA(y))[i]:
                return False
    else:
        for i in range(n):
            if (<double*>cnp.PyArray_DATA(x))[i] != (<double*>cnp.PyArray_DATA(y))[i]:
                return False
    return True


def nan_kernel(cnp.ndarray x):
    """Whether each element is NaN."""
    cdef cnp.ndarray out
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    cdef char* found
    if not is_loop_array(x) or n > SMALL_SIZE:
        return <object>x != <object>x
    out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.NPY_BOOL)
    found = <char*>cnp.PyArray_DATA(out)
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        for i in range(n):
            found[i] = (<float*>cnp.PyArray_DATA(x))[i] != (<float*>cnp.PyArray_DATA(x))[i]
    else:
        for i in range(n):
            found[i] = (<double*>cnp.PyArray_DATA(x))[i] != (<double*>cnp.PyArray_DATA(x))[i]
    return out


def cast_kernel(cnp.ndarray x, dtype, source):
    """x in another dtype, as a copy; complex numbers lose their imaginary part for a real one."""
    cdef int num = (<cnp.dtype>dtype.numpy).num, have = cnp.PyArray_TYPE(x)
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    cdef cnp.ndarray out
    if n <= SMALL_SIZE and cnp.PyArray_IS_C_CONTIGUOUS(x):
        if num == cnp.NPY_DOUBLE and have == cnp.NPY_FLOAT:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<double*>cnp.PyArray_DATA(out))[i] = (<float*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_DOUBLE:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = <float>(<double*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_INT64:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = <float>(<int64_t*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_BOOL:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = (<char*>cnp.PyArray_DATA(x))[i] != 0
            return out
    token = quiet_enter()
    try:
        values = x.real if is_complex_num(have) and dtype.category < 3 else x
        return cast(values, dtype.numpy)
    finally:
        quiet_leave(token)


# --- classes --------------------------------------------------------------------------------------

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

    cdef object small(self, cnp.ndarray g, PyObject** args, Py_ssize_t n):
        cdef Span s
        cdef cnp.ndarray target = <cnp.ndarray?><object>args[1], out
        cdef str reduction = <object>args[6]
        cdef bint each = reduction == "none", fine
        cdef int64_t ignored = <object>args[5], i
        cdef double divisor = 1
        if not is_loop_array(g) or not is_index(target) or not is_small(target) \
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


# --- pooling --------------------------------------------------------------------------------------

cdef class MaxWindowsKernel(SmallKernel):
    """`kernel(x, kernel, stride, padding, dilation)`: (largest elements of windows, places)."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef cnp.npy_intp sizes[64]
        cdef Window windows[2]
        cdef tuple kernel = <tuple?><object>args[1]
        cdef int spatial = len(kernel), lead = cnp.PyArray_NDIM(x) - spatial, i
        cdef int64_t planes = 1
        cdef cnp.ndarray values, places
        cdef bint fine
        if not is_loop_array(x) or spatial > 2:
            return None
        for i in range(lead):
            sizes[i] = cnp.PyArray_DIMS(x)[i]
            planes *= sizes[i]
        windows[0] = Window(1, 1, 1, 1, 0, 1)
        for i in range(spatial):
            before, after = (<tuple?><object>args[3])[i]
            windows[i + 2 - spatial] = plan_window(
                cnp.PyArray_DIMS(x)[lead + i], kernel[i], (<tuple?><object>args[2])[i], before,
                after, (<tuple?><object>args[4])[i])
            sizes[lead + i] = windows[i + 2 - spatial].out
        values = empty_array(lead + spatial, sizes, cnp.PyArray_TYPE(x))
        places = empty_array(lead + spatial, sizes, cnp.NPY_INT64)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            fine = max_windows[float](
                <const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(values),
                <int64_t*>cnp.PyArray_DATA(places), planes, windows[0], windows[1])
        else:
            fine = max_windows[double](
                <const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(values),
                <int64_t*>cnp.PyArray_DATA(places), planes, windows[0], windows[1])
        return (values, places) if fine else None


cdef inline Window plan_window(int64_t size, int64_t kernel, int64_t stride, int64_t before,
                               int64_t after, int64_t dilation) noexcept:
    cdef Window w
    w.size = size
    w.out = (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
    w.kernel = kernel
    w.stride = stride
    w.padding = before
    w.dilation = dilation
    return w
