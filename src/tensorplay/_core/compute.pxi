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
    """`kernel(x, dims, keepdim)`: a reduction over sorted, non-negative dims."""

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
        return self.reduce(<cnp.ndarray?><object>args[0], <tuple?><object>args[1],
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
            x = copied(x)
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
        """One run of dims, neighbours in memory, after the other; None where NumPy is better."""
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
                view = copied(x)
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


cdef enum:
    SMALL_PRODUCT = 48 * 48 * 48     # multiply-adds up to which the own loop beats BLAS calls


cdef struct Product:
    # One product of matrices: element strides of rows and columns, transposition included.
    int num
    int64_t a_row, a_col, b_row, b_col, m, n, k


cdef bint plan_product(Product* p, cnp.ndarray a, cnp.ndarray b, bint a_transposed,
                       bint b_transposed) noexcept:
    """Whether the compiled loop should multiply the last two dims of real a and b, and how."""
    cdef int na = cnp.PyArray_NDIM(a), nb = cnp.PyArray_NDIM(b), shift
    cdef cnp.npy_intp* da = cnp.PyArray_DIMS(a) + na - 2
    cdef cnp.npy_intp* db = cnp.PyArray_DIMS(b) + nb - 2
    cdef cnp.npy_intp* sa = cnp.PyArray_STRIDES(a) + na - 2
    cdef cnp.npy_intp* sb = cnp.PyArray_STRIDES(b) + nb - 2
    p.num = cnp.PyArray_TYPE(a)
    if (p.num != cnp.NPY_FLOAT and p.num != cnp.NPY_DOUBLE) or cnp.PyArray_TYPE(b) != p.num \
            or na < 2 or nb < 2:
        return False
    p.m = da[a_transposed]
    p.k = da[not a_transposed]
    p.n = db[not b_transposed]
    if p.m * p.n * p.k > SMALL_PRODUCT or p.k != db[b_transposed]:
        return False
    shift = 2 if p.num == cnp.NPY_FLOAT else 3
    if (sa[0] | sa[1] | sb[0] | sb[1]) & ((1 << shift) - 1):
        return False
    p.a_row = sa[a_transposed] >> shift
    p.a_col = sa[not a_transposed] >> shift
    p.b_row = sb[b_transposed] >> shift
    p.b_col = sb[not b_transposed] >> shift
    return True


cdef inline void run_product(const Product* p, const void* a, const void* b,
                             void* out) noexcept nogil:
    if p.num == cnp.NPY_FLOAT:
        kernels().gemm_f32(<const float*>a, p.a_row, p.a_col, <const float*>b, p.b_row, p.b_col,
                           <float*>out, p.m, p.n, p.k)
    else:
        kernels().gemm_f64(<const double*>a, p.a_row, p.a_col, <const double*>b, p.b_row, p.b_col,
                           <double*>out, p.m, p.n, p.k)


cdef object small_product(cnp.ndarray a, cnp.ndarray b, bint a_transposed, bint b_transposed):
    """The product of two small real matrices through the compiled loop, either one transposed.

    None for anything that something else should do: large or other operands, and bad shapes.
    """
    cdef Product p
    cdef cnp.npy_intp sizes[2]
    cdef cnp.ndarray out
    if cnp.PyArray_NDIM(a) == 1 or cnp.PyArray_NDIM(b) == 1:
        return None if a_transposed or b_transposed else small_vector_product(a, b)
    if cnp.PyArray_NDIM(a) != 2 or cnp.PyArray_NDIM(b) != 2 \
            or not plan_product(&p, a, b, a_transposed, b_transposed):
        return None
    sizes[0] = p.m
    sizes[1] = p.n
    out = empty_array(2, sizes, p.num)
    run_product(&p, cnp.PyArray_DATA(a), cnp.PyArray_DATA(b), cnp.PyArray_DATA(out))
    return out


cdef enum:
    SMALL_VECTOR_PRODUCT = 1 << 11   # multiply-adds up to which the own loop beats BLAS calls


cdef object small_vector_product(cnp.ndarray a, cnp.ndarray b):
    """The product of a row and a column, a row and a matrix, or a matrix and a column; or None."""
    cdef int na = cnp.PyArray_NDIM(a), nb = cnp.PyArray_NDIM(b), num = cnp.PyArray_TYPE(a)
    cdef cnp.npy_intp sizes[2]
    cdef cnp.npy_intp item = cnp.PyArray_ITEMSIZE(a)
    cdef cnp.npy_intp* sa = cnp.PyArray_STRIDES(a)
    cdef cnp.npy_intp* sb = cnp.PyArray_STRIDES(b)
    cdef Product p
    cdef cnp.ndarray out
    if not is_real(a) or cnp.PyArray_TYPE(b) != num or not 1 <= na <= 2 or not 1 <= nb <= 2:
        return None
    p.num = num
    p.m = cnp.PyArray_DIMS(a)[0] if na == 2 else 1
    p.k = cnp.PyArray_DIMS(a)[na - 1]
    p.n = cnp.PyArray_DIMS(b)[1] if nb == 2 else 1
    if cnp.PyArray_DIMS(b)[0] != p.k or p.m * p.n * p.k > SMALL_VECTOR_PRODUCT:
        return None
    if sa[0] % item or sa[na - 1] % item or sb[0] % item or sb[nb - 1] % item:
        return None
    p.a_row = sa[0] // item if na == 2 else 0
    p.a_col = sa[na - 1] // item
    p.b_row = sb[0] // item
    p.b_col = sb[1] // item if nb == 2 else 0
    sizes[0] = p.m if na == 2 else p.n
    out = empty_array(na + nb - 2, sizes, num)
    run_product(&p, cnp.PyArray_DATA(a), cnp.PyArray_DATA(b), cnp.PyArray_DATA(out))
    return out


def outer_kernel(cnp.ndarray a, cnp.ndarray b):
    """The products of every element of a (..., n) with every element of b (..., m)."""
    cdef cnp.npy_intp sizes[2]
    cdef cnp.ndarray out
    cdef int64_t i
    cdef void* f32 = _mul_loop.f32
    cdef void* f64 = _mul_loop.f64
    if cnp.PyArray_NDIM(a) != 1 or cnp.PyArray_NDIM(b) != 1 or not is_loop_array(a) \
            or not is_loop_array(b) or cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b):
        return (<object>a)[..., :, None] * (<object>b)[..., None, :]
    sizes[0] = cnp.PyArray_DIMS(a)[0]
    sizes[1] = cnp.PyArray_DIMS(b)[0]
    out = empty_array(2, sizes, cnp.PyArray_TYPE(a))
    for i in range(sizes[0]):
        if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT:
            (<Binary32>f32)(<const float*>cnp.PyArray_DATA(a) + i,
                            <const float*>cnp.PyArray_DATA(b),
                            <float*>cnp.PyArray_DATA(out) + i * sizes[1], 1, sizes[1], SCALAR_A)
        else:
            (<Binary64>f64)(<const double*>cnp.PyArray_DATA(a) + i,
                            <const double*>cnp.PyArray_DATA(b),
                            <double*>cnp.PyArray_DATA(out) + i * sizes[1], 1, sizes[1], SCALAR_A)
    return out


