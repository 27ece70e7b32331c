# Kernels that look elements up by an index array. The checks are here, so that a call is one pass;
# dims in messages are those of the array at hand (inside vmap the batch counts).

cdef extern from "indices.hpp" namespace "tensorplay" nogil:
    cdef struct Walk:
        int ndim
        int dim
        const int64_t* shape
        const int64_t* strides
    ctypedef void (*Move)(const Walk&, const int64_t*, const void*, void*) noexcept
    ctypedef void (*AddRows)(void*, const int64_t*, const void*, int64_t, int64_t, int64_t,
                             int64_t) noexcept
    Move mover(int, bint)
    Move adder(char, int)
    AddRows row_adder(char, int)
    int64_t first_outside(const int64_t*, int64_t, int64_t)
    int64_t add_column(int64_t*, const int64_t*, int64_t, int64_t, int64_t)
    void put_rows(void*, const int64_t*, const void*, int64_t, int64_t, int64_t, int64_t)


cdef str outside_message(str name, object index, int64_t size, int dim, object x):
    return (f"{name}(): index {index} is out of bounds for dimension {dim} with size {size} of a "
            f"tensor of shape {list(x.shape)}")


cdef bint plan_walk(Walk* w, int64_t* shape, int64_t* strides, cnp.ndarray x, cnp.ndarray index,
                    int dim, str name) except -1:
    """Fill `w`; False where the strides of x are not whole elements."""
    cdef int ndim = cnp.PyArray_NDIM(index), d
    cdef int64_t item = cnp.PyArray_ITEMSIZE(x), outside
    if ndim != cnp.PyArray_NDIM(x) or ndim > 64:
        raise RuntimeError(
            f"{name}(): index must have as many dims as input, got shapes "
            f"{list((<object>index).shape)} and {list((<object>x).shape)}")
    for d in range(ndim):
        shape[d] = cnp.PyArray_DIMS(index)[d]
        strides[d] = cnp.PyArray_STRIDES(x)[d] // item
        if cnp.PyArray_STRIDES(x)[d] % item:
            return False
        if d != dim and shape[d] > cnp.PyArray_DIMS(x)[d]:
            raise RuntimeError(
                f"{name}(): index of shape {list((<object>index).shape)} must not be larger than "
                f"input of shape {list((<object>x).shape)} apart from dim {dim}")
    outside = first_outside(<const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_SIZE(index),
                            cnp.PyArray_DIMS(x)[dim])
    if outside >= 0:
        raise RuntimeError(outside_message(name, (<object>index).flat[outside],
                                           cnp.PyArray_DIMS(x)[dim], dim, x))
    w.ndim = ndim
    w.dim = dim
    w.shape = shape
    w.strides = strides
    return True


def is_within(cnp.ndarray index, int64_t size):
    """Whether all entries of an int64 array are in 0 .. size - 1."""
    index = ordered(index)
    return first_outside(<const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_SIZE(index),
                         size) < 0


def gather_kernel(cnp.ndarray x, cnp.ndarray index, int dim, str name):
    """`out[i, j] = x[index[i, j], j]` (for dim 0), for int64 indices that are not negative."""
    cdef int64_t shape[64]
    cdef int64_t strides[64]
    cdef Walk w
    cdef Move move = mover(cnp.PyArray_ITEMSIZE(x), False)
    cdef cnp.ndarray out
    index = ordered(index)
    if not cnp.PyArray_ISALIGNED(x) or not plan_walk(&w, shape, strides, x, index, dim, name):
        x = np.array(x, order="C", copy=True)
        plan_walk(&w, shape, strides, x, index, dim, name)
    out = empty_array(cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index),
                      cnp.PyArray_TYPE(x))
    if cnp.PyArray_SIZE(out) < GIL_SIZE:
        move(w, <const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_DATA(x),
             cnp.PyArray_DATA(out))
    else:
        with nogil:
            move(w, <const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_DATA(x),
                 cnp.PyArray_DATA(out))
    return out


def scatter_into(cnp.ndarray out, cnp.ndarray index, cnp.ndarray src, int dim, bint add, str name):
    """`out[index[i, j], j] = src[i, j]` (for dim 0), or `+=`; False for types it cannot add."""
    cdef int64_t shape[64]
    cdef int64_t strides[64]
    cdef Walk w
    cdef Move move
    cdef int d, item = cnp.PyArray_ITEMSIZE(out)
    move = adder(out.descr.kind, item) if add else mover(item, True)
    if move is NULL or not cnp.PyArray_ISALIGNED(out):
        return False
    index = ordered(index)
    src = ordered(src)
    if not plan_walk(&w, shape, strides, out, index, dim, name):
        return False
    for d in range(cnp.PyArray_NDIM(index)):
        if cnp.PyArray_NDIM(src) != cnp.PyArray_NDIM(index) or \
                cnp.PyArray_DIMS(src)[d] != shape[d]:
            raise RuntimeError(
                f"{name}(): expected src of the shape of index {list((<object>index).shape)}, got "
                f"{list((<object>src).shape)}")
    if cnp.PyArray_SIZE(index) < GIL_SIZE:
        move(w, <const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_DATA(src),
             cnp.PyArray_DATA(out))
    else:
        with nogil:
            move(w, <const int64_t*>cnp.PyArray_DATA(index), cnp.PyArray_DATA(src),
                 cnp.PyArray_DATA(out))
    return True


