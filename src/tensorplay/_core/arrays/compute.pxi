# Kernels with compiled loops behind them: callables on arrays that fall back to NumPy.

ctypedef void (*Reduce32)(const float*, float*, int64_t, int64_t, int64_t) noexcept nogil
ctypedef void (*Reduce64)(const double*, double*, int64_t, int64_t, int64_t) noexcept nogil
ctypedef void (*Pair32)(const float*, const float*, float*, int64_t, int64_t,
                        int64_t) noexcept nogil
ctypedef void (*Pair64)(const double*, const double*, double*, int64_t, int64_t,
                        int64_t) noexcept nogil
ctypedef void (*Norm32)(const float*, const float*, const float*, float*, int64_t, int64_t,
                        double) noexcept nogil
ctypedef void (*Norm64)(const double*, const double*, const double*, double*, int64_t, int64_t,
                        double) noexcept nogil


cdef const Loop* named_loop(const Loop* table, str name) except NULL:
    cdef const Loop* entry = find_loop(table, name.encode())
    if entry is NULL:
        raise ValueError(f"no compiled loop is named '{name}'")
    return entry


cdef class ReduceKernel(Kernel):
    """`kernel(x, dims, keepdim)`: a reduction over sorted, non-negative dims, or a single one."""

    cdef void* f32
    cdef void* f64
    cdef object fallback
    cdef bint empty_ok        # whether reducing nothing has a value

    def __init__(self, str loop, fallback, bint empty_ok=True):
        cdef const Loop* entry = named_loop(kernels().reduce, loop)
        self.f32 = entry.f32
        self.f64 = entry.f64
        self.fallback = fallback
        self.empty_ok = empty_ok

    cdef object run(self, PyObject** args, Py_ssize_t n):
        if n != 3:
            raise TypeError(f"ReduceKernel: expected x, dims and keepdim, got {n} arguments")
        dims = <object>args[1]
        return self.reduce(<cnp.ndarray?><object>args[0],
                           <tuple?>dims if type(dims) is tuple else (dims,),
                           bool(<object>args[2]))

    cdef object reduce(self, cnp.ndarray x, tuple dims, bint keepdim):
        cdef Span s
        cdef cnp.ndarray out
        cdef void* loop32 = self.f32
        cdef void* loop64 = self.f64
        if not is_real(x) or not span_dims(&s, x, dims, keepdim) \
                or (loop32 if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT else loop64) is NULL \
                or (s.length == 0 and not self.empty_ok):
            return self.slow(x, dims, keepdim)
        if not cnp.PyArray_IS_C_CONTIGUOUS(x):
            if not is_small(x):
                return self.slow(x, dims, keepdim)
            x = copy_of(x)
        out = empty_array(s.ndim, s.sizes, cnp.PyArray_TYPE(x))
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            with nogil:
                (<Reduce32>loop32)(<const float*><void*>cnp.PyArray_DATA(x),
                                   <float*>cnp.PyArray_DATA(out), s.outer, s.length, s.inner)
        else:
            with nogil:
                (<Reduce64>loop64)(<const double*>cnp.PyArray_DATA(x),
                                   <double*>cnp.PyArray_DATA(out), s.outer, s.length, s.inner)
        return out

    cdef slow(self, cnp.ndarray x, tuple dims, bint keepdim):
        cdef int num = cnp.PyArray_TYPE(x)
        if (num == cnp.NPY_FLOAT or num == cnp.NPY_DOUBLE) and dims \
                and cnp.PyArray_SIZE(x) >= SHUFFLED_SIZE and cnp.PyArray_NDIM(x) <= 32:
            found = self.by_runs(x, dims, keepdim)
            if found is not None:
                return found
        if is_half(num) and cnp.PyArray_SIZE(x) >= SHUFFLED_SIZE:
            return cast(self.reduce(cast(x, FLOAT32), dims, keepdim), x.dtype)
        token = quiet_enter()
        try:
            return self.fallback(x, axis=dims, keepdims=keepdim)
        finally:
            quiet_leave(token)

    cdef by_runs(self, cnp.ndarray x, tuple dims, bint keepdim):
        """One run of neighbouring dims in memory after the other; None if NumPy is better."""
        cdef int order[64]
        cdef int i, ndim = cnp.PyArray_NDIM(x)
        cdef cnp.ndarray view = x
        cdef list runs = []
        for i in range(ndim):
            order[i] = i
        if not cnp.PyArray_IS_C_CONTIGUOUS(x):
            view = in_memory_order(x, order)
            if view is None:
                if not is_shuffled(x):
                    return None
                view = copy_of(x)
                for i in range(ndim):
                    order[i] = i
        for i in range(ndim):
            if order[i] not in dims:
                continue
            if runs and runs[-1][-1] == i - 1:
                runs[-1].append(i)
            else:
                runs.append([i])
        for run in reversed(runs):
            view = self.reduce(view, tuple(run), True)
        view = order_undone(view, order)
        if not keepdim:
            view = view.reshape([x.shape[i] for i in range(ndim) if i not in dims])
        return ordered(view)


