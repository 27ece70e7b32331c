# The tensor object.

# Bits of Tensor.flags. A plain tensor (none of SLOW) takes the fast paths.
cdef enum:
    REQUIRES_GRAD = 1
    TANGENT = 2        # carries tangents of some forward level
    BOX = 4            # a value inside a vmap or a function-transform gradient
    VIEW = 8           # a differentiable view: its history may be behind its base's
    WEAK = 16          # made from a Python number: takes part in promotion as one
    RETAIN_GRAD = 32
    INFERENCE = 64
    NO_INPLACE = 128   # one of several views of an op: must not be changed in place
    NO_GRAD_VIEW = 256  # a view made while grad mode was off
    CUSTOM_VIEW = 512  # a view returned by a custom function, whose rule its history must keep
    NUMBER = 1024      # made from a Python number beside a tensor: hooks do not see it saved
    SLOW = TANGENT | BOX | INFERENCE


@cython.freelist(64)
cdef class ViewInfo:
    """How a view comes from its base: `primitive(parent, *params)`, parent itself maybe a view."""

    cdef readonly Tensor base
    cdef readonly Tensor parent
    cdef readonly Primitive primitive
    cdef readonly tuple params
    cdef readonly int output_nr
    cdef object memory           # the parent's array (in a box, its value) as it was then
    cdef int bdim
    cdef long seen               # version of the base that the view's history reflects
    cdef Node made_at            # of a view made under no_grad: the base's history at that time
    cdef str maker               # of a view that a custom function returned: that function


