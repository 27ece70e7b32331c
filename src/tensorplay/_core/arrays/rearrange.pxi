# Kernels that copy elements to other places: flip, roll, repeat, pad, triangles, diagonals.

from libc.string cimport memset


def flip_kernel(cnp.ndarray x, tuple dims):
    """A copy of x with the order along some dims reversed."""
    cdef cnp.npy_intp strides[64]
    cdef char* data = <char*>cnp.PyArray_DATA(x)
    cdef int i
    for i in range(cnp.PyArray_NDIM(x)):
        strides[i] = cnp.PyArray_STRIDES(x)[i]
    if cnp.PyArray_SIZE(x):
        for dim in dims:
            i = dim
            data += (cnp.PyArray_DIMS(x)[i] - 1) * strides[i]
            strides[i] = -strides[i]
    return copy_of(view_of(x, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), strides, data))


def roll_kernel(cnp.ndarray x, tuple shifts, tuple dims):
    """A copy of x whose entries are moved along dims; what leaves at the end comes in at the start.
    """
    cdef cnp.ndarray out = x
    cdef int64_t outer, inner, size, step, i
    cdef int dim, d
    cdef char* source
    cdef char* target
    if not dims or cnp.PyArray_SIZE(x) == 0:
        return copy_of(x)
    if not cnp.PyArray_IS_C_CONTIGUOUS(x):
        x = copy_of(x)
    for shift, at in zip(shifts, dims):
        dim = at
        size = cnp.PyArray_DIMS(x)[dim]
        step = shift % size
        outer = 1
        for d in range(dim):
            outer *= cnp.PyArray_DIMS(x)[d]
        inner = cnp.PyArray_NBYTES(x) // (outer * size)
        out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x))
        source = <char*>cnp.PyArray_DATA(x)
        target = <char*>cnp.PyArray_DATA(out)
        for i in range(outer):
            memcpy(target + step * inner, source, (size - step) * inner)
            memcpy(target, source + (size - step) * inner, step * inner)
            source += size * inner
            target += size * inner
        x = out
    return out


def repeat_kernel(cnp.ndarray x, tuple repeats):
    """x laid out again and again; `repeats` has an entry for each dim, and for more in front."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef cnp.npy_intp source[64]
    cdef cnp.npy_intp shape[64]
    cdef int ndim = len(repeats), lead = ndim - cnp.PyArray_NDIM(x), i
    cdef cnp.npy_intp step = cnp.PyArray_ITEMSIZE(x)
    cdef cnp.ndarray out
    if ndim > 32:
        return np.tile(x, repeats)
    for i in range(ndim):
        sizes[2 * i] = repeats[i]
        sizes[2 * i + 1] = cnp.PyArray_DIMS(x)[i - lead] if i >= lead else 1
        source[2 * i] = 0
        source[2 * i + 1] = cnp.PyArray_STRIDES(x)[i - lead] if i >= lead else 0
        shape[i] = sizes[2 * i] * sizes[2 * i + 1]
    out = empty_array(ndim, shape, cnp.PyArray_TYPE(x))
    for i in range(2 * ndim - 1, -1, -1):
        strides[i] = step
        step *= sizes[i]
    if cnp.PyArray_SIZE(out):
        cnp.PyArray_CopyInto(view_of(out, 2 * ndim, sizes, strides, cnp.PyArray_DATA(out)),
                             view_of(x, 2 * ndim, sizes, source, cnp.PyArray_DATA(x)))
    return out


def pad_kernel(cnp.ndarray x, tuple pads, value):
    """x with `pads[d]` = (before, after) places of a value added to, or taken off, each dim."""
    cdef cnp.npy_intp shape[64]
    cdef cnp.npy_intp sizes[64]
    cdef int ndim = cnp.PyArray_NDIM(x), i
    cdef int64_t before, after
    cdef bint empty = False
    cdef char* source = <char*>cnp.PyArray_DATA(x)
    cdef char* target
    cdef cnp.ndarray out
    for i in range(ndim):
        before, after = pads[i]
        shape[i] = cnp.PyArray_DIMS(x)[i] + before + after
        sizes[i] = cnp.PyArray_DIMS(x)[i] + min(before, 0) + min(after, 0)
        empty |= sizes[i] <= 0
        source += max(-before, 0) * cnp.PyArray_STRIDES(x)[i]
    if type(value) is int and value == 0:
        out = cnp.PyArray_ZEROS(ndim, shape, cnp.PyArray_TYPE(x), 0)
    else:
        out = empty_array(ndim, shape, cnp.PyArray_TYPE(x))
        if is_number(value) and is_differentiable_typenum(cnp.PyArray_TYPE(x)):
            (<object>out).fill(value)
        else:
            np.copyto(out, value, casting="unsafe")
    if empty:
        return out
    target = <char*>cnp.PyArray_DATA(out)
    for i in range(ndim):
        before = (<tuple>pads[i])[0]
        target += max(before, 0) * cnp.PyArray_STRIDES(out)[i]
    cnp.PyArray_CopyInto(view_of(out, ndim, sizes, cnp.PyArray_STRIDES(out), target),
                         view_of(x, ndim, sizes, cnp.PyArray_STRIDES(x), source))
    return out


cdef cnp.ndarray triangle(cnp.ndarray x, int64_t diagonal, bint upper):
    """A copy of the matrices x that is zero on one side of a diagonal."""
    cdef cnp.ndarray out = copy_of(x)
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int64_t rows = cnp.PyArray_DIMS(x)[ndim - 2], columns = cnp.PyArray_DIMS(x)[ndim - 1]
    cdef int64_t item = cnp.PyArray_ITEMSIZE(x), count, i, first
    cdef char* row = <char*>cnp.PyArray_DATA(out)
    if cnp.PyArray_SIZE(x) == 0:
        return out
    count = cnp.PyArray_SIZE(x) // columns
    for i in range(count):
        first = i % rows + diagonal + (not upper)     # of the columns on the upper side
        first = max(0, min(first, columns))
        if upper:
            memset(row, 0, first * item)
        else:
            memset(row + first * item, 0, (columns - first) * item)
        row += columns * item
    return out


def lower_kernel(cnp.ndarray x, int64_t diagonal):
    """Matrices with zeros above a diagonal."""
    return triangle(x, diagonal, False)


def upper_kernel(cnp.ndarray x, int64_t diagonal):
    """Matrices with zeros below a diagonal."""
    return triangle(x, diagonal, True)


def diagonal_embed_kernel(cnp.ndarray x, tuple shape, int64_t offset, int dim1, int dim2):
    """Zeros of a shape with x on a diagonal of two dims."""
    cdef cnp.npy_intp sizes[64]
    cdef int ndim = len(shape), i
    cdef cnp.ndarray out
    for i in range(ndim):
        sizes[i] = shape[i]
    out = cnp.PyArray_ZEROS(ndim, sizes, cnp.PyArray_TYPE(x), 0)
    cnp.PyArray_CopyInto(diagonal_kernel(out, offset, dim1, dim2), x)
    return out
