# Random numbers for small tensors, from NumPy's bit generators: the same numbers, in a single call.

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        pass

cdef extern from "numpy/random/distributions.h":
    void random_standard_uniform_fill_f(bitgen_t*, cnp.npy_intp, float*) nogil
    void random_standard_uniform_fill(bitgen_t*, cnp.npy_intp, double*) nogil
    void random_standard_normal_fill_f(bitgen_t*, cnp.npy_intp, float*) nogil
    void random_standard_normal_fill(bitgen_t*, cnp.npy_intp, double*) nogil

cdef extern from "Python.h":
    void* PyCapsule_GetPointer(object, const char*) except NULL


def drawn(source, bint normal, sizes, dtype, special, requires_grad):
    """A small tensor of uniform or normal numbers from a NumPy bit generator, or None.

    sizes: ints, or one sequence of them. special: arguments that have to be None.
    """
    cdef cnp.npy_intp shape[64]
    cdef int ndim, num
    cdef cnp.npy_intp n
    cdef cnp.ndarray array
    cdef bitgen_t* bits
    for item in <tuple>special:
        if item is not None:
            return None
    if type(requires_grad) is not bool or not no_levels():
        return None
    num = plain_typenum(dtype)
    ndim = plain_sizes(sizes, shape)
    if ndim < 0 or (num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE):
        return None
    n = 1
    for i in range(ndim):
        n *= shape[i]
        if n > SMALL_SIZE:
            return None
    array = empty_array(ndim, shape, num)
    bits = <bitgen_t*>PyCapsule_GetPointer(source.capsule, "BitGenerator")
    data = cnp.PyArray_DATA(array)
    with source.lock:
        if num == cnp.NPY_FLOAT:
            if normal:
                random_standard_normal_fill_f(bits, n, <float*>data)
            else:
                random_standard_uniform_fill_f(bits, n, <float*>data)
        elif normal:
            random_standard_normal_fill(bits, n, <double*>data)
        else:
            random_standard_uniform_fill(bits, n, <double*>data)
    return fresh(array, requires_grad)


def kept_factors(source, tuple size, float p, double scale, dtype):
    """`scale` where a uniform float32 is at least p, else 0; None unless small and real."""
    cdef cnp.npy_intp shape[64]
    cdef float numbers[SMALL_SIZE]
    cdef cnp.npy_intp n = 1, i
    cdef int ndim = plain_sizes(size, shape), num = plain_typenum(dtype)
    cdef cnp.ndarray array
    cdef bitgen_t* bits
    if ndim < 0 or (num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE):
        return None
    for i in range(ndim):
        n *= shape[i]
        if n > SMALL_SIZE:
            return None
    array = empty_array(ndim, shape, num)
    bits = <bitgen_t*>PyCapsule_GetPointer(source.capsule, "BitGenerator")
    with source.lock:
        random_standard_uniform_fill_f(bits, n, numbers)
    if num == cnp.NPY_FLOAT:
        for i in range(n):
            (<float*>cnp.PyArray_DATA(array))[i] = <float>scale if numbers[i] >= p else 0
    else:
        for i in range(n):
            (<double*>cnp.PyArray_DATA(array))[i] = scale if numbers[i] >= p else 0
    return array