cdef class Tensor:
    """A multi-dimensional array that records how it was computed.

    Made by `tensorplay.tensor` and the other creation functions, never by this class directly.
    """

    cdef object _array           # the payload; None in a box
    cdef Tensor _value           # what a box holds: a tensor one or more levels down
    cdef int _bdim               # dimension of the batch in a box's value; -1: not batched
    cdef long _level             # the level of a box; 0: a plain tensor
    cdef unsigned int flags
    cdef int output_nr
    cdef Node _grad_fn
    cdef Version version         # None until something shares or changes the memory
    cdef dict tangents           # forward level id -> Tensor
    cdef Tensor _grad
    cdef ViewInfo view
    cdef object hooks            # of a leaf: {key: hook}
    cdef object post_hooks       # of a leaf: hooks run after .grad was accumulated
    cdef PyObject* accumulator   # borrowed: the AccumulateGrad node while a graph keeps it alive
    cdef PyObject* attributes    # what the user set on it: a dict, or NULL (see slots.h)
    cdef object __weakref__

    # --- shape and type ---

    @property
    def shape(self):
        """Sizes of the dimensions, a `Size` (a tuple)."""
        return size_of(self)

    @property
    def ndim(self):
        """Number of dimensions."""
        return ndim_of(self)

    @property
    def dtype(self):
        """Element type."""
        return dtype_of(self)

    @property
    def is_box(self):
        """Whether this is a tensor inside a vmap or a function transform."""
        return (self.flags & BOX) != 0

    @property
    def _version(self):
        """How many in-place operations have changed this tensor's memory."""
        return 0 if self.version is None else self.version.value

    @property
    def _base(self):
        """The tensor this is a view of; None when it is not a view."""
        return None if self.view is None else self.view.base

    # --- autograd state ---

    @property
    def requires_grad(self):
        """Whether operations on this tensor are recorded for reverse mode."""
        if self.flags & VIEW:
            refresh(self)
        return (self.flags & REQUIRES_GRAD) != 0

    @requires_grad.setter
    def requires_grad(self, value):
        set_requires_grad(self, value)

    @property
    def grad_fn(self):
        """The graph node that made this tensor; None for a leaf."""
        if self.flags & VIEW:
            refresh(self)
        if type(self._grad_fn) is AccumulateGrad:  # an alias of a leaf
            return None
        return self._grad_fn

    @property
    def is_leaf(self):
        """True unless this tensor was made by a recorded operation."""
        if self.flags & VIEW:
            refresh(self)
        return self._grad_fn is None or type(self._grad_fn) is AccumulateGrad

    @property
    def output_number(self):
        """Which output of `grad_fn` this is."""
        return self.output_nr

    @property
    def grad(self):
        """The accumulated gradient; None until a backward pass has reached this tensor."""
        if self._grad is None and not (self.flags & RETAIN_GRAD):
            if self.grad_fn is not None:
                warnings.warn(
                    "The .grad attribute of a Tensor that is not a leaf is being read; it is only "
                    "filled for leaves. Call .retain_grad() on this tensor before backward() if "
                    "its gradient is wanted.", UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value):
        set_grad(self, value)

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def retains_grad(self):
        """True for a non-leaf whose gradient will be kept."""
        return (self.flags & RETAIN_GRAD) != 0

    def __hash__(self):
        return (<size_t><void*>self) >> 4

    # --- operators: one entry each, so that the interpreter's slots lead straight to the core ---

    def __add__(a, b):
        return operator_call(OP_ADD, a, b)

    def __sub__(a, b):
        return operator_call(OP_SUB, a, b)

    def __mul__(a, b):
        return operator_call(OP_MUL, a, b)

    def __truediv__(a, b):
        return operator_call(OP_DIV, a, b)

    def __pow__(a, b, modulo):
        return operator_call(OP_POW, a, b)

    def __matmul__(a, b):
        return operator_call(OP_MATMUL, a, b)

    def __floordiv__(a, b):
        return operator_call(OP_FLOORDIV, a, b)

    def __mod__(a, b):
        return operator_call(OP_MOD, a, b)

    def __and__(a, b):
        return operator_call(OP_AND, a, b)

    def __or__(a, b):
        return operator_call(OP_OR, a, b)

    def __xor__(a, b):
        return operator_call(OP_XOR, a, b)

    def __lshift__(a, b):
        return operator_call(OP_LSHIFT, a, b)

    def __rshift__(a, b):
        return operator_call(OP_RSHIFT, a, b)

    def __iadd__(self, b):
        return operators[OP_IADD](self, b)

    def __isub__(self, b):
        return operators[OP_ISUB](self, b)

    def __imul__(self, b):
        return operators[OP_IMUL](self, b)

    def __itruediv__(self, b):
        return operators[OP_IDIV](self, b)

    def __ipow__(self, b):
        return operators[OP_IPOW](self, b)

    def __iand__(self, b):
        return operators[OP_IAND](self, b)

    def __ior__(self, b):
        return operators[OP_IOR](self, b)

    def __ixor__(self, b):
        return operators[OP_IXOR](self, b)

    def __ifloordiv__(self, b):
        return operators[OP_IFLOORDIV](self, b)

    def __imod__(self, b):
        return operators[OP_IMOD](self, b)

    def __ilshift__(self, b):
        return operators[OP_ILSHIFT](self, b)

    def __irshift__(self, b):
        return operators[OP_IRSHIFT](self, b)

    def __neg__(self):
        return unary_call(<Primitive>operators[OP_NEG], self)

    def __pos__(self):
        return self

    def __abs__(self):
        return operators[OP_ABS](self)

    def __invert__(self):
        return operators[OP_INVERT](self)

    def __richcmp__(a, b, int op):
        return operator_call(OP_LT + op, a, b)

    def __getitem__(self, index):
        return operators[OP_GETITEM](self, index)

    def __setitem__(self, index, value):
        operators[OP_SETITEM](self, index, value)

    def __len__(self):
        if ndim_of(self) == 0:
            raise TypeError("len() of a 0-d tensor")
        return size_along(self, 0)

    def __iter__(self):
        return operators[OP_ITER](self)

    def __contains__(self, value):
        return operators[OP_CONTAINS](self, value)

    # --- as a Python number, or as text ---

    def __bool__(self):
        return scalar_of(self, "bool") != 0

    def __int__(self):
        return int(scalar_of(self, "int"))

    def __float__(self):
        return float_of(scalar_of(self, "float"))

    def __complex__(self):
        return complex(scalar_of(self, "complex"))

    def __index__(self):
        return index_of(self)

    def __repr__(self):
        return operators[OP_REPR](self)

    def __str__(self):
        return operators[OP_REPR](self)


cdef extern from "slots.h" namespace "tensorplay" nogil:
    void enable_attributes "tensorplay::Attributes::enable"(PyTypeObject*, Py_ssize_t)
    void enable_tensor_pool "tensorplay::Pool<0>::enable"(PyTypeObject*, Py_ssize_t)


cdef Py_ssize_t collector_header(object probe):
    """Bytes that the cyclic collector keeps in front of an object."""
    return sys.getsizeof(probe) - probe.__sizeof__()


