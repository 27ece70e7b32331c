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
    void copy_windows[T](const T*, T*, int64_t, const Window&, const Window&)
    bint max_windows[T](const T*, T*, int64_t*, int64_t, const Window&, const Window&)

cdef enum:
    SMALL_SIZE = 1 << 10     # elements up to which a plain loop beats NumPy's preparations


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
    return x if cnp.PyArray_IS_C_CONTIGUOUS(x) else copy_of(x)


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
        if cnp.PyArray_SIZE(<cnp.ndarray?><object>args[0]) <= self.limit():
            result = self.small(<cnp.ndarray><object>args[0], args, n)
        return run_quietly(self.fallback, args, n) if result is None else result

    cdef int64_t limit(self):
        """The size of the first array up to which `small` is asked."""
        return SMALL_SIZE

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


def small_trace(x):
    """The trace of a small real matrix that is neither recorded nor transformed; else None."""
    cdef cnp.ndarray array
    cdef cnp.npy_intp step, i
    cdef cnp.npy_intp none = 0
    cdef double total = 0
    cdef char* source
    if not is_tensor(x) or not is_constant(<Tensor>x):
        return None
    array = (<Tensor>x)._array
    if cnp.PyArray_NDIM(array) != 2 or not is_real(array) or not is_small(array):
        return None
    step = cnp.PyArray_STRIDES(array)[0] + cnp.PyArray_STRIDES(array)[1]
    source = <char*>cnp.PyArray_DATA(array)
    out = cnp.PyArray_EMPTY(0, &none, cnp.PyArray_TYPE(array), 0)
    for i in range(min(cnp.PyArray_DIMS(array)[0], cnp.PyArray_DIMS(array)[1])):
        if cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT:
            total += (<float*>(source + i * step))[0]
        else:
            total += (<double*>(source + i * step))[0]
    if cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT:
        (<float*>cnp.PyArray_DATA(<cnp.ndarray>out))[0] = <float>total
    else:
        (<double*>cnp.PyArray_DATA(<cnp.ndarray>out))[0] = total
    return new_tensor(out)


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
        if s.length > 64 or s.outer * s.length * s.inner * k > 1 << 14:
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