cdef class RowKernel(Kernel):
    """`kernel(*arrays, dim)`: one or two arrays to one of their shape (softmax and its kin)."""

    cdef void* f32
    cdef void* f64
    cdef bint two
    cdef object fallback

    def __init__(self, str loop, fallback, bint two=False):
        cdef const Loop* entry = named_loop(kernels().row2 if two else kernels().row, loop)
        self.f32 = entry.f32
        self.f64 = entry.f64
        self.two = two
        self.fallback = fallback

    cdef object run(self, PyObject** args, Py_ssize_t n):
        if n != 2 + self.two:
            raise TypeError(f"RowKernel: expected {1 + self.two} arrays and a dim, got {n} "
                            "arguments")
        return self.rows(<cnp.ndarray?><object>args[0],
                         <cnp.ndarray?><object>args[1] if self.two else None,
                         <object>args[n - 1])

    cdef object rows(self, cnp.ndarray x, cnp.ndarray y, int dim):
        cdef cnp.ndarray out
        cdef int i
        cdef int64_t outer = 1, length, inner = 1
        cdef void* loop32 = self.f32
        cdef void* loop64 = self.f64
        cdef void* a
        cdef bint single
        cdef void* b = NULL
        if self.two:
            b = cnp.PyArray_DATA(y)
        if not is_loop_array(x) or cnp.PyArray_NDIM(x) == 0 or cnp.PyArray_SIZE(x) == 0 or (
                self.two and (cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(y)
                              or not cnp.PyArray_IS_C_CONTIGUOUS(y)
                              or cnp.PyArray_SIZE(x) != cnp.PyArray_SIZE(y))):
            token = quiet_enter()
            try:
                return self.fallback(x, y, dim) if self.two else self.fallback(x, dim)
            finally:
                quiet_leave(token)
        for i in range(dim):
            outer *= cnp.PyArray_DIMS(x)[i]
        length = cnp.PyArray_DIMS(x)[dim]
        for i in range(dim + 1, cnp.PyArray_NDIM(x)):
            inner *= cnp.PyArray_DIMS(x)[i]
        out = empty_like_shape(x)
        single = cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT
        a = cnp.PyArray_DATA(x)
        target = cnp.PyArray_DATA(out)
        with nogil:
            if single:
                if b is not NULL:
                    (<Pair32>loop32)(<const float*>a, <const float*>b, <float*>target, outer,
                                     length, inner)
                else:
                    (<Reduce32>loop32)(<const float*>a, <float*>target, outer, length, inner)
            elif b is not NULL:
                (<Pair64>loop64)(<const double*>a, <const double*>b, <double*>target, outer,
                                 length, inner)
            else:
                (<Reduce64>loop64)(<const double*>a, <double*>target, outer, length, inner)
        return out


