# New tensors made of a few numbers. Each returns None where something is asked for that the Python
# function has to look at: then that one goes on.

def no_levels():
    """Whether no function transform is active in this thread."""
    return len(levels_by_id()) == 0


cdef int plain_typenum(object dtype) except -2:
    """The number of a dtype, or of the default one for None; -1 for what is no dtype."""
    if dtype is None:
        dtype = _dtypes._default
    elif type(dtype) is not _dtypes.dtype:
        return -1
    return (<cnp.dtype?>dtype.numpy).num


cdef int plain_sizes(object sizes, cnp.npy_intp* shape) except -2:
    """The number of sizes, after writing them to `shape`; -1 unless all are plain ints >= 0."""
    cdef int i, ndim
    if type(sizes) is not tuple:
        if type(sizes) is not list and type(sizes) is not Size:
            return -1
        sizes = tuple(sizes)
    ndim = len(<tuple>sizes)
    if ndim == 0:
        return -1        # none given; a tensor without dims has one empty sequence of sizes
    if ndim == 1 and type((<tuple>sizes)[0]) is not int:
        sizes = (<tuple>sizes)[0]
        if type(sizes) is not tuple and type(sizes) is not list and type(sizes) is not Size:
            return -1
        sizes = tuple(sizes)
        ndim = len(<tuple>sizes)
    if ndim > 64:
        return -1
    for i in range(ndim):
        item = (<tuple>sizes)[i]
        if type(item) is not int or not 0 <= item < 1 << 40:
            return -1
        shape[i] = item
    return ndim


cdef bint fill_array(cnp.ndarray out, object value) except -1:
    """Write a number everywhere; False for what is not plain: another number, or another dtype."""
    cdef int num = cnp.PyArray_TYPE(out)
    cdef int64_t i, n = cnp.PyArray_SIZE(out)
    cdef double number
    cdef float single
    if not is_number(value):
        return False
    if num == cnp.NPY_INT64:
        if type(value) is not int or not -1 << 62 < value < 1 << 62:
            return False
        for i in range(n):
            (<int64_t*>cnp.PyArray_DATA(out))[i] = <int64_t>value
        return True
    if num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE:
        return False
    if type(value) is int and not -1 << 62 < value < 1 << 62:
        return False
    number = value
    if num == cnp.NPY_DOUBLE:
        for i in range(n):
            (<double*>cnp.PyArray_DATA(out))[i] = number
        return True
    if not -3e38 < number < 3e38:
        return False
    single = <float>number
    for i in range(n):
        (<float*>cnp.PyArray_DATA(out))[i] = single
    return True


cdef Tensor fresh(cnp.ndarray array, bint requires_grad):
    """A new leaf over an array."""
    cdef Tensor out = new_tensor(array)
    if tp_modes & MODE_INFERENCE:
        out.flags |= INFERENCE
        if requires_grad:
            return None
    if requires_grad:
        if not is_differentiable_typenum(cnp.PyArray_TYPE(array)):
            return None
        out.flags |= REQUIRES_GRAD
    return out


def filled(sizes, value, dtype, special, requires_grad):
    """A tensor of one number, or None.

    sizes: ints, or one sequence of them. special: arguments that have to be None.
    """
    cdef cnp.npy_intp shape[64]
    cdef int ndim, num
    cdef cnp.ndarray array
    for item in <tuple>special:
        if item is not None:
            return None
    if type(requires_grad) is not bool or not no_levels():
        return None
    num = plain_typenum(dtype)
    ndim = plain_sizes(sizes, shape)
    if num < 0 or ndim < 0:
        return None
    if type(value) is int and value == 0:
        array = cnp.PyArray_ZEROS(ndim, shape, num, 0)
    else:
        array = empty_array(ndim, shape, num)
        if not fill_array(array, value):
            return None
    return fresh(array, requires_grad)


def filled_like_plain(x, value, dtype, special, requires_grad):
    """A tensor of one number in the shape of x, and in its dtype unless one is given; or None."""
    cdef cnp.ndarray like, array
    cdef int num
    if not is_tensor(x) or (<Tensor>x)._array is None or not no_levels() \
            or type(requires_grad) is not bool:
        return None
    for item in <tuple>special:
        if item is not None:
            return None
    like = (<Tensor>x)._array
    if not cnp.PyArray_IS_C_CONTIGUOUS(like):
        return None
    num = cnp.PyArray_TYPE(like) if dtype is None else plain_typenum(dtype)
    if num < 0:
        return None
    if type(value) is int and value == 0:
        array = cnp.PyArray_ZEROS(cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), num, 0)
    else:
        array = empty_array(cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), num)
        if not fill_array(array, value):
            return None
    return fresh(array, requires_grad)


def identity_array(int64_t rows, int64_t columns, dtype):
    """A matrix with ones on its diagonal, as an array."""
    cdef cnp.npy_intp shape[2]
    cdef int num = (<cnp.dtype?>dtype).num
    cdef cnp.ndarray array
    cdef int64_t i
    shape[0] = rows
    shape[1] = columns
    array = cnp.PyArray_ZEROS(2, shape, num, 0)
    if num == cnp.NPY_FLOAT:
        for i in range(min(rows, columns)):
            (<float*>cnp.PyArray_DATA(array))[i * (columns + 1)] = 1
    elif num == cnp.NPY_DOUBLE:
        for i in range(min(rows, columns)):
            (<double*>cnp.PyArray_DATA(array))[i * (columns + 1)] = 1
    else:
        diagonal_kernel(array, 0, 0, 1).fill(1)
    return array


