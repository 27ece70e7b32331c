# Kernels of small arrays that go element by element: comparison, NaN, other dtypes.

def same_elements(cnp.ndarray x, cnp.ndarray y):
    """Whether two arrays of one shape and dtype have equal elements; NaN equals nothing."""
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    if not is_small(x) or not is_loop_array(x) or not cnp.PyArray_IS_C_CONTIGUOUS(y):
        return bool((<object>x == <object>y).all())
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        for i in range(n):
            if (<float*>cnp.PyArray_DATA(x))[i] != (<float*>cnp.PyArray_DATA(y))[i]:
                return False
    else:
        for i in range(n):
            if (<double*>cnp.PyArray_DATA(x))[i] != (<double*>cnp.PyArray_DATA(y))[i]:
                return False
    return True


def nan_kernel(cnp.ndarray x):
    """Whether each element is NaN."""
    cdef cnp.ndarray out
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    cdef char* found
    if not is_loop_array(x) or n > SMALL_SIZE:
        return <object>x != <object>x
    out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.NPY_BOOL)
    found = <char*>cnp.PyArray_DATA(out)
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
        for i in range(n):
            found[i] = (<float*>cnp.PyArray_DATA(x))[i] != (<float*>cnp.PyArray_DATA(x))[i]
    else:
        for i in range(n):
            found[i] = (<double*>cnp.PyArray_DATA(x))[i] != (<double*>cnp.PyArray_DATA(x))[i]
    return out


def cast_kernel(cnp.ndarray x, dtype, source):
    """x in another dtype, as a copy; complex numbers lose their imaginary part for a real one."""
    cdef int num = (<cnp.dtype>dtype.numpy).num, have = cnp.PyArray_TYPE(x)
    cdef int64_t n = cnp.PyArray_SIZE(x), i
    cdef cnp.ndarray out
    if n <= SMALL_SIZE and cnp.PyArray_IS_C_CONTIGUOUS(x):
        if num == cnp.NPY_DOUBLE and have == cnp.NPY_FLOAT:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<double*>cnp.PyArray_DATA(out))[i] = (<float*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_DOUBLE:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = <float>(<double*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_INT64:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = <float>(<int64_t*>cnp.PyArray_DATA(x))[i]
            return out
        if num == cnp.NPY_FLOAT and have == cnp.NPY_BOOL:
            out = empty_array(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), num)
            for i in range(n):
                (<float*>cnp.PyArray_DATA(out))[i] = (<char*>cnp.PyArray_DATA(x))[i] != 0
            return out
    token = quiet_enter()
    try:
        values = x.real if is_complex_num(have) and dtype.category < 3 else x
        return cast(values, dtype.numpy)
    finally:
        quiet_leave(token)
