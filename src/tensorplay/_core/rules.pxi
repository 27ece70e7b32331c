# A rule is a Python function whose argument names say what it needs:
#   g, t          cotangent(s) or tangent(s)
#   an input      that input's tensor (saved for the backward pass)
#   out           the output (saved)
#   x_shape       the shape of input x (nothing is saved)
#   a parameter   that static parameter
#   wanted        tuple of bools: for which inputs a cotangent is wanted (joint rules)

cdef enum:
    ARG_PARAM = 100
    ARG_OUT = 200
    ARG_G = 201
    ARG_WANTED = 202
    ARG_ALL = 203          # of an op with any number of inputs: all of them, as a tuple
    ARG_ALL_SHAPES = 204
    ARG_SHAPE = 300
    MAX_ARGS = 24


cdef bytes _RETURNS_ARGUMENT = (lambda x: x).__code__.co_code


cdef class Rule:
    """A rule's function with the plan of its arguments."""

    cdef readonly object function   # None: a constant
    cdef readonly object constant   # local derivative that is a number
    cdef int count
    cdef int codes[MAX_ARGS]
    cdef readonly uint64_t saves    # bit i: needs input i
    cdef readonly bint saves_out
    cdef readonly bint needs_shapes
    cdef int returns                # the input that the rule just returns, as `lambda y: y`; -1

    def __init__(self, function, tuple inputs, tuple params, where, bint variadic=False):
        cdef int i
        self.function = function
        self.returns = -1
        if not callable(function):
            self.constant = function
            self.function = None
            return
        code = function.__code__
        names = code.co_varnames[:code.co_argcount]
        if len(names) > MAX_ARGS:
            raise TypeError(f"{where}: a rule takes at most {MAX_ARGS} arguments")
        self.count = len(names)
        for i, name in enumerate(names):
            if name in ("g", "t"):
                self.codes[i] = ARG_G
            elif name == "out":
                self.codes[i] = ARG_OUT
                self.saves_out = True
            elif name == "wanted":
                self.codes[i] = ARG_WANTED
            elif variadic and name == inputs[0]:
                self.codes[i] = ARG_ALL
                self.saves = <uint64_t>-1
            elif variadic and name == inputs[0] + "_shape":
                self.codes[i] = ARG_ALL_SHAPES
                self.needs_shapes = True
            elif name in inputs:
                self.codes[i] = inputs.index(name)
                self.saves |= (<uint64_t>1) << self.codes[i]
            elif name.endswith("_shape") and name[:-6] in inputs:
                self.codes[i] = ARG_SHAPE + inputs.index(name[:-6])
                self.needs_shapes = True
            elif name in params:
                self.codes[i] = ARG_PARAM + params.index(name)
            else:
                raise TypeError(
                    f"{where}: a rule asks for '{name}', which is neither g, t, out, wanted, "
                    f"an input of {inputs}, such an input with _shape, nor a parameter of {params}")
        if self.count == 1 and self.codes[0] < ARG_PARAM and code.co_code == _RETURNS_ARGUMENT:
            self.returns = self.codes[0]

    def call(self, primals, tuple params, out, cotangent, wanted=None):
        """The rule's value for given inputs; a constant rule gives its number."""
        cdef tuple source = tuple(primals)
        if self.function is None:
            return self.constant
        shapes = None
        if self.needs_shapes:
            shapes = tuple([shape_of(x) if is_tensor(x) else None for x in source])
        return call_rule(self, source, params, shapes, out, cotangent, wanted)


cdef object call_rule(Rule rule, object source, tuple params, object shapes, object out,
                      object cotangent, object wanted):
    """Call a rule; `source[i]` is input i (only those that the rule saves are read)."""
    cdef PyObject* arguments[MAX_ARGS]
    cdef int i, code
    if rule.returns >= 0:
        return source[rule.returns]
    for i in range(rule.count):
        code = rule.codes[i]
        if code == ARG_G:
            arguments[i] = <PyObject*>cotangent
        elif code < ARG_PARAM:
            arguments[i] = PyTuple_GET_ITEM_PTR(source, code)
        elif code < ARG_OUT:
            arguments[i] = PyTuple_GET_ITEM_PTR(params, code - ARG_PARAM)
        elif code == ARG_OUT:
            arguments[i] = <PyObject*>out
        elif code == ARG_WANTED:
            arguments[i] = <PyObject*>wanted
        elif code == ARG_ALL:
            arguments[i] = <PyObject*>source
        elif code == ARG_ALL_SHAPES:
            arguments[i] = <PyObject*>shapes
        else:
            arguments[i] = PyTuple_GET_ITEM_PTR(shapes, code - ARG_SHAPE)
    return PyObject_Vectorcall(rule.function, arguments, rule.count, NULL)


cdef extern from *:
    """
    #define PyTuple_GET_ITEM_PTR(t, i) (PyTuple_GET_ITEM((t), (i)))
    """
    PyObject* PyTuple_GET_ITEM_PTR(object, Py_ssize_t) noexcept
