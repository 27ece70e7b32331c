# Reading tensors: concrete values, sizes, strides. Most of these are also methods of Tensor.

def array_of(Tensor x, str wanted="its values"):
    """The array behind a tensor.

    A tensor inside a function-transform gradient has one too; one that differs from sample to
    sample of a vmap has not.

    Raises:
        RuntimeError: inside vmap; `wanted` says what was asked for.
    """
    while x._array is None:
        if x._bdim >= 0:
            raise RuntimeError(box_message(x, wanted))
        x = x._value
    return x._array


def box_message(Tensor x, str wanted):
    """What to say when the concrete values of a tensor inside a transform are asked for."""
    return (f"{wanted} cannot be read inside vmap or a function transform, where a tensor stands "
            "for a whole batch: use tensor operations (tensorplay.where for a choice, "
            "out_dims for results), or move this step outside")


cdef object scalar_of(Tensor x, str name):
    """The one element of a tensor as a Python number."""
    cdef cnp.ndarray array = x._array if x._array is not None else array_of(x, name + "()")
    cdef int num = cnp.PyArray_TYPE(array)
    if cnp.PyArray_SIZE(array) != 1:
        raise (RuntimeError if name in ("item", "bool") else ValueError)(
            f"{name}(): only a tensor of one element has one value, got shape "
            f"{list(shape_of(x))}; reduce it first, e.g. with .any(), .all() or .sum()")
    if num == cnp.NPY_FLOAT:
        return (<float*>cnp.PyArray_DATA(array))[0]
    if num == cnp.NPY_DOUBLE:
        return (<double*>cnp.PyArray_DATA(array))[0]
    if num == cnp.NPY_INT64:
        return (<int64_t*>cnp.PyArray_DATA(array))[0]
    if num == cnp.NPY_BOOL:
        return (<char*>cnp.PyArray_DATA(array))[0] != 0
    value = (<object>array).item()
    return float(value) if isinstance(value, np.generic) else value   # bfloat16


cdef object float_of(object value):
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(
                f"float(): the complex value {value} is not real; take .real or .abs() first")
        return value.real
    return float(value)


cdef object index_of(Tensor x):
    if dtype_of(x).category > 1:
        raise TypeError(
            f"__index__(): only integer tensors of a single element can be converted to an index, "
            f"got dtype {dtype_of(x)}")
    if numel(x) != 1:
        raise TypeError(
            f"__index__(): only integer tensors of a single element can be converted to an index, "
            f"got shape {list(shape_of(x))}")
    return int(scalar_of(x, "__index__"))


def item(Tensor self):
    """The one element of this tensor as a Python number.

    Raises:
        RuntimeError: if there are several elements or none.

    >>> import tensorplay as tp
    >>> tp.tensor([[2.5]]).item()
    2.5
    """
    return scalar_of(self, "item")


def numel(Tensor input):
    """The number of elements.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).numel()
    6
    """
    if input._array is not None:
        return cnp.PyArray_SIZE(<cnp.ndarray>input._array)
    count = 1
    for size in shape_of(input):
        count *= size
    return count


cdef int checked_dim(Tensor x, dim, str name) except -1:
    cdef int ndim = ndim_of(x)
    cdef long number = dim
    if not -ndim <= number < ndim:
        raise IndexError(f"{name}(): dim {dim} is out of range for a tensor of {ndim} dims and "
                         f"shape {list(shape_of(x))}")
    return number if number >= 0 else number + ndim


def size(Tensor self, dim=None):
    """The shape, or the size of one dimension.

    Raises:
        IndexError: if `dim` is out of range.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).size(), tp.zeros(2, 3).size(-1)
    (tensorplay.Size([2, 3]), 3)
    """
    if dim is None:
        return size_of(self)
    return shape_of(self)[checked_dim(self, dim, "size")]


def dim(Tensor self):
    """The number of dimensions."""
    return ndim_of(self)