cdef class NormKernel:
    """`kernel(a, b, c, cols, eps)`: rows of `cols` elements standardised, or a derivative of that.

    The first `full` arrays have all rows, the others (or None) are one row. The result has all
    rows, or `sums` rows that are summed over them, or (`both`) the ones followed by the others, as
    one flat array. None where the compiled loop does not apply.
    """

    cdef void* f32
    cdef void* f64
    cdef int full
    cdef int sums
    cdef bint both

    def __init__(self, str loop, int full, int sums=0, bint both=False):
        cdef const Loop* entry = named_loop(kernels().norm, loop)
        self.f32 = entry.f32
        self.f64 = entry.f64
        self.full = full
        self.sums = sums
        self.both = both

    def __call__(self, cnp.ndarray a, b, c, int64_t cols, double eps):
        cdef void* loop32 = self.f32
        cdef void* loop64 = self.f64
        cdef void* data[3]
        cdef int64_t size = cnp.PyArray_SIZE(a), wanted, rows
        cdef cnp.npy_intp sizes[1]
        cdef cnp.ndarray other, out
        cdef int i, num = cnp.PyArray_TYPE(a)
        if not is_loop_array(a) or size == 0 or cols == 0:
            return None
        data[0] = cnp.PyArray_DATA(a)
        for i, item in enumerate((b, c)):
            data[i + 1] = NULL
            if item is None:
                continue
            other = <cnp.ndarray?>item
            wanted = size if i + 1 < self.full else cols
            if not is_loop_array(other) or cnp.PyArray_TYPE(other) != num \
                    or cnp.PyArray_SIZE(other) != wanted:
                return None
            data[i + 1] = cnp.PyArray_DATA(other)
        rows = size // cols
        if self.sums:
            sizes[0] = self.sums * cols + (size if self.both else 0)
            out = empty_array(1, sizes, num)
        else:
            out = empty_like_shape(a)
        target = cnp.PyArray_DATA(out)
        if num == cnp.NPY_FLOAT:
            with nogil:
                (<Norm32>loop32)(<const float*>data[0], <const float*>data[1],
                                 <const float*>data[2], <float*>target, rows, cols, eps)
        else:
            with nogil:
                (<Norm64>loop64)(<const double*>data[0], <const double*>data[1],
                                 <const double*>data[2], <double*>target, rows, cols, eps)
        return out


cdef bint is_vector_like(object item, cnp.ndarray x, int64_t size):
    """Whether an array (or None) has `size` elements of x's dtype that a loop can take."""
    return item is None or (
        is_loop_array(<cnp.ndarray?>item) and cnp.PyArray_TYPE(item) == cnp.PyArray_TYPE(x)
        and cnp.PyArray_SIZE(<cnp.ndarray>item) == size)


