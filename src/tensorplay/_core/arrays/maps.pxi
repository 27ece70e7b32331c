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
        cdef PyObject* arrays[MOST_ARRAYS]
        cdef cnp.ndarray first, out
        cdef int i
        if n < self.count:
            raise TypeError(f"MapKernel: expected {self.count} arrays, got {n} arguments")
        first = <cnp.ndarray?><object>args[0]
        out = None
        if read_numbers(args + self.count, n - self.count, numbers):
            for i in range(self.count):
                arrays[i] = args[i]
            out = self.result(arrays, numbers)
        if out is None:
            return run_quietly(self.fallback, args, n)
        return out

    cdef cnp.ndarray result(self, PyObject** arrays, double* numbers):
        """The result, in the order of dims of the arrays; None where the loop does not apply."""
        cdef int order[64]
        cdef cnp.ndarray first = <cnp.ndarray><object>arrays[0], out, view
        cdef list views
        cdef int i, num = cnp.PyArray_TYPE(first)
        if num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE:
            return None
        if self.fits(arrays, first):
            out = empty_like_shape(first)
            self.compute(arrays, out, numbers)
            return out
        if cnp.PyArray_SIZE(first) < SHUFFLED_SIZE:
            return None
        # Other layouts: the same one for all in memory's order, else copies.
        for i in range(self.count):
            if cnp.PyArray_TYPE(<cnp.ndarray?><object>arrays[i]) != num \
                    or not cnp.PyArray_SAMESHAPE(first, <cnp.ndarray><object>arrays[i]) \
                    or not cnp.PyArray_ISALIGNED(<cnp.ndarray><object>arrays[i]):
                return None
        view = in_memory_order(first, order)
        views = []
        if view is not None:
            views = [reordered(<cnp.ndarray><object>arrays[i], order) for i in range(self.count)]
        if not views or not all([cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>v) for v in views]):
            for i in range(cnp.PyArray_NDIM(first)):
                order[i] = i
            views = [ordered(<cnp.ndarray><object>arrays[i]) for i in range(self.count)]
        for i in range(self.count):
            arrays[i] = <PyObject*>views[i]
        out = empty_like_shape(<cnp.ndarray>views[0])
        self.compute(arrays, out, numbers)
        return order_undone(out, order)

    cdef bint fits(self, PyObject** arrays, cnp.ndarray first):
        """Whether all arrays are loop arrays like the first one."""
        cdef cnp.ndarray other
        cdef int i
        for i in range(self.count):
            other = <cnp.ndarray?><object>arrays[i]
            if cnp.PyArray_TYPE(other) != cnp.PyArray_TYPE(first) or not is_loop_array(other) \
                    or not cnp.PyArray_SAMESHAPE(first, other):
                return False
        return True

    cdef void compute(self, PyObject** arrays, cnp.ndarray out, const double* numbers):
        cdef void* data[MOST_ARRAYS]
        cdef void* target = cnp.PyArray_DATA(out)
        cdef bint single = cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT
        cdef void* loop = self.f32 if single else self.f64
        cdef int64_t n = cnp.PyArray_SIZE(out)
        cdef int i
        for i in range(MOST_ARRAYS):
            data[i] = NULL
            if i < self.count:
                data[i] = cnp.PyArray_DATA(<cnp.ndarray><object>arrays[i])
        with nogil:
            if single:
                (<Map32>loop)(<const float*>data[0], <const float*>data[1],
                              <const float*>data[2], <float*>target, n, numbers)
            else:
                (<Map64>loop)(<const double*>data[0], <const double*>data[1],
                              <const double*>data[2], <double*>target, n, numbers)

    cdef bint into(self, Tensor x, tuple args, const double* numbers):
        """Compute into x's own memory, if that is all there is to do; x is the first array."""
        cdef cnp.ndarray a = <cnp.ndarray>x._array
        cdef PyObject* arrays[MOST_ARRAYS]
        cdef Tensor y
        cdef int i
        if not is_loop_array(a) or not cnp.PyArray_ISWRITEABLE(a):
            return False
        arrays[0] = <PyObject*>a
        for i in range(self.count - 1):
            if not is_tensor(args[i]):
                return False
            y = <Tensor>args[i]
            if y.flags & (SLOW | VIEW) or (y.flags & REQUIRES_GRAD and tp_grad_mode):
                return False
            if cnp.PyArray_DATA(<cnp.ndarray>y._array) != cnp.PyArray_DATA(a) \
                    and overlap(a, <cnp.ndarray>y._array):
                return False
            arrays[i + 1] = <PyObject*>y._array
        if not self.fits(arrays, a):
            return False
        self.compute(arrays, a, numbers)
        return True


cdef bint read_numbers(PyObject** args, Py_ssize_t n, double* numbers) except -1:
    """Arguments as C numbers; False where one is not a real number."""
    cdef Py_ssize_t i
    if n > MOST_NUMBERS:
        return False
    for i in range(MOST_NUMBERS):
        numbers[i] = 0
    for i in range(n):
        if not is_number(<object>args[i]):
            return False
        numbers[i] = <double><object>args[i]
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
        cdef Py_ssize_t tensors = self.kernel.count - 1, i
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
        if not is_number(number):
            return False
        for i in range(MOST_NUMBERS):
            numbers[i] = 0
        numbers[0] = <double>number
        if not self.kernel.into(x, args, numbers):
            return False
        count_change(x)
        return True