cdef set_tensor_slots():
    cdef Tensor probe = Tensor.__new__(Tensor)
    enable_attributes(<PyTypeObject*>Tensor, <char*>&probe.attributes - <char*><PyObject*>probe)
    enable_tensor_pool(<PyTypeObject*>Tensor, collector_header(probe))


set_tensor_slots()


class Size(tuple):
    """The sizes of a tensor's dimensions: a tuple of ints with `numel()`.

    >>> import tensorplay as tp
    >>> tp.zeros(2, 3).shape
    tensorplay.Size([2, 3])
    """

    __slots__ = ()

    def numel(self):
        """The number of elements of a tensor of this size."""
        total = 1
        for size in self:
            total *= size
        return total

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __repr__(self):
        return f"tensorplay.Size([{', '.join(map(str, self))}])"


cdef extern from "Python.h":
    PyObject* PyType_GenericAlloc(PyTypeObject*, Py_ssize_t) except NULL


cdef object size_of(Tensor x):
    """The shape as a `Size`, made at once: the constructor of a subclass of tuple copies twice."""
    cdef cnp.ndarray array
    cdef PyObject* made
    cdef int i, ndim
    cdef object size
    if x._array is None:
        return Size(shape_of(x))
    array = x._array
    ndim = cnp.PyArray_NDIM(array)
    made = PyType_GenericAlloc(<PyTypeObject*>Size, ndim)
    result = <object>made
    Py_XDECREF(made)
    for i in range(ndim):
        size = cnp.PyArray_DIMS(array)[i]
        Py_INCREF(size)
        PyTuple_SET_ITEM(<tuple>result, i, size)
    return result


# The operators of the interpreter, filled by `set_operator` when the ops are defined.
cdef enum:
    OP_ADD = 0
    OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_MATMUL, OP_FLOORDIV, OP_MOD
    OP_AND, OP_OR, OP_XOR, OP_LSHIFT, OP_RSHIFT
    OP_IADD, OP_ISUB, OP_IMUL, OP_IDIV, OP_IPOW, OP_IAND, OP_IOR, OP_IXOR
    OP_IFLOORDIV, OP_IMOD, OP_ILSHIFT, OP_IRSHIFT
    OP_NEG, OP_ABS, OP_INVERT
    OP_LT, OP_LE, OP_EQ, OP_NE, OP_GT, OP_GE      # in the order of Py_LT ... Py_GE
    OP_GETITEM, OP_SETITEM, OP_ITER, OP_CONTAINS, OP_REPR
    OP_COUNT

OPERATOR_NAMES = (
    "add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod", "and", "or", "xor",
    "lshift", "rshift", "iadd", "isub", "imul", "itruediv", "ipow", "iand", "ior", "ixor",
    "ifloordiv", "imod", "ilshift", "irshift", "neg", "abs", "invert",
    "lt", "le", "eq", "ne", "gt", "ge", "getitem", "setitem",
    "iter", "contains", "repr",
)
cdef list operators = [None] * OP_COUNT


def set_operator(str name, function):
    """Make `function` what the interpreter's operator `name` (as in `__name__`) calls."""
    operators[OPERATOR_NAMES.index(name)] = function


cdef object operator_call(int op, object a, object b):
    function = operators[op]
    if type(function) is Primitive:
        if (<Primitive>function).fast >= FAST_BINARY:
            result = binary_fast(<Primitive>function, a, b)
            if result is not None:
                return result
        # Arrays and numbers are operands; anything else may know what to do with a tensor.
    other = b if isinstance(a, Tensor) else a
    if not isinstance(other, Tensor):
        if isinstance(other, (np.ndarray, np.generic)) and not isinstance(other, np.bool_):
            other = from_operand(other)
            return function(a, other) if isinstance(a, Tensor) else function(other, b)
        if not isinstance(other, (int, float, complex, np.bool_)):
            return NotImplemented
    return function(a, b)


cdef object from_operand(object value):
    if isinstance(value, np.generic):
        return value.item()
    return wrap_array(value)


def install(str name, value):
    """Set attribute `name` of the Tensor type (methods come from the tables of `ops`)."""
    cdef PyTypeObject* kind = <PyTypeObject*>Tensor
    (<dict>kind.tp_dict)[name] = value
    PyType_Modified(kind)


# --- making and reading tensors -------------------------------------------------------------------

