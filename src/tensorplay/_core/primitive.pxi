# Primitives: operations with a kernel and rules. `tensorplay.ops.kinds` builds them.

cdef enum:
    FAST_NONE = 0
    FAST_UNARY = 1     # one tensor in, a compiled loop out
    FAST_BINARY = 2
    FAST_PRODUCT = 3   # matrix products; with the first or second operand adjoint:
    FAST_PRODUCT_NT = 4
    FAST_PRODUCT_TN = 5
    FAST_COMPARE = 6   # two tensors in, a bool tensor out


cdef extern from "kernels.h" namespace "tensorplay" nogil:
    cdef struct Geometry:
        int64_t size[3]
        int64_t kernel[3]
        int64_t stride[3]
        int64_t low[3]
        int64_t dilation[3]
        int64_t out[3]
    cdef struct Loop:
        const char* name
        void* f32
        void* f64
    cdef struct Kernels:
        const char* isa
        const Loop* unary
        const Loop* binary
        const Loop* reduce
        const Loop* row
        const Loop* row2
        void (*gemm_f32)(const float*, int64_t, int64_t, const float*, int64_t, int64_t, float*,
                         int64_t, int64_t, int64_t) noexcept nogil
        void (*gemm_f64)(const double*, int64_t, int64_t, const double*, int64_t, int64_t, double*,
                         int64_t, int64_t, int64_t) noexcept nogil
        const Loop* norm
        const Loop* compare
        const Loop* map
        void (*half_from_float)(const void*, void*, int64_t) noexcept nogil
        void (*float_from_half)(const void*, void*, int64_t) noexcept nogil
        void (*bfloat_from_float)(const void*, void*, int64_t) noexcept nogil
        void (*float_from_bfloat)(const void*, void*, int64_t) noexcept nogil
        void (*channels_f32)(const float*, const float*, const float*, const float*, float*, float*,
                             float*, int64_t, int64_t, int64_t, int64_t, double) noexcept nogil
        void (*channels_f64)(const double*, const double*, const double*, const double*, double*,
                             double*, double*, int64_t, int64_t, int64_t, int64_t,
                             double) noexcept nogil
        void (*windows_f32)(const float*, float*, int64_t, const Geometry&) noexcept nogil
        void (*add_windows_f32)(const float*, float*, int64_t, const Geometry&) noexcept nogil
        void (*windows_f64)(const double*, double*, int64_t, const Geometry&) noexcept nogil
        void (*add_windows_f64)(const double*, double*, int64_t, const Geometry&) noexcept nogil
        void (*single_f32)(float*, float*, float*, int64_t, int64_t, int64_t, const Geometry&,
                           int) noexcept nogil
        void (*single_f64)(double*, double*, double*, int64_t, int64_t, int64_t, const Geometry&,
                           int) noexcept nogil
    const Kernels& kernels()
    int get_threads()
    void set_threads(int)
    cdef enum Layout:
        SAME, SCALAR_B, SCALAR_A, ROW_B, ROW_A, COL_B, COL_A


cdef const Loop* find_loop(const Loop* table, bytes name) noexcept:
    cdef const Loop* entry = table
    while entry.name is not NULL:
        if entry.name == name:
            return entry
        entry += 1
    return NULL


registry = {}   # name -> Primitive: every primitive there is


