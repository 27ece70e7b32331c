# Kernels that copy elements: clones, concatenation, choice by a condition.

from libc.string cimport memcpy


def copy_kernel(cnp.ndarray x):
    """x in memory of its own, in the same order of its dims."""
    if cnp.PyArray_IS_C_CONTIGUOUS(x):
        return copy_of(x)
    return cnp.PyArray_NewCopy(x, cnp.NPY_KEEPORDER)


cdef enum:
    SMALL_COPY = 1 << 14     # bytes up to which NumPy's preparations cost more than the copy


cdef bint alike(cnp.ndarray x, cnp.ndarray first, int skip) noexcept:
    """Whether x is contiguous, of first's dtype, and of its shape except along dim `skip`."""
    cdef int i, ndim = cnp.PyArray_NDIM(first)
    if cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(first) or cnp.PyArray_NDIM(x) != ndim \
            or not cnp.PyArray_IS_C_CONTIGUOUS(x):
        return False
    for i in range(ndim):
        if i != skip and cnp.PyArray_DIMS(x)[i] != cnp.PyArray_DIMS(first)[i]:
            return False
    return True


cdef object join(list arrays, int dim, bint stacked):
    """Small contiguous arrays joined along a dim, or a new one; None for what NumPy should do."""
    cdef cnp.ndarray first, x, out
    cdef cnp.npy_intp sizes[64]
    cdef int ndim, i, k = 0
    cdef int64_t outer = 1, inner, total = 0, length = 0, r, chunk
    cdef char* target
    cdef char* source
    first = <cnp.ndarray?>arrays[0]
    ndim = cnp.PyArray_NDIM(first)
    if not 0 <= dim < ndim + stacked or ndim > 60 or cnp.PyArray_TYPE(first) == cnp.NPY_OBJECT:
        return None
    for item in arrays:
        x = <cnp.ndarray?>item
        if not alike(x, first, -1 if stacked else dim):
            return None
        total += cnp.PyArray_NBYTES(x)
        length += 1 if stacked else cnp.PyArray_DIMS(x)[dim]
    if total > SMALL_COPY:
        return None
    for i in range(ndim + stacked):
        if i == dim:
            sizes[i] = length
        else:
            sizes[i] = cnp.PyArray_DIMS(first)[i - (stacked and i > dim)]
        if i < dim:
            outer *= sizes[i]
    out = PyArray_NewLikeDescr(first, ndim + stacked, sizes)
    inner = total // outer if outer else 0
    target = <char*>cnp.PyArray_DATA(out)
    for item in arrays:
        x = <cnp.ndarray>item
        source = <char*>cnp.PyArray_DATA(x)
        chunk = cnp.PyArray_NBYTES(x) // outer if outer else 0
        for r in range(outer):
            memcpy(target + r * inner, source + r * chunk, chunk)
        target += chunk
    return out


cdef cnp.ndarray PyArray_NewLikeDescr(cnp.ndarray like, int ndim, cnp.npy_intp* sizes):
    """An uninitialised contiguous array of like's dtype."""
    cdef PyObject* kind = <PyObject*>cnp.PyArray_DESCR(like)
    Py_XINCREF(kind)
    return PyArray_NewFromDescr(<PyTypeObject*>cnp.ndarray, <_Descr*>kind, ndim, sizes, NULL, NULL,
                                0, NULL)


def concatenate_kernel(list arrays, int dim):
    """The arrays one after the other along a dim."""
    out = join(arrays, dim, False)
    return np.concatenate(arrays, axis=dim) if out is None else out


def stack_kernel(list arrays, int dim):
    """The arrays one after the other along a new dim."""
    out = join(arrays, dim, True)
    return np.stack(arrays, axis=dim) if out is None else out


cdef inline bint same_sizes(cnp.ndarray x, cnp.ndarray y) noexcept:
    cdef int i
    if cnp.PyArray_NDIM(x) != cnp.PyArray_NDIM(y):
        return False
    for i in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIMS(x)[i] != cnp.PyArray_DIMS(y)[i]:
            return False
    return True


def select_small(condition, x, y):
    """x where the condition holds, else y: small, contiguous, of one shape or one element; or None.

    For arrays of any dtype of 4 or 8 bytes.
    """
    if type(condition) is cnp.ndarray and type(x) is cnp.ndarray and type(y) is cnp.ndarray:
        return select_arrays(<cnp.ndarray>condition, <cnp.ndarray>x, <cnp.ndarray>y)
    return None


cdef object select_arrays(cnp.ndarray condition, cnp.ndarray x, cnp.ndarray y):
    cdef cnp.ndarray out
    cdef int64_t n = cnp.PyArray_SIZE(condition), i
    cdef int size = cnp.PyArray_ITEMSIZE(x), dx, dy
    cdef const char* c
    if n > SMALL_COPY or (size != 4 and size != 8) or cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(y) \
            or not cnp.PyArray_IS_C_CONTIGUOUS(condition):
        return None
    for item in (x, y):
        if cnp.PyArray_NDIM(<cnp.ndarray>item) and not (
                cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>item)
                and same_sizes(<cnp.ndarray>item, condition)):
            return None
    dx = cnp.PyArray_NDIM(x) != 0 or n == 1
    dy = cnp.PyArray_NDIM(y) != 0 or n == 1
    out = PyArray_NewLikeDescr(x, cnp.PyArray_NDIM(condition), cnp.PyArray_DIMS(condition))
    c = <const char*>cnp.PyArray_DATA(condition)
    if size == 4:
        for i in range(n):
            (<int*>cnp.PyArray_DATA(out))[i] = (<int*>cnp.PyArray_DATA(x))[i * dx] if c[i] \
                else (<int*>cnp.PyArray_DATA(y))[i * dy]
    else:
        for i in range(n):
            (<int64_t*>cnp.PyArray_DATA(out))[i] = (<int64_t*>cnp.PyArray_DATA(x))[i * dx] if c[i] \
                else (<int64_t*>cnp.PyArray_DATA(y))[i * dy]
    return out


def one_dtype(*values):
    """Whether all values are tensors of one dtype."""
    cdef int num = -1
    for item in values:
        if not is_tensor(item) or (<Tensor>item).flags & WEAK:
            return False
        if num >= 0 and typenum_of(<Tensor>item) != num:
            return False
        num = typenum_of(<Tensor>item)
    return True
