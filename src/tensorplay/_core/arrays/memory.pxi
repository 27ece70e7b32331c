# New arrays. Large ones start at a cache line.

cdef extern from "memory.hpp" namespace "tensorplay":
    object new_aligned_array(int, cnp.npy_intp*, int)

cdef extern from "copy.hpp" namespace "tensorplay" nogil:
    bint copy_strided(const char*, int, const cnp.npy_intp*, const cnp.npy_intp*, int64_t, void*)

cdef enum:
    SHUFFLED_SIZE = 1 << 9   # elements from which the own loops copy other orders of dims faster
    ALIGNED_SIZE = 1 << 11   # elements from which alignment is worth what it costs


cdef inline cnp.ndarray empty_array(int ndim, cnp.npy_intp* sizes, int num):
    """A C-contiguous array of any contents."""
    cdef int64_t n = 1
    cdef int i
    for i in range(ndim):
        n *= sizes[i]
    if n < ALIGNED_SIZE:
        return <cnp.ndarray>cnp.PyArray_EMPTY(ndim, sizes, num, 0)
    return new_aligned_array(ndim, sizes, num)


def empty(tuple shape, dtype):
    """A C-contiguous array (of NumPy's) of any contents."""
    cdef cnp.npy_intp sizes[64]
    cdef int i, ndim = len(shape)
    if ndim > 64:
        raise ValueError(f"empty(): at most 64 dims, got {ndim}")
    for i in range(ndim):
        sizes[i] = shape[i]
    return empty_array(ndim, sizes, (<cnp.dtype?>np.dtype(dtype)).num)


def copied(cnp.ndarray x):
    """A C-contiguous copy of an array."""
    return copy_of(x)


cdef cnp.ndarray copy_of(cnp.ndarray x):
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef cnp.ndarray out = empty_array(ndim, cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x))
    cdef char* source = <char*>cnp.PyArray_DATA(x)
    cdef void* target = cnp.PyArray_DATA(out)
    cdef int64_t item = cnp.PyArray_ITEMSIZE(x)
    cdef bint done = False
    cdef cnp.npy_intp i, step
    if ndim == 1 and cnp.PyArray_SIZE(x) < 64 and cnp.PyArray_ISALIGNED(x) and item == 4:
        # NumPy's preparations cost more than such a copy.
        step = cnp.PyArray_STRIDES(x)[0]
        for i in range(cnp.PyArray_SIZE(x)):
            (<int*>target)[i] = (<int*>(source + i * step))[0]
        return out
    if cnp.PyArray_SIZE(x) >= SHUFFLED_SIZE and not cnp.PyArray_IS_C_CONTIGUOUS(x) \
            and cnp.PyArray_ISBEHAVED_RO(x):
        with nogil:
            done = copy_strided(source, ndim, cnp.PyArray_DIMS(x), cnp.PyArray_STRIDES(x), item,
                                target)
    if not done:
        cnp.PyArray_CopyInto(out, x)
    return out


def as_contiguous(cnp.ndarray x):
    """x itself where it is C-contiguous and aligned, else a copy."""
    return ordered(x)


cdef cnp.ndarray ordered(cnp.ndarray x):
    return x if cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_ISALIGNED(x) else copy_of(x)


cdef cnp.ndarray reordered(cnp.ndarray x, const int* order):
    """x with its dims in another order, as a view."""
    cdef cnp.npy_intp places[64]
    cdef cnp.PyArray_Dims dims
    cdef int d
    for d in range(cnp.PyArray_NDIM(x)):
        places[d] = order[d]
    dims.ptr = places
    dims.len = cnp.PyArray_NDIM(x)
    return cnp.PyArray_Transpose(x, &dims)


cdef void by_stride(cnp.ndarray x, int* order) noexcept:
    """The dims of x, those whose elements are farther apart first."""
    cdef int ndim = cnp.PyArray_NDIM(x), d, i
    cdef cnp.npy_intp* strides = cnp.PyArray_STRIDES(x)
    for d in range(ndim):
        i = d
        while i > 0 and strides[order[i - 1]] < strides[d]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = d


cdef cnp.ndarray in_memory_order(cnp.ndarray x, int* order):
    """The C-contiguous view of x with its dims in another order, which is written; None if none."""
    if cnp.PyArray_NDIM(x) < 2 or cnp.PyArray_NDIM(x) > 64:
        return None
    by_stride(x, order)
    view = reordered(x, order)
    return view if cnp.PyArray_IS_C_CONTIGUOUS(view) else None


cdef cnp.ndarray order_undone(cnp.ndarray x, const int* order):
    """x, whose dims were put into an order, with its dims as they were."""
    cdef int back[64]
    cdef int d
    for d in range(cnp.PyArray_NDIM(x)):
        back[order[d]] = d
    return reordered(x, back)


cdef bint is_shuffled(cnp.ndarray x) noexcept:
    """Whether another dim than the last one has its elements nearest to each other."""
    cdef int ndim = cnp.PyArray_NDIM(x), d
    cdef int64_t last, step
    if ndim < 2:
        return False
    last = abs(cnp.PyArray_STRIDES(x)[ndim - 1])
    for d in range(ndim - 1):
        step = abs(cnp.PyArray_STRIDES(x)[d])
        if 0 < step < last and cnp.PyArray_DIMS(x)[d] > 1:
            return True
    return False


ctypedef void (*Cast)(const void*, void*, int64_t) noexcept nogil

cdef int BFLOAT16 = _dtypes.bfloat16.numpy.num
cdef object FLOAT32 = np.dtype(np.float32)


cdef inline bint is_half(int num) noexcept:
    return num == cnp.NPY_FLOAT16 or num == BFLOAT16


def cast(cnp.ndarray x, dtype):
    """x as an array of a dtype (of NumPy's): a copy."""
    cdef int source = cnp.PyArray_TYPE(x), target = (<cnp.dtype?>dtype).num
    cdef Cast loop = NULL
    cdef cnp.ndarray out
    cdef int64_t n = cnp.PyArray_SIZE(x)
    if target == cnp.NPY_FLOAT:
        if source == cnp.NPY_FLOAT16:
            loop = kernels().float_from_half
        elif source == BFLOAT16:
            loop = kernels().float_from_bfloat
    elif source == cnp.NPY_FLOAT:
        if target == cnp.NPY_FLOAT16:
            loop = kernels().half_from_float
        elif target == BFLOAT16:
            loop = kernels().bfloat_from_float
    if loop is NULL or not cnp.PyArray_ISBEHAVED_RO(x):
        return x.astype(dtype)
    x = ordered(x)
    out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), target)
    a = cnp.PyArray_DATA(x)
    b = cnp.PyArray_DATA(out)
    with nogil:
        loop(a, b, n)
    return out