cdef class Primitive:
    """An operation: a kernel on arrays and the rules that make it differentiable and batchable.

    Called as `primitive(*inputs, *params)`: tensors (or numbers, or None where an input is
    optional) first, then static parameters, already checked and normalised. An op with any number
    of inputs takes them as one sequence. As a class attribute it is a method.
    """

    cdef vectorcallfunc vectorcall
    cdef readonly str name
    cdef readonly str node_name        # what grad_fn prints, such as 'MulBackward0'
    cdef readonly tuple arg_names      # names of the tensor inputs
    cdef readonly tuple param_names
    cdef readonly bint variadic        # one sequence of tensors in place of named inputs
    cdef readonly int outputs          # 1, or how many; -1: depends on the call (a tuple)
    cdef readonly object kernel        # arrays, params -> array(s)
    cdef readonly list vjp_rules       # per input a Rule or None
    cdef readonly Rule vjp_joint       # or one rule for all inputs
    cdef readonly bint partials        # vjp_rules are local derivatives d: g * conj(d)
    cdef readonly object jvp           # (primitive, primals, tangents, out, params) -> tangent(s)
    cdef readonly object batch         # (primitive, values, bdims, params) -> (value(s), bdim(s))
    cdef readonly str promote          # None, 'same' (common dtype) or 'float' (at least floating)
    cdef bint promote_float
    cdef readonly bint broadcasts      # inputs may be smaller than what the rules return
    cdef readonly bint is_view
    cdef readonly bint quiet           # the kernel itself never raises a NumPy warning
    cdef readonly frozenset fixed      # numbers of outputs that are not differentiable
    cdef readonly bint differentiable
    cdef readonly str kind
    cdef public tuple keywords         # public names of the inputs, as in `input=`, `other=`
    cdef public object naming          # node -> what grad_fn prints, if the call decides; or None
    cdef public object public          # Python function with the public signature, or None
    cdef public object check           # inputs -> None: refuses mixtures that promotion would allow
    cdef dict __dict__                 # __doc__, __signature__, __module__ ... as functions have
    cdef int fast
    cdef int n_inputs
    cdef int n_required                # positional arguments of the shortest direct call
    cdef void* f32
    cdef void* f64

    def __init__(self, str name, kernel, tuple inputs, tuple params=(), *, vjp=None, jvp=None,
                 batch=None, int outputs=1, bint variadic=False, promote=None, bint partials=False,
                 bint broadcasts=False, bint view=False, bint quiet=False, fixed=(), str kind="",
                 str node_name=None, loop=None, register=True):
        if name in registry and register:
            raise ValueError(f"primitive '{name}' is defined twice")
        self.name = name
        setattr(self, "__name__", name)
        setattr(self, "__qualname__", name)
        self.kernel = kernel
        self.arg_names = inputs
        self.param_names = params
        self.n_inputs = len(inputs)
        self.n_required = len(inputs) + len(params)
        self.variadic = variadic
        self.outputs = outputs
        self.jvp = jvp
        self.batch = batch
        self.promote = promote
        self.promote_float = promote == "float"
        self.partials = partials
        self.broadcasts = broadcasts or partials
        self.is_view = view
        self.quiet = quiet
        self.fixed = frozenset(fixed)
        self.kind = kind
        self.keywords = ("input", "other")[:len(inputs)] if len(inputs) < 3 else inputs
        self.node_name = node_name or default_node_name(name)
        self.differentiable = vjp is not None
        self.set_rules(vjp)
        self.set_loop(loop)
        self.vectorcall = <vectorcallfunc>primitive_vectorcall
        if register:
            registry[name] = self

    cdef set_rules(self, vjp):
        where = f"the reverse rule of '{self.name}'"
        if isinstance(vjp, (tuple, list)):
            if len(vjp) != self.n_inputs:
                raise TypeError(f"{where}: {len(vjp)} rules for {self.n_inputs} inputs")
            self.vjp_rules = [
                None if rule is None else Rule(rule, self.arg_names, self.param_names, where)
                for rule in vjp]
        elif vjp is not None:
            self.vjp_joint = Rule(vjp, self.arg_names, self.param_names, where, self.variadic)

    cdef set_loop(self, loop):
        cdef const Loop* entry = NULL
        if loop is None:
            return
        if loop.startswith("product"):
            self.fast = FAST_PRODUCT + ("product", "product_nt", "product_tn").index(loop)
            return
        name = loop.encode()
        if loop in ("eq", "ne", "lt", "le", "gt", "ge"):
            entry = find_loop(kernels().compare, name)
            self.fast = FAST_COMPARE
            self.f32 = entry.f32
            self.f64 = entry.f64
            return
        if self.n_inputs == 1:
            entry = find_loop(kernels().unary, name)
            self.fast = FAST_UNARY
        else:
            entry = find_loop(kernels().binary, name)
            self.fast = FAST_BINARY
        if entry is NULL:
            raise ValueError(f"primitive '{self.name}': no compiled loop is named '{loop}'")
        self.f32 = entry.f32
        self.f64 = entry.f64

    def __call__(self, *args, **kwargs):
        return primitive_entry(self, args, kwargs)

    def apply(self, inputs, *params):
        """Run on a sequence of inputs and static parameters."""
        return apply_primitive(self, tuple(inputs), params)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return <object>PyMethod_New_object(self, instance)

    def __repr__(self):
        return f"<tensorplay operator {self.name}>"

    def __reduce__(self):
        return _find_primitive, (self.name,)


