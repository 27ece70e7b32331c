# Elementwise kernels of one to three arrays and some numbers, out of place and in place.

ctypedef void (*Map32)(const float*, const float*, const float*, float*, int64_t,
                       const double*) noexcept nogil
ctypedef void (*Map64)(const double*, const double*, const double*, double*, int64_t,
                       const double*) noexcept nogil

cdef enum:
    MOST_ARRAYS = 3
    MOST_NUMBERS = 6


cdef class MapKernel(Kernel):
    """`kernel(*arrays, *numbers)`: a compiled loop over arrays of one shape, or `fallback`."""

    cdef void* f32
    cdef void* f64
    cdef int count             # of arrays
    cdef object fallback

    def __init__(self, str loop, int count, fallback):
        cdef const Loop* entry = named_loop(kernels().map, loop)
        self.f32 = entry.f32
        self.f64 = entry.f64
        self.count = count
        self.fallback = fallback

    cdef object run(self, PyObject** args, Py_ssize_t n):
        cdef double numbers[MOST_NUMBERS]
        cdef cnp.ndarray first = <cnp.ndarray?><object>args[0], out
        cdef tuple arrays = tuple_of(args, self.count)
        if not is_loop_array(first) \
                or not read_numbers(tuple_of(args + self.count, n - self.count), 0, numbers) \
                or not self.fits(arrays):
            return run_quietly(self.fallback, args, n)
        out = empty_like_shape(first)
        self.compute(arrays, out, numbers)
        return out

    cdef bint fits(self, tuple arrays):
        """Whether all arrays are like the first one, which is a loop array."""
        cdef cnp.ndarray first = arrays[0], other
        cdef int i
        for i in range(1, self.count):
            other = <cnp.ndarray?>arrays[i]
            if cnp.PyArray_TYPE(other) != cnp.PyArray_TYPE(first) \
                    or not cnp.PyArray_IS_C_CONTIGUOUS(other) \
                    or not cnp.PyArray_SAMESHAPE(first, other):
                return False
        return True

    cdef void compute(self, tuple arrays, cnp.ndarray out, const double* numbers):
        cdef void* data[MOST_ARRAYS]
        cdef void* target = cnp.PyArray_DATA(out)
        cdef void* loop = self.f32 if cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT else self.f64
        cdef bint single = cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT
        cdef int64_t n = cnp.PyArray_SIZE(out)
        cdef int i
        for i in range(MOST_ARRAYS):
            data[i] = cnp.PyArray_DATA(<cnp.ndarray>arrays[i]) if i < self.count else NULL
        with nogil:
            if single:
                (<Map32>loop)(<const float*>data[0], <const float*>data[1],
                              <const float*>data[2], <float*>target, n, numbers)
            else:
                (<Map64>loop)(<const double*>data[0], <const double*>data[1],
                              <const double*>data[2], <double*>target, n, numbers)

    cdef bint into(self, Tensor x, tuple args, double* numbers):
        """Compute into x's own memory, if that is all there is to do; x is the first array."""
        cdef cnp.ndarray a = <cnp.ndarray>x._array
        cdef list arrays = [a]
        cdef Tensor y
        cdef int i
        if not is_loop_array(a) or not cnp.PyArray_ISWRITEABLE(a):
            return False
        for i in range(self.count - 1):
            if not is_tensor(args[i]):
                return False
            y = <Tensor>args[i]
            if y.flags & (SLOW | VIEW) or (y.flags & REQUIRES_GRAD and tp_grad_mode):
                return False
            if cnp.PyArray_DATA(<cnp.ndarray>y._array) != cnp.PyArray_DATA(a) \
                    and overlap(a, <cnp.ndarray>y._array):
                return False
            arrays.append(y._array)
        if not self.fits(tuple(arrays)):
            return False
        self.compute(tuple(arrays), a, numbers)
        return True


cdef bint read_numbers(tuple args, int start, double* numbers) except -1:
    """The arguments from `start` on as C numbers; False where one is not a real number."""
    cdef int i
    if len(args) - start > MOST_NUMBERS:
        return False
    for i in range(MOST_NUMBERS):
        numbers[i] = 0
    for i in range(start, len(args)):
        if not is_number(args[i]):
            return False
        numbers[i - start] = args[i]
    return True


cdef class MapInplace:
    """How an in-place method computes straight into its tensor: a kernel, and its one number.

    The number is the argument after the tensors, or the keyword `keyword`; else `default`.
    """

    cdef MapKernel kernel
    cdef str keyword
    cdef object default

    def __init__(self, MapKernel kernel, str keyword, default=None):
        self.kernel = kernel
        self.keyword = keyword
        self.default = default

    cdef bint run(self, Tensor x, tuple args, dict kwargs):
        cdef double numbers[MOST_NUMBERS]
        cdef Py_ssize_t tensors = self.kernel.count - 1
        if tp_modes or x.flags & (SLOW | VIEW | INFERENCE) \
                or (x.flags & REQUIRES_GRAD and tp_grad_mode):
            return False
        if kwargs:
            if len(kwargs) != 1 or self.keyword not in kwargs or len(args) != tensors:
                return False
            number = kwargs[self.keyword]
        elif len(args) == tensors + 1:
            number = args[tensors]
        elif len(args) == tensors:
            number = self.default
        else:
            return False
        if not read_numbers((number,), 0, numbers) or not self.kernel.into(x, args, numbers):
            return False
        count_change(x)
        return True