cdef extern from "Python.h":
    void PyType_Modified(PyTypeObject*)
    int PyObject_TypeCheck(object, PyTypeObject*)
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    PyObject** PySequence_Fast_ITEMS(object)
    PyObject* PyVectorcall_Call(PyObject*, PyObject*, PyObject*) except NULL
    object PyObject_Vectorcall(object, PyObject* const*, size_t, PyObject*)
    PyObject* PyMethod_New(PyObject*, PyObject*) except NULL
    int PyErr_CheckSignals() except -1
    Py_ssize_t Py_REFCNT(PyObject*)
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL


cdef inline bint is_tensor(object x) noexcept:
    return PyObject_TypeCheck(x, <PyTypeObject*>Tensor)


cdef inline Tensor new_tensor(object array):
    cdef Tensor out = Tensor.__new__(Tensor)
    out._array = array
    out._bdim = -1
    return out


cdef Tensor wrap_array(object array):
    """A tensor over an array or NumPy scalar, in native byte order and of a supported dtype."""
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    if dtype_by_num.get((<cnp.ndarray>array).descr.type_num) is None or \
            not array.dtype.isnative:
        _dtypes.from_numpy(array.dtype)
        array = array.astype(array.dtype.newbyteorder("="))
    return new_tensor(array)


def from_array(array):
    """A plain tensor that shares memory with `array`: the one place where arrays become tensors."""
    cdef Tensor out = wrap_array(array)
    if tp_modes & MODE_INFERENCE:
        out.flags |= INFERENCE
    return out


def new_subclass(kind, array):
    """An instance of a Tensor subclass over `array`."""
    cdef Tensor out = kind.__new__(kind)
    out._array = array
    out._bdim = -1
    return out


cdef dict dtype_by_num = {}
for _dtype in _dtypes.ALL:
    dtype_by_num[np.dtype(_dtype.numpy).num] = _dtype


cdef inline object dtype_of(Tensor x):
    while x._array is None:
        x = x._value
    return dtype_by_num[(<cnp.ndarray>x._array).descr.type_num]


cdef inline int typenum_of(Tensor x) noexcept:
    while x._array is None:
        x = x._value
    return cnp.PyArray_TYPE(<cnp.ndarray>x._array)


cdef inline int ndim_of(Tensor x) noexcept:
    if x._array is not None:
        return cnp.PyArray_NDIM(<cnp.ndarray>x._array)
    return ndim_of(x._value) - (x._bdim >= 0)


cdef tuple shape_of(Tensor x):
    cdef tuple inner
    if x._array is not None:
        return (<object>x._array).shape
    inner = shape_of(x._value)
    if x._bdim >= 0:
        return inner[:x._bdim] + inner[x._bdim + 1:]
    return inner


cdef Py_ssize_t size_along(Tensor x, int dim):
    return shape_of(x)[dim]


cdef bint same_shape(Tensor a, Tensor b):
    cdef cnp.ndarray x, y
    cdef int i
    if a._array is None or b._array is None:
        return shape_of(a) == shape_of(b)
    x = a._array
    y = b._array
    if cnp.PyArray_NDIM(x) != cnp.PyArray_NDIM(y):
        return False
    for i in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIMS(x)[i] != cnp.PyArray_DIMS(y)[i]:
            return False
    return True


cdef inline bint is_differentiable_typenum(int num) noexcept:
    # 23: float16; user types from 256 on: bfloat16.
    return num == 23 or cnp.NPY_FLOAT <= num <= cnp.NPY_CLONGDOUBLE or num >= 256


def is_differentiable_dtype(Tensor x):
    """Whether gradients are defined for tensors of x's dtype (floating point or complex)."""
    return is_differentiable_typenum(typenum_of(x))


# --- aliases, detaching, requires_grad ------------------------------------------------------------

cdef Version version_of(Tensor x):
    if x.version is None:
        x.version = Version.__new__(Version)
    return x.version


cdef inline void count_change(Tensor x, long by=1):
    cdef Version version = version_of(x)
    version.value += by


cdef Tensor alias(Tensor x, bint history):
    """Another tensor over the same memory; with `history`, at the same place in the graph."""
    cdef Tensor out = Tensor.__new__(Tensor)
    out._array = x._array
    out._value = x._value
    out._bdim = x._bdim
    out._level = x._level
    out.flags = x.flags & (BOX | WEAK | INFERENCE)
    out.version = version_of(x)
    if history and x.flags & REQUIRES_GRAD:
        out._grad_fn = edge_of(x)
        out.output_nr = x.output_nr
        out.flags |= REQUIRES_GRAD
    if x.attributes is not NULL and x.flags & BOX:
        carry(out, x)
    return out