def _find_primitive(name):
    return registry[name]


cdef object PyMethod_New_object(object function, object instance):
    cdef PyObject* method = PyMethod_New(<PyObject*>function, <PyObject*>instance)
    result = <object>method
    Py_DECREF(result)
    return result


def default_node_name(str name):
    """'log_softmax' -> 'LogSoftmaxBackward0', as graph nodes print."""
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")]) + "Backward0"


cdef object primitive_vectorcall(object callable, PyObject** args, size_t nargsf,
                                 PyObject* kwnames):
    cdef Primitive self = <Primitive>callable
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(nargsf)
    cdef tuple positional
    cdef dict keywords
    if kwnames is NULL:
        if self.fast >= FAST_BINARY and n == 2:
            result = binary_fast(self, <object>args[0], <object>args[1])
            if result is not None:
                return result
        elif self.fast == FAST_UNARY and n == 1:
            result = unary_fast(self, <object>args[0])
            if result is not None:
                return result
        result = direct_call(self, args, n)
        if result is not None:
            return result
    positional = tuple_of(args, n)
    if kwnames is NULL:
        return primitive_entry(self, positional, None)
    keywords = {}
    for i in range(PyTuple_GET_SIZE(<object>kwnames)):
        keywords[<object>PyTuple_GET_ITEM(<object>kwnames, i)] = <object>args[n + i]
    return primitive_entry(self, positional, keywords)


cdef object primitive_entry(Primitive self, tuple args, dict kwargs):
    cdef Py_ssize_t n = len(args)
    if kwargs:
        return call_public(self, args, kwargs)
    if self.variadic:
        return apply_primitive(self, tuple(args[0]), args[1:])
    if n == self.n_inputs:
        if self.n_required == n:
            return apply_primitive(self, args, ())
    elif n == self.n_required:
        return apply_primitive(self, args[:self.n_inputs], args[self.n_inputs:])
    return call_public(self, args, {})


cdef object call_public(Primitive self, tuple args, dict kwargs):
    """A call that needs binding: keywords, `out=`, or the public signature's own arguments."""
    cdef Py_ssize_t i
    out = kwargs.pop("out", None) if kwargs else None
    if self.public is not None:
        result = self.public(*args, **kwargs)
    else:
        names = self.keywords + self.param_names
        if len(args) > len(names):
            raise TypeError(f"{self.name}() takes {len(names)} positional arguments but "
                            f"{len(args)} were given")
        values = list(args)
        for name in names[len(args):]:
            if name not in kwargs:
                raise TypeError(f"{self.name}() missing a required argument: '{name}'")
            values.append(kwargs.pop(name))
        if kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        result = apply_primitive(self, tuple(values[:self.n_inputs]), tuple(values[self.n_inputs:]))
    return result if out is None else write_out(self.name, out, result)