def index_rows(object shape, cnp.ndarray index, tuple dims, str name):
    """Indices for adjacent dims of an array as one index of all their elements together.

    index: an int64 array for one dim, or one array per dim, stacked. Negative entries count from
    the end.
    """
    cdef int count = len(dims), i, k
    cdef cnp.npy_intp sizes[64]
    cdef int64_t n, stride = 1, size, outside
    cdef cnp.ndarray rows
    index = ordered(index)
    k = 1 if count > 1 else 0
    for i in range(k, cnp.PyArray_NDIM(index)):
        sizes[i - k] = cnp.PyArray_DIMS(index)[i]
    rows = cnp.PyArray_ZEROS(cnp.PyArray_NDIM(index) - k, sizes, cnp.NPY_INT64, 0)
    n = cnp.PyArray_SIZE(rows)
    for i in range(count - 1, -1, -1):
        size = shape[dims[i]]
        outside = add_column(<int64_t*>cnp.PyArray_DATA(rows),
                             <const int64_t*>cnp.PyArray_DATA(index) + i * n, n, size, stride)
        if outside >= 0:
            found = (<const int64_t*>cnp.PyArray_DATA(index))[i * n + outside]
            raise IndexError(
                f"{name}(): index {found} is out of bounds for dimension {dims[i]} with size "
                f"{size} of a tensor of shape {list(shape)}")
        stride *= size
    return rows


def put_at_rows(cnp.ndarray out, cnp.ndarray rows, cnp.ndarray values, int64_t outer, int64_t size,
                bint add):
    """`out[o, rows[r], i] = values[o, r, i]`, or `+=`; False for what it cannot do.

    out: contiguous, seen as outer x size x inner. rows: from `index_rows`.
    """
    cdef int64_t count = cnp.PyArray_SIZE(rows), inner
    cdef int item = cnp.PyArray_ITEMSIZE(out)
    cdef AddRows function = row_adder(out.descr.kind, item)
    if not cnp.PyArray_IS_C_CONTIGUOUS(out) or not cnp.PyArray_ISALIGNED(out) or \
            (add and function is NULL) or cnp.PyArray_TYPE(out) != cnp.PyArray_TYPE(values):
        return False
    if cnp.PyArray_SIZE(out) == 0 or count == 0:
        return True
    inner = cnp.PyArray_SIZE(out) // (outer * size)
    values = ordered(values)
    if cnp.PyArray_SIZE(values) != outer * count * inner:
        return False
    with nogil:
        if add:
            function(cnp.PyArray_DATA(out), <const int64_t*>cnp.PyArray_DATA(rows),
                     cnp.PyArray_DATA(values), outer, size, count, inner)
        else:
            put_rows(cnp.PyArray_DATA(out), <const int64_t*>cnp.PyArray_DATA(rows),
                     cnp.PyArray_DATA(values), outer, size, count, inner * item)
    return True


def entries_kernel(cnp.ndarray x, cnp.ndarray index, int dim):
    """The entries of a contiguous x along a dim that an int64 index names, negative ones from the
    end; None for what is not plain, large, or out of range.
    """
    cdef cnp.npy_intp sizes[128]
    cdef int ndim = cnp.PyArray_NDIM(x), more = cnp.PyArray_NDIM(index), i
    cdef int64_t outer = 1, size = cnp.PyArray_DIMS(x)[dim], count = cnp.PyArray_SIZE(index)
    cdef int64_t inner = cnp.PyArray_ITEMSIZE(x), o, k, at
    cdef const int64_t* places
    cdef char* source
    cdef char* target
    cdef cnp.ndarray out
    if cnp.PyArray_TYPE(index) != cnp.NPY_INT64 or not cnp.PyArray_IS_C_CONTIGUOUS(x) \
            or ndim + more > 64 or count > SMALL_SIZE or cnp.PyArray_SIZE(x) > SMALL_SIZE:
        return None
    index = ordered(index)
    for i in range(ndim):
        if i < dim:
            sizes[i] = cnp.PyArray_DIMS(x)[i]
            outer *= sizes[i]
        elif i > dim:
            sizes[i + more - 1] = cnp.PyArray_DIMS(x)[i]
            inner *= cnp.PyArray_DIMS(x)[i]
    for i in range(more):
        sizes[dim + i] = cnp.PyArray_DIMS(index)[i]
    out = empty_array(ndim + more - 1, sizes, cnp.PyArray_TYPE(x))
    places = <const int64_t*>cnp.PyArray_DATA(index)
    source = <char*>cnp.PyArray_DATA(x)
    target = <char*>cnp.PyArray_DATA(out)
    for o in range(outer):
        for k in range(count):
            at = places[k]
            if at < 0:
                at += size
            if at < 0 or at >= size:
                return None
            memcpy(target, source + at * inner, inner)
            target += inner
        source += size * inner
    return out