def detach(Tensor x, bint tangents=True):
    """A tensor over the same memory that is not part of the graph; its tangents are not either."""
    cdef Tensor out = alias(x, False)
    if not tangents and out.attributes is not NULL:     # what an interpreted level knows of x
        Py_XDECREF(out.attributes)
        out.attributes = NULL
    if x._value is not None:
        out._value = detach(x._value, tangents)
    if tangents and x.tangents is not None:
        set_tangents(out, {level: detach(tangent) for level, tangent in x.tangents.items()})
    return out


def alias_with_history(Tensor x):
    """Another object for the same tensor: memory, version and place in the graph are shared."""
    cdef Tensor out
    if x.flags & VIEW:
        refresh(x)
    out = alias(x, True)
    out.tangents = x.tangents
    out.flags |= x.flags & TANGENT
    return out


cdef void set_tangents(Tensor x, dict tangents) noexcept:
    x.tangents = tangents
    if tangents:
        x.flags |= TANGENT
    else:
        x.flags &= ~<unsigned int>TANGENT


cdef set_requires_grad(Tensor x, value):
    if value is not True and value is not False:
        value = bool(value)
    if x.flags & VIEW:
        refresh(x)
    if x._grad_fn is not None and type(x._grad_fn) is not AccumulateGrad:
        if value:
            return
        raise RuntimeError(
            "requires_grad_(): only leaf tensors can stop requiring grad; use .detach() for a "
            "tensor outside the graph")
    if value:
        if not is_differentiable_typenum(typenum_of(x)):
            raise RuntimeError(
                f"requires_grad_(): only tensors of floating point and complex dtype can require "
                f"gradients, got dtype {dtype_of(x)}; convert it first, e.g. with .float()")
        if x.flags & INFERENCE and not tp_modes & MODE_INFERENCE:
            raise RuntimeError(
                "requires_grad_(): an inference tensor cannot require grad outside inference_mode; "
                "use .clone() to make a normal tensor")
        x.flags |= REQUIRES_GRAD
    else:
        x.flags &= ~<unsigned int>REQUIRES_GRAD
        x._grad_fn = None


cdef set_grad(Tensor x, value):
    if value is None:
        x._grad = None
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"grad: expected a Tensor or None, got {type(value).__name__}")
    if value is x:
        raise RuntimeError("grad: cannot assign a tensor as its own gradient")
    if shape_of(value) != shape_of(x):
        raise RuntimeError(
            f"grad: assigned a gradient of shape {list(shape_of(value))} to a tensor of shape "
            f"{list(shape_of(x))}")
    if dtype_of(value) is not dtype_of(x):
        raise RuntimeError(
            f"grad: assigned a gradient of dtype {dtype_of(value)} to a tensor of dtype "
            f"{dtype_of(x)}")
    x._grad = value


def retain_grad(Tensor self):
    """Keep the gradient of this non-leaf tensor in `.grad` when a backward pass reaches it."""
    if self.flags & VIEW:
        refresh(self)
    if not self.flags & REQUIRES_GRAD:
        raise RuntimeError("retain_grad(): this tensor has requires_grad=False")
    if self._grad_fn is None or type(self._grad_fn) is AccumulateGrad or self.flags & RETAIN_GRAD:
        return
    self.flags |= RETAIN_GRAD
    self._grad_fn.add_retain(self)


def zeros_of(Tensor x):
    """Zeros of x's shape and dtype that take no memory (a broadcast, read-only array)."""
    cdef object kind = dtype_of(x).numpy
    return new_tensor(broadcast_kernel(np.zeros((), dtype=kind), shape_of(x)))


def zeros_shaped(Tensor like, tuple shape):
    """Zeros of a given shape, in the dtype of `like`, that take no memory."""
    return new_tensor(broadcast_kernel(np.zeros((), dtype=dtype_of(like).numpy), shape))


def can_view(Tensor x, tuple shape):
    """Whether the memory of x can be seen in another shape without a copy."""
    cdef object array
    cdef Tensor value
    cdef int previous
    if x._array is None:
        value = x._value
        if x._bdim < 0:
            return can_view(value, shape)
        if x._bdim > 0:
            previous = set_grad_mode(False)
            try:
                value = _layer["movedim"](value, x._bdim, 0)
            finally:
                set_grad_mode(previous)
        return can_view(value, (shape_of(value)[0],) + shape)
    array = x._array
    if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>array):
        return True
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return False
    return True
