# Kernels of matrix products: small ones through the own loop, others through BLAS.

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