cdef const Loop* _mul_loop = named_loop(kernels().binary, "mul")


cdef enum:
    MAX_BATCH_DIMS = 8


cdef object small_products(cnp.ndarray a, cnp.ndarray b, bint a_transposed, bint b_transposed):
    """The products of batches of small real matrices, whose batch dims broadcast; or None."""
    cdef Product p
    cdef int na = cnp.PyArray_NDIM(a), nb = cnp.PyArray_NDIM(b), rank = max(na, nb) - 2, i
    cdef cnp.npy_intp sizes[MAX_BATCH_DIMS + 2]
    cdef int64_t steps_a[MAX_BATCH_DIMS]
    cdef int64_t steps_b[MAX_BATCH_DIMS]
    cdef int64_t at[MAX_BATCH_DIMS]
    cdef int64_t size_a, size_b, count = 1, done, size_out
    cdef cnp.ndarray out
    cdef char* x = <char*>cnp.PyArray_DATA(a)
    cdef char* y = <char*>cnp.PyArray_DATA(b)
    cdef char* z
    if rank > MAX_BATCH_DIMS or not plan_product(&p, a, b, a_transposed, b_transposed):
        return None
    for i in range(rank):
        size_a = cnp.PyArray_DIMS(a)[i - rank + na - 2] if i >= rank - na + 2 else 1
        size_b = cnp.PyArray_DIMS(b)[i - rank + nb - 2] if i >= rank - nb + 2 else 1
        if size_a != size_b and size_a != 1 and size_b != 1:
            return None
        steps_a[i] = 0 if size_a == 1 else cnp.PyArray_STRIDES(a)[i - rank + na - 2]
        steps_b[i] = 0 if size_b == 1 else cnp.PyArray_STRIDES(b)[i - rank + nb - 2]
        sizes[i] = size_b if size_a == 1 else size_a
        count *= sizes[i]
        at[i] = 0
    sizes[rank] = p.m
    sizes[rank + 1] = p.n
    out = empty_array(rank + 2, sizes, p.num)
    z = <char*>cnp.PyArray_DATA(out)
    size_out = p.m * p.n * (4 if p.num == cnp.NPY_FLOAT else 8)
    with nogil:
        for done in range(count):
            run_product(&p, x, y, z)
            z += size_out
            i = rank - 1
            while i >= 0:      # on to the next matrices, as an odometer counts
                at[i] += 1
                x += steps_a[i]
                y += steps_b[i]
                if at[i] < sizes[i]:
                    break
                x -= steps_a[i] * sizes[i]
                y -= steps_b[i] * sizes[i]
                at[i] = 0
                i -= 1
    return out