cdef tuple strides_of(Tensor x):
    """Steps in elements from one entry to the next, along each dimension."""
    cdef tuple inner
    if x._array is not None:
        itemsize = x._array.itemsize
        return tuple([step // itemsize for step in x._array.strides])
    inner = strides_of(x._value)
    if x._bdim >= 0:
        return inner[:x._bdim] + inner[x._bdim + 1:]
    return inner


def stride(Tensor self, dim=None):
    """How many elements lie between neighbours, along each dimension or along one.

    Raises:
        IndexError: if `dim` is out of range.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).stride()
    (3, 1)
    """
    if dim is None:
        return strides_of(self)
    return strides_of(self)[checked_dim(self, dim, "stride")]


cdef bint is_dense(tuple shape, tuple strides, object order):
    """Whether elements follow each other in memory, the last dim of `order` fastest."""
    expected = 1
    for dim in reversed(order):
        if shape[dim] != 1 and strides[dim] != expected:
            return 0 in shape
        expected *= shape[dim]
    return True


def is_contiguous(Tensor self, memory_format=None):
    """Whether the elements lie in memory without gaps, in the order of their indices.

    memory_format: `channels_last` and `channels_last_3d` ask for the order in which the dim after
    the first varies fastest.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).is_contiguous(), tp.zeros(2, 3).t().is_contiguous()
    (True, False)
    """
    cdef int ndim = ndim_of(self)
    name = getattr(memory_format, "name", "contiguous_format")
    if name.startswith("channels_last"):
        if ndim != (5 if name.endswith("3d") else 4):
            return False
        return is_dense(shape_of(self), strides_of(self), (0, *range(2, ndim), 1))
    if self._array is not None:
        return bool(cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>self._array))
    return is_dense(shape_of(self), strides_of(self), tuple(range(ndim)))


def data_ptr(Tensor self):
    """The address of the first element."""
    return <size_t>cnp.PyArray_DATA(<cnp.ndarray>array_of(self, "data_ptr()"))


def storage_offset(Tensor self):
    """How many elements of the memory that this tensor looks into lie before its first one."""
    array = array_of(self, "storage_offset()")
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    distance = <size_t>cnp.PyArray_DATA(<cnp.ndarray>array)
    return (<Py_ssize_t>(distance - <size_t>cnp.PyArray_DATA(<cnp.ndarray>owner))) \
        // array.itemsize


cdef extern from "Python.h":
    object PyObject_GenericGetDict(object, void*)


def attributes_of(Tensor x):
    """The dictionary of attributes that users set on a tensor (made when first asked for)."""
    return PyObject_GenericGetDict(x, NULL)


cdef extern from "numpy/arrayobject.h":
    ctypedef struct _Descr "PyArray_Descr":
        pass
    object PyArray_NewFromDescr(PyTypeObject*, _Descr*, int, cnp.npy_intp*, cnp.npy_intp*, void*,
                                int, PyObject*)
    int PyArray_SetBaseObject(cnp.ndarray, object) except -1


def broadcast_kernel(cnp.ndarray x, tuple shape):
    """x seen in a larger shape, with stride 0 where it repeats; writable where x is."""
    cdef cnp.npy_intp sizes[64]
    cdef cnp.npy_intp strides[64]
    cdef int ndim = len(shape), have = cnp.PyArray_NDIM(x), i, k
    cdef cnp.ndarray out
    for i in range(ndim):
        sizes[i] = shape[i]
        k = i - (ndim - have)
        if k >= 0 and cnp.PyArray_DIMS(x)[k] == sizes[i]:
            strides[i] = cnp.PyArray_STRIDES(x)[k]
        elif k < 0 or cnp.PyArray_DIMS(x)[k] == 1:
            strides[i] = 0
        else:
            raise ValueError(f"shape {list((<object>x).shape)} does not broadcast to {list(shape)}")
    return view_of(x, ndim, sizes, strides, cnp.PyArray_DATA(x))


cdef cnp.ndarray view_of(cnp.ndarray x, int ndim, cnp.npy_intp* sizes, cnp.npy_intp* strides,
                         void* data):
    """Another array over the memory of x."""
    cdef PyObject* kind = <PyObject*>cnp.PyArray_DESCR(x)
    cdef cnp.ndarray out
    Py_XINCREF(kind)
    out = PyArray_NewFromDescr(<PyTypeObject*>cnp.ndarray, <_Descr*>kind, ndim, sizes, strides,
                               data, cnp.PyArray_FLAGS(x) & cnp.NPY_ARRAY_WRITEABLE, NULL)
    PyArray_SetBaseObject(out, x)
    Py_INCREF(x)
    return out


cdef class Registered:
    """An attribute of a module that is found among its parameters, without `__getattr__`.

    What is set on the module itself under that name comes first.
    """

    cdef str name

    def __init__(self, str name):
        self.name = name

    def __get__(self, instance, owner):
        cdef dict parameters
        if instance is not None:
            parameters = (<dict>PyObject_GenericGetDict(instance, NULL)).get("_parameters")
            if parameters is not None and self.name in parameters:
                return parameters[self.name]
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'")