cdef inline void* data_of(object array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(<cnp.ndarray>array)


def channels_kernel(v, cnp.ndarray x, w, b, tuple sizes, int64_t groups, double eps):
    """Images standardised, with a weight and a bias (or None) per channel; without groups over all.

    sizes: x's as (samples, channels, inner). v: None, or for the backward pass the cotangent; then
    (cotangent of x, those of w and b as one array). None where the compiled loop does not apply.
    """
    cdef int64_t samples = sizes[0], channels = sizes[1], inner = sizes[2]
    cdef cnp.npy_intp shape[1]
    cdef cnp.ndarray out, sums
    cdef bint single = cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT
    cdef void* by_w = NULL
    cdef void* data[4]
    if not is_loop_array(x) or cnp.PyArray_SIZE(x) == 0 or not is_vector_like(w, x, channels) \
            or not is_vector_like(b, x, channels) \
            or not is_vector_like(v, x, cnp.PyArray_SIZE(x)):
        return None
    out = empty_like_shape(x)
    if v is not None:
        shape[0] = 2 * channels
        sums = empty_array(1, shape, cnp.PyArray_TYPE(x))
        by_w = cnp.PyArray_DATA(sums)
    for i, item in enumerate((v, x, w, b)):
        data[i] = data_of(item)
    target = cnp.PyArray_DATA(out)
    with nogil:
        if single:
            kernels().channels_f32(<float*>data[0], <float*>data[1], <float*>data[2],
                                   <float*>data[3], <float*>target, <float*>by_w,
                                   <float*>by_w + channels, samples, channels, inner, groups, eps)
        else:
            kernels().channels_f64(<double*>data[0], <double*>data[1], <double*>data[2],
                                   <double*>data[3], <double*>target, <double*>by_w,
                                   <double*>by_w + channels, samples, channels, inner, groups, eps)
    return out if v is None else (out, sums)


cdef const Loop* _standardize_loop = named_loop(kernels().norm, "standardize")


cdef class StandardizeKernel(SmallKernel):
    """`kernel(x, w, b, dims, eps)`: rows of the last dims standardised, times w, plus b."""

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef void* f32 = _standardize_loop.f32
        cdef void* f64 = _standardize_loop.f64
        cdef void* data[2]
        cdef Span s
        cdef cnp.ndarray other, out
        cdef int num = cnp.PyArray_TYPE(x), i, d
        cdef double eps = <object>args[4]
        if not is_real(x) or not span_dims(&s, x, <tuple?><object>args[3], True) \
                or s.inner != 1 or cnp.PyArray_SIZE(x) == 0:
            return None
        for i in range(2):
            data[i] = NULL
            if <object>args[i + 1] is None:
                continue
            other = <cnp.ndarray?><object>args[i + 1]
            if cnp.PyArray_TYPE(other) != num or not cnp.PyArray_IS_C_CONTIGUOUS(other) \
                    or cnp.PyArray_NDIM(other) != cnp.PyArray_NDIM(x) \
                    or cnp.PyArray_SIZE(other) != s.length:
                return None
            for d in range(cnp.PyArray_NDIM(x)):
                if cnp.PyArray_DIMS(other)[d] not in (1, cnp.PyArray_DIMS(x)[d]) \
                        or (s.sizes[d] != 1 and cnp.PyArray_DIMS(other)[d] != 1):
                    return None
            data[i] = cnp.PyArray_DATA(other)
        x = in_order(x)
        out = empty_like_shape(x)
        if num == cnp.NPY_FLOAT:
            (<Norm32>f32)(<const float*>cnp.PyArray_DATA(x), <const float*>data[0],
                          <const float*>data[1], <float*>cnp.PyArray_DATA(out), s.outer, s.length,
                          eps)
        else:
            (<Norm64>f64)(<const double*>cnp.PyArray_DATA(x), <const double*>data[0],
                          <const double*>data[1], <double*>cnp.PyArray_DATA(out), s.outer,
                          s.length, eps)
        return out


def sum_to_kernel(cnp.ndarray x, tuple shape):
    """x summed over the dims that broadcasting from `shape` added or stretched."""
    cdef int extra = cnp.PyArray_NDIM(x) - len(shape), i
    cdef tuple sizes = (<object>x).shape
    cdef object out = None
    if is_loop_array(x) and len(shape) <= 32:
        out = sum_block(x, shape, extra)
        if out is not None:
            return out
    dims = tuple(range(extra)) + tuple(
        [i + extra for i in range(len(shape)) if shape[i] == 1 and sizes[i + extra] != 1])
    if not dims:
        return (<object>x).reshape(shape)
    return _sum_kernel(x, dims, False).reshape(shape)


cdef object sum_block(cnp.ndarray x, tuple shape, int extra):
    """The same where the dims to sum over follow each other, for one compiled loop; or None."""
    cdef int ndim = cnp.PyArray_NDIM(x), first = -1, last = -1, i
    cdef int64_t outer = 1, length = 1, inner = 1, size
    cdef cnp.npy_intp sizes[32]
    cdef cnp.ndarray out
    cdef void* f32 = (<ReduceKernel>_sum_kernel).f32
    cdef void* f64 = (<ReduceKernel>_sum_kernel).f64
    for i in range(ndim):
        size = cnp.PyArray_DIMS(x)[i]
        if i >= extra:
            sizes[i - extra] = <Py_ssize_t>shape[i - extra]
        if i < extra or (sizes[i - extra] == 1 and size != 1):
            if last >= 0 and last != i - 1:
                if size == 1:
                    continue
                return None
            if first < 0:
                first = i
            last = i
    if first < 0:
        return None
    for i in range(ndim):
        size = cnp.PyArray_DIMS(x)[i]
        if i < first:
            outer *= size
        elif i <= last:
            length *= size
        else:
            inner *= size
    out = empty_array(ndim - extra, sizes, cnp.PyArray_TYPE(x))
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        (<Reduce32>f32)(<const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(out),
                        outer, length, inner)
    else:
        (<Reduce64>f64)(<const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(out),
                        outer, length, inner)
    return out


cdef object _sum_kernel = ReduceKernel("sum", np.sum)


def get_num_threads():
    """The number of threads that compiled loops over large tensors use."""
    return get_threads()


def set_num_threads(int count):
    """Set how many threads compiled loops over large tensors use.

    Raises:
        RuntimeError: if `count` is not positive.
    """
    if count < 1:
        raise RuntimeError(f"set_num_threads(): expected a positive integer, got {count}")
    set_threads(count)


def instruction_set():
    """Which build of the compiled loops runs here: 'baseline', 'avx2' or 'avx512'."""
    return kernels().isa.decode()