cdef inline bint foldable(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether the batch of a is just more rows, for one matrix b."""
    return cnp.PyArray_NDIM(b) == 2 and cnp.PyArray_NDIM(a) > 2 and cnp.PyArray_IS_C_CONTIGUOUS(a)


cdef class ProductKernel(Kernel):
    """`kernel(a, b)`: the product of the last two dims; small real matrices through the own loop.

    Otherwise `fallback(a, b)`, which also says what is wrong with operands that do not fit.
    """

    cdef bint a_transposed, b_transposed
    cdef object fallback

    def __init__(self, fallback, bint a_transposed=False, bint b_transposed=False):
        self.fallback = fallback
        self.a_transposed = a_transposed
        self.b_transposed = b_transposed

    cdef object run(self, PyObject** args, Py_ssize_t n):
        if n != 2:
            raise TypeError(f"ProductKernel: expected 2 arrays, got {n} arguments")
        return self.product(<cnp.ndarray?><object>args[0], <cnp.ndarray?><object>args[1])

    cdef object product(self, cnp.ndarray a, cnp.ndarray b):
        if 1 <= cnp.PyArray_NDIM(a) <= 2 and 1 <= cnp.PyArray_NDIM(b) <= 2:
            out = small_product(a, b, self.a_transposed, self.b_transposed)
        elif not self.a_transposed and foldable(a, b):
            out = None
        else:
            out = small_products(a, b, self.a_transposed, self.b_transposed)
        return self.fallback(a, b) if out is None else out


cdef class LinearKernel(Kernel):
    """`kernel(x, w, b)`: x @ w.T + b for a matrix of rows x, with b a row or None."""

    cdef object fallback
    cdef void* add32
    cdef void* add64

    def __init__(self, fallback):
        cdef const Loop* entry = named_loop(kernels().binary, "add")
        self.fallback = fallback
        self.add32 = entry.f32
        self.add64 = entry.f64

    cdef object run(self, PyObject** args, Py_ssize_t n):
        if n != 3:
            raise TypeError(f"LinearKernel: expected x, w and b, got {n} arguments")
        return self.affine(<cnp.ndarray?><object>args[0], <cnp.ndarray?><object>args[1],
                           <object>args[2])

    cdef object affine(self, cnp.ndarray x, cnp.ndarray w, b):
        cdef cnp.ndarray out, row
        cdef int64_t m, n
        if b is not None:
            row = <cnp.ndarray?>b
            if cnp.PyArray_NDIM(row) != 1 or cnp.PyArray_TYPE(row) != cnp.PyArray_TYPE(x) \
                    or not cnp.PyArray_IS_C_CONTIGUOUS(row) \
                    or cnp.PyArray_NDIM(w) != 2 \
                    or cnp.PyArray_DIMS(row)[0] != cnp.PyArray_DIMS(w)[0]:
                return self.fallback(x, w, b)
        found = small_product(x, w, False, True)
        if found is None:
            return self.fallback(x, w, b)
        if b is not None and cnp.PyArray_SIZE(found):
            out = <cnp.ndarray>found
            m = cnp.PyArray_DIMS(out)[0]
            n = cnp.PyArray_DIMS(out)[1]
            if cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT:
                (<Binary32>self.add32)(<const float*>cnp.PyArray_DATA(out),
                                       <const float*>cnp.PyArray_DATA(row),
                                       <float*>cnp.PyArray_DATA(out), m, n, ROW_B)
            else:
                (<Binary64>self.add64)(<const double*>cnp.PyArray_DATA(out),
                                       <const double*>cnp.PyArray_DATA(row),
                                       <double*>cnp.PyArray_DATA(out), m, n, ROW_B)
        return found


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
