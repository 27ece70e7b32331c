# Fourier transforms of a few numbers, straight from the definition.

cdef extern from *:
    """
    template <class X, class T>
    static void tp_fourier(const void* x, void* out, int64_t rows, int64_t n, int64_t count,
                           double scale, bool forward)
    {
        tensorplay::fourier((const X*)x, (std::complex<T>*)out, rows, n, count, scale, forward);
    }
    """
    void tp_fourier[X, T](const void*, void*, int64_t, int64_t, int64_t, double, bint)
    ctypedef float complex32 "std::complex<float>"
    ctypedef double complex64 "std::complex<double>"


cdef class FourierKernel(SmallKernel):
    """`kernel(x, dims, scale, choice)`: the transform of real or complex x along its last dim.

    choice: for real x whether only half of the result is wanted, else whether forward.
    """

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef int num = cnp.PyArray_TYPE(x), ndim = cnp.PyArray_NDIM(x), i
        cdef tuple dims = <tuple?><object>args[1]
        cdef cnp.npy_intp sizes[64]
        cdef int64_t size, count, rows
        cdef bint choice = bool(<object>args[3]), half, forward
        cdef double scale = 1
        cdef cnp.ndarray out
        cdef void* source
        cdef void* target
        if len(dims) != 1 or ndim == 0 or dims[0] != ndim - 1 \
                or not cnp.PyArray_IS_C_CONTIGUOUS(x):
            return None
        size = cnp.PyArray_DIMS(x)[ndim - 1]
        if not 0 < size <= 32 or cnp.PyArray_SIZE(x) == 0:
            return None
        half = is_real(x) and choice
        forward = is_real(x) or choice
        count = size // 2 + 1 if half else size
        rows = cnp.PyArray_SIZE(x) // size
        if rows * size * count > 1 << 12:
            return None
        kind = <object>args[2]
        if kind == "full":
            scale = 1.0 / <double>size
        elif kind == "root":
            scale = (<double>size) ** -0.5
        elif kind != "none":
            return None
        for i in range(ndim):
            sizes[i] = cnp.PyArray_DIMS(x)[i]
        sizes[ndim - 1] = count
        if num == cnp.NPY_FLOAT or num == cnp.NPY_CFLOAT:
            out = empty_array(ndim, sizes, cnp.NPY_CFLOAT)
        elif num == cnp.NPY_DOUBLE or num == cnp.NPY_CDOUBLE:
            out = empty_array(ndim, sizes, cnp.NPY_CDOUBLE)
        else:
            return None
        source = cnp.PyArray_DATA(x)
        target = cnp.PyArray_DATA(out)
        if num == cnp.NPY_FLOAT:
            tp_fourier[float, float](source, target, rows, size, count, scale, forward)
        elif num == cnp.NPY_DOUBLE:
            tp_fourier[double, double](source, target, rows, size, count, scale, forward)
        elif num == cnp.NPY_CFLOAT:
            tp_fourier[complex32, float](source, target, rows, size, count, scale, forward)
        else:
            tp_fourier[complex64, double](source, target, rows, size, count, scale, forward)
        return out