def counting(start, end, step, special, requires_grad):
    """The ints from start up to, but without, end (None: from 0 to start), or None."""
    cdef int64_t first, last, by, i
    cdef cnp.npy_intp size
    cdef cnp.ndarray array
    for item in <tuple>special:
        if item is not None:
            return None
    if end is None:
        start, end = 0, start
    if type(start) is not int or type(end) is not int or type(step) is not int \
            or requires_grad or not no_levels():
        return None
    if not (-1 << 60 < start < 1 << 60 and -1 << 60 < end < 1 << 60 and 0 < step < 1 << 60
            and start <= end):
        return None
    first, last, by = start, end, step
    size = (last - first + by - 1) // by
    array = empty_array(1, &size, cnp.NPY_INT64)
    for i in range(size):
        (<int64_t*>cnp.PyArray_DATA(array))[i] = first + i * by
    return fresh(array, False)


def evenly_spaced(double first, double last, Py_ssize_t steps):
    """`steps` (at least 2) numbers from first to last, each computed from the nearer end."""
    cdef double step = (last - first) / <double>(steps - 1)
    cdef cnp.npy_intp i, size = steps
    cdef cnp.ndarray array = empty_array(1, &size, cnp.NPY_DOUBLE)
    for i in range(steps):
        (<double*>cnp.PyArray_DATA(array))[i] = \
            first + step * <double>i if i < steps // 2 else last - step * <double>(steps - 1 - i)
    return array


def spaced(start, end, steps, special, requires_grad):
    """`evenly_spaced` as a tensor of the default dtype, or None."""
    cdef cnp.ndarray wide, array
    cdef cnp.npy_intp n, i
    cdef int num
    for item in <tuple>special:
        if item is not None:
            return None
    if not is_number(start) or not is_number(end) or type(steps) is not int or steps < 2 \
            or type(requires_grad) is not bool or not no_levels():
        return None
    num = plain_typenum(None)
    wide = evenly_spaced(start, end, steps)
    if num == cnp.NPY_DOUBLE:
        return fresh(wide, requires_grad)
    if num != cnp.NPY_FLOAT:
        return None
    n = steps
    array = empty_array(1, &n, num)
    for i in range(n):
        (<float*>cnp.PyArray_DATA(array))[i] = <float>(<double*>cnp.PyArray_DATA(wide))[i]
    return fresh(array, requires_grad)


# --- nested lists of numbers ----------------------------------------------------------------------

cdef int read_shape(object data, cnp.npy_intp* shape) except -2:
    """The number of dims of nested lists, from the first entry of each; -1 for too many or empty.
    """
    cdef int ndim = 0
    while type(data) is list or type(data) is tuple:
        if ndim == 8:
            return -1
        shape[ndim] = len(data)
        if shape[ndim] == 0:
            return -1
        ndim += 1
        data = data[0]
    return ndim


cdef int read_items(object data, int depth, int ndim, cnp.npy_intp* shape, double* numbers,
                    int64_t* ints, int64_t* at) except -2:
    """Read the numbers of nested lists: 1 where one is a float, 0 where all are ints, or -1."""
    cdef int kind = 0, found
    if depth == ndim:
        if type(data) is float:
            numbers[at[0]] = data
            at[0] += 1
            return 1
        if type(data) is int and -1 << 53 <= data <= 1 << 53:
            ints[at[0]] = data
            numbers[at[0]] = <double>ints[at[0]]
            at[0] += 1
            return 0
        return -1
    if (type(data) is not list and type(data) is not tuple) or len(data) != shape[depth]:
        return -1
    for item in data:
        found = read_items(item, depth + 1, ndim, shape, numbers, ints, at)
        if found < 0:
            return -1
        kind |= found
    return kind


cdef enum:
    SMALL_DATA = 128


def array_of_numbers(data, dtype):
    """Nested lists of a few floats and ints as a new array, or None.

    In `dtype` (float32 or float64), or int64 for ints alone and the default dtype with floats.
    """
    cdef cnp.npy_intp shape[8]
    cdef double numbers[SMALL_DATA]
    cdef int64_t ints[SMALL_DATA]
    cdef int64_t at = 0, count = 1, i
    cdef int ndim = read_shape(data, shape), kind, num
    cdef cnp.ndarray out
    if ndim < 0:
        return None
    for i in range(ndim):
        count *= shape[i]
        if count > SMALL_DATA:
            return None
    kind = read_items(data, 0, ndim, shape, numbers, ints, &at)
    if kind < 0:
        return None
    num = cnp.NPY_INT64 if dtype is None and kind == 0 else plain_typenum(dtype)
    if num == cnp.NPY_INT64:
        if kind:
            return None
        out = empty_array(ndim, shape, num)
        memcpy(cnp.PyArray_DATA(out), ints, count * sizeof(int64_t))
    elif num == cnp.NPY_FLOAT:
        out = empty_array(ndim, shape, num)
        for i in range(count):
            (<float*>cnp.PyArray_DATA(out))[i] = <float>numbers[i]
    elif num == cnp.NPY_DOUBLE:
        out = empty_array(ndim, shape, num)
        memcpy(cnp.PyArray_DATA(out), numbers, count * sizeof(double))
    else:
        return None
    return out
