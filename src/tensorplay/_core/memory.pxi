# New arrays. Large ones start at a cache line.

cdef extern from "memory.hpp" namespace "tensorplay":
    object new_aligned_array(int, cnp.npy_intp*, int)

cdef enum:
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


cdef cnp.ndarray copy_of(cnp.ndarray x):
    cdef cnp.ndarray out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x),
                                       cnp.PyArray_TYPE(x))
    cdef cnp.npy_intp i, step
    cdef char* source
    if cnp.PyArray_NDIM(x) == 1 and cnp.PyArray_SIZE(x) < 64 and cnp.PyArray_ISALIGNED(x) \
            and cnp.PyArray_ITEMSIZE(x) == 4:
        # NumPy's preparations cost more than such a copy.
        source = <char*>cnp.PyArray_DATA(x)
        step = cnp.PyArray_STRIDES(x)[0]
        for i in range(cnp.PyArray_SIZE(x)):
            (<int*>cnp.PyArray_DATA(out))[i] = (<int*>(source + i * step))[0]
        return out
    cnp.PyArray_CopyInto(out, x)
    return out


def copied(cnp.ndarray x):
    """A C-contiguous copy of an array."""
    return copy_of(x)
