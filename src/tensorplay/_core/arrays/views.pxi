# Kernels of views: another array over the same memory, made without the interpreter.

def permute_kernel(cnp.ndarray x, tuple dims):
    """x with its dims in the given order."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int ndim = cnp.PyArray_NDIM(x), i, dim
    if PyTuple_GET_SIZE(dims) != ndim:
        raise ValueError(f"{PyTuple_GET_SIZE(dims)} dims given for an array of {ndim}")
    for i in range(ndim):
        dim = dims[i]
        sizes[i] = cnp.PyArray_DIMS(x)[dim]
        strides[i] = cnp.PyArray_STRIDES(x)[dim]
    return view_of(x, ndim, sizes, strides, cnp.PyArray_DATA(x))


def reshape_kernel(cnp.ndarray x, tuple shape):
    """x in another shape of as many elements."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int ndim = len(shape), i
    cdef cnp.npy_intp step = cnp.PyArray_ITEMSIZE(x), total = 1
    if not cnp.PyArray_IS_C_CONTIGUOUS(x) or cnp.PyArray_SIZE(x) == 0:
        return (<object>x).reshape(shape)
    for i in range(ndim - 1, -1, -1):
        sizes[i] = shape[i]
        strides[i] = step
        step *= sizes[i]
        total *= sizes[i]
    if total != cnp.PyArray_SIZE(x):
        return (<object>x).reshape(shape)       # which says what is wrong
    return view_of(x, ndim, sizes, strides, cnp.PyArray_DATA(x))


def unsqueeze_kernel(cnp.ndarray x, int dim):
    """x with a dim of size one inserted at `dim`."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int ndim = cnp.PyArray_NDIM(x), i
    if ndim == 64:
        raise ValueError("a tensor has at most 64 dims")
    for i in range(ndim + 1):
        if i == dim:
            sizes[i] = 1
            strides[i] = cnp.PyArray_ITEMSIZE(x) if i == ndim else \
                cnp.PyArray_STRIDES(x)[i] * cnp.PyArray_DIMS(x)[i]
        else:
            sizes[i] = cnp.PyArray_DIMS(x)[i - (i > dim)]
            strides[i] = cnp.PyArray_STRIDES(x)[i - (i > dim)]
    return view_of(x, ndim + 1, sizes, strides, cnp.PyArray_DATA(x))


def squeeze_kernel(cnp.ndarray x, tuple dims):
    """x without the given dims, which have size one."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef bint dropped[64]
    cdef int ndim = cnp.PyArray_NDIM(x), i, k = 0
    for i in range(ndim):
        dropped[i] = False
    for dim in dims:
        if cnp.PyArray_DIMS(x)[<int>dim] != 1:
            raise ValueError(f"dim {dim} of size {cnp.PyArray_DIMS(x)[<int>dim]} is not of size 1")
        dropped[<int>dim] = True
    for i in range(ndim):
        if not dropped[i]:
            sizes[k] = cnp.PyArray_DIMS(x)[i]
            strides[k] = cnp.PyArray_STRIDES(x)[i]
            k += 1
    return view_of(x, k, sizes, strides, cnp.PyArray_DATA(x))


def diagonal_kernel(cnp.ndarray x, int64_t offset, int dim1, int dim2):
    """The diagonal of two dims, as the last dim."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int ndim = cnp.PyArray_NDIM(x), i, k = 0
    cdef int64_t rows = cnp.PyArray_DIMS(x)[dim1] + min(offset, 0)
    cdef int64_t columns = cnp.PyArray_DIMS(x)[dim2] - max(offset, 0)
    cdef char* data = <char*>cnp.PyArray_DATA(x)
    for i in range(ndim):
        if i != dim1 and i != dim2:
            sizes[k] = cnp.PyArray_DIMS(x)[i]
            strides[k] = cnp.PyArray_STRIDES(x)[i]
            k += 1
    sizes[k] = max(min(rows, columns), 0)
    strides[k] = cnp.PyArray_STRIDES(x)[dim1] + cnp.PyArray_STRIDES(x)[dim2]
    if sizes[k]:
        data += offset * cnp.PyArray_STRIDES(x)[dim2] if offset > 0 else \
            -offset * cnp.PyArray_STRIDES(x)[dim1]
    return view_of(x, ndim - 1, sizes, strides, data)


def split_kernel(cnp.ndarray x, tuple sizes, int dim):
    """Parts of the given sizes along a dim, one after the other."""
    cdef cnp.npy_intp shape[64]
    cdef int i
    cdef char* data = <char*>cnp.PyArray_DATA(x)
    cdef list parts = []
    for i in range(cnp.PyArray_NDIM(x)):
        shape[i] = cnp.PyArray_DIMS(x)[i]
    for size in sizes:
        shape[dim] = size
        parts.append(view_of(x, cnp.PyArray_NDIM(x), shape, cnp.PyArray_STRIDES(x), data))
        data += shape[dim] * cnp.PyArray_STRIDES(x)[dim]
    return parts


def unbind_kernel(cnp.ndarray x, int dim):
    """The entries along a dim, without that dim."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int i, k = 0
    cdef cnp.npy_intp at
    cdef char* data = <char*>cnp.PyArray_DATA(x)
    cdef list parts = []
    for i in range(cnp.PyArray_NDIM(x)):
        if i != dim:
            sizes[k] = cnp.PyArray_DIMS(x)[i]
            strides[k] = cnp.PyArray_STRIDES(x)[i]
            k += 1
    for at in range(cnp.PyArray_DIMS(x)[dim]):
        parts.append(view_of(x, k, sizes, strides, data))
        data += cnp.PyArray_STRIDES(x)[dim]
    return parts