cdef class Operation:
    """A public function made of other operations, with `out=` where that is offered.

    As in PyTorch, NumPy's names `axis` and `keepdims` do for `dim` and `keepdim`. Behaves as
    the Python function it holds; as a class attribute it is a method.
    """

    cdef vectorcallfunc vectorcall
    cdef readonly object function
    cdef readonly str name
    cdef dict __dict__

    def __init__(self, function, str name):
        self.function = function
        self.name = name
        self.vectorcall = <vectorcallfunc>operation_vectorcall
        for key in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(self, key, getattr(function, key))
        setattr(self, "__wrapped__", function)

    def __call__(self, *args, **kwargs):
        return call_operation(self, args, kwargs)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return <object>PyMethod_New_object(self, instance)

    def __repr__(self):
        return f"<tensorplay function {self.name}>"

    def __reduce__(self):
        return self.name


cdef object operation_vectorcall(object callable, PyObject** args, size_t nargsf,
                                 PyObject* kwnames):
    cdef Operation self = <Operation>callable
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(nargsf)
    if kwnames is NULL or _OPERATION_KEYWORDS.isdisjoint(<tuple>kwnames):
        return PyObject_Vectorcall(self.function, args, n, kwnames)
    keywords = {}
    for i in range(PyTuple_GET_SIZE(<object>kwnames)):
        keywords[<object>PyTuple_GET_ITEM(<object>kwnames, i)] = <object>args[n + i]
    return call_operation(self, tuple([<object>args[i] for i in range(n)]), keywords)


cdef frozenset _OPERATION_KEYWORDS = frozenset(("out", "axis", "keepdims"))


cdef object call_operation(Operation self, tuple args, dict kwargs):
    out = kwargs.pop("out", None)
    for numpy_name, name in (("axis", "dim"), ("keepdims", "keepdim")):
        if numpy_name in kwargs:
            if name in kwargs:
                raise TypeError(f"{self.name}() got both '{name}' and '{numpy_name}', which mean "
                                "the same")
            kwargs[name] = kwargs.pop(numpy_name)
    result = self.function(*args, **kwargs)
    return result if out is None else write_out(self.name, out, result)


cdef extern from "slots.h" namespace "tensorplay" nogil:
    void enable_vectorcall(PyTypeObject*, Py_ssize_t)


cdef class Kernel:
    """A compiled kernel: called with arrays and parameters, by position."""

    cdef vectorcallfunc vectorcall

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <vectorcallfunc>kernel_vectorcall

    def __call__(self, *args):
        """The kernel's result. (Calls go to `run` through the vectorcall slot.)"""
        return self.run(PySequence_Fast_ITEMS(args), len(args))

    cdef object run(self, PyObject** args, Py_ssize_t n):
        raise NotImplementedError(type(self).__name__)


cdef object kernel_vectorcall(object callable, PyObject** args, size_t nargsf, PyObject* kwnames):
    if kwnames is not NULL:
        raise TypeError(f"{type(callable).__name__}: a kernel takes arguments by position only")
    return (<Kernel>callable).run(args, PyVectorcall_NARGS(nargsf))


cdef set_call_slots():
    cdef Primitive probe = Primitive.__new__(Primitive)
    cdef Py_ssize_t offset = <char*>&probe.vectorcall - <char*><PyObject*>probe
    cdef Operation other = Operation.__new__(Operation)
    cdef Kernel kernel = Kernel.__new__(Kernel)
    enable_vectorcall(<PyTypeObject*>Primitive, offset)
    offset = <char*>&other.vectorcall - <char*><PyObject*>other
    enable_vectorcall(<PyTypeObject*>Operation, offset)
    offset = <char*>&kernel.vectorcall - <char*><PyObject*>kernel
    for kind in (Kernel, ReduceKernel, ProductKernel, LinearKernel, RowKernel, SmallKernel,
                 VarianceKernel, NormOfKernel, ScanKernel, TruthKernel, ExtremumKernel,
                 TopKernel, CrossKernel, ClassLossKernel, ClassSpreadKernel,
                 MaxWindowsKernel, ConvolutionKernel, FourierKernel, MapKernel,
                 StandardizeKernel):
        enable_vectorcall(<PyTypeObject*>kind, offset)


set_call_slots()
