# Graph nodes. A node's edges point to the nodes that made its inputs.

cdef struct Slot:
    # What one backward run keeps per node (see engine.pxi).
    Py_ssize_t waiting     # consumers that have not yet delivered their cotangent
    PyObject* cotangent    # owned: Tensor, or list for a node of several outputs
    PyObject* captured     # owned: the cotangent of a node that was asked for, once it has run
    int state              # SEEN | NEEDED | ...


cdef uint64_t _sequence = 0


cdef class Extras:
    """What few nodes have: hooks, tensors that retain their gradient, the user's notes."""

    cdef dict tensor_hooks         # output number -> {key: hook}
    cdef dict retained             # output number -> weak references of tensors that retain grad
    cdef object prehooks, posthooks
    cdef dict metadata


cdef inline Node next_node(Node node, Py_ssize_t i):
    """Where input i of a node came from."""
    if i == 0:
        return (<LinkedNode>node).first
    if i == 1:
        return (<LinkedNode>node).second
    return <Node>(<LinkedNode>node).others[i - 2]


cdef inline Py_ssize_t next_number(Node node, Py_ssize_t i):
    """Which output of that node it is."""
    numbers = (<LinkedNode>node).next_numbers
    return 0 if numbers is None else <Py_ssize_t>numbers[i]


cdef tuple next_nodes(Node node):
    return tuple([next_node(node, i) for i in range(node.inputs)])


cdef struct Meta:
    # Shape and dtype of an output, held without an object.
    int ndim
    int typenum
    cnp.npy_intp dims[5]


cdef class Node:
    """One recorded operation: a step of the backward pass."""

    cdef uint64_t sequence         # grows with creation: consumers come after producers
    cdef int inputs                # how many inputs the operation had
    cdef int outputs               # how many outputs the operation had
    cdef Slot slot
    cdef Extras extras             # hooks and notes, when there are any
    cdef object __weakref__

    cdef tuple apply(self, object cotangent, object wanted):
        """The cotangents of the inputs (None where not wanted).

        `cotangent` is a tensor, or a list for a node of several outputs; `wanted` is a tuple of
        bools, one per input, or None for every input that has an edge.
        """
        raise NotImplementedError(type(self).__name__)

    cdef release(self):
        """Free what was saved: the node has run, and will not run again."""

    def name(self):
        """The operation's name, such as 'MulBackward0'."""
        return type(self).__name__

    def __repr__(self):
        return f"<{self.name()} object at {hex(<size_t><void*>self)}>"

    @property
    def metadata(self):
        """A dictionary for the user's own notes about this node."""
        extras = self.more()
        if extras.metadata is None:
            extras.metadata = {}
        return extras.metadata

    cdef Extras more(self):
        if self.extras is None:
            self.extras = Extras.__new__(Extras)
        return self.extras

    @property
    def next_functions(self):
        """Where the inputs came from: ((Node or None, output number), ...)."""
        return tuple([(next_node(self, i), next_number(self, i)) for i in range(self.inputs)])

    def _sequence_nr(self):
        """Order of creation: a node is younger than the nodes that its inputs came from."""
        return self.sequence

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node ran in a backward pass.

        It may return a tuple that takes the place of grad_inputs. Returns a handle with `remove()`.
        """
        return RemovableHandle(self.node_hooks(False), hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs in a backward pass.

        It may return a tuple that takes the place of grad_outputs. Returns a handle with
        `remove()`.
        """
        return RemovableHandle(self.node_hooks(True), hook)

    @property
    def num_outputs(self):
        """How many outputs the operation had."""
        return self.outputs

    @property
    def requires_grad(self):
        """True: only operations that do are recorded."""
        return True

    def output_meta(self, int number=0):
        """(shape, dtype) of an output; None where the node does not know."""
        return None

    @property
    def _input_metadata(self):
        """What each output was like: an object with `shape`, `dtype` and `device` per output.

        (They are the inputs of the backward pass, hence the name.)
        """
        metas = [self.output_meta(i) for i in range(self.outputs)]
        return tuple([InputMetadata(*(meta or ((), None))) for meta in metas])

    cdef add_retain(self, Tensor x):
        extras = self.more()
        if extras.retained is None:
            extras.retained = {}
        extras.retained.setdefault(x.output_nr, []).append(_weakref(x))

    def hooks_of(self, int number):
        """The dictionary of tensor hooks of one output (made when asked for)."""
        extras = self.more()
        if extras.tensor_hooks is None:
            extras.tensor_hooks = {}
        return extras.tensor_hooks.setdefault(number, HookDict())

    def node_hooks(self, bint before):
        """The dictionary of hooks run before (or after) this node."""
        extras = self.more()
        if before:
            if extras.prehooks is None:
                extras.prehooks = HookDict()
            return extras.prehooks
        if extras.posthooks is None:
            extras.posthooks = HookDict()
        return extras.posthooks


class InputMetadata:
    """Shape, dtype and device of one output of a recorded operation."""

    __slots__ = ("dtype", "shape")

    device = _devices.device("cpu")
    is_nested_tensor = False
    is_cpp_nested_tensor = False

    def __init__(self, shape, dtype):
        self.shape = Size(shape)
        self.dtype = dtype

    def __repr__(self):
        return f"InputMetadata(shape={list(self.shape)}, dtype={self.dtype})"


cdef long _next_hook = 0


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; a context manager too.

    Ids grow with registration, so hooks run in the order in which they were added.
    """

    def __init__(self, hooks, hook):
        global _next_hook
        _next_hook += 1
        self.id = _next_hook
        self._hooks = _weak_dict(hooks)
        hooks[self.id] = hook

    def remove(self):
        """Take the hook away; removing twice does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class HookDict(dict):
    """Hooks by id; a dict that weak references can point to."""

    __slots__ = ("__weakref__",)


def _weak_dict(hooks):
    return _weakref(hooks) if isinstance(hooks, HookDict) else lambda: hooks


@cython.no_gc_clear
cdef class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the cotangent to the leaf's `.grad`."""

    cdef readonly Tensor variable

    def output_meta(self, int number=0):
        """(shape, dtype) of the leaf."""
        return shape_of(self.variable), dtype_of(self.variable)


cdef Node accumulator_of(Tensor leaf):
    cdef AccumulateGrad node
    if leaf.accumulator is not NULL:
        return <Node>leaf.accumulator
    node = AccumulateGrad.__new__(AccumulateGrad)
    node.variable = leaf
    node.outputs = 1
    node.sequence = <uint64_t>-1     # leaves first: their hooks see gradients early
    leaf.accumulator = <PyObject*>node
    return node


cdef inline Node edge_of(Tensor x):
    """The node that x's cotangents go to; None when x does not require grad."""
    if not x.flags & REQUIRES_GRAD:
        return None
    if x._grad_fn is not None:
        return x._grad_fn
    return accumulator_of(x)


def gradient_edge(Tensor x):
    """(node, output number) that cotangents of `x` flow to; (None, 0) without a graph."""
    if x.flags & VIEW:
        refresh(x)
    return edge_of(x), x.output_nr


def gradient_edges(items):
    """[(node, output number), ...] of tensors and of pairs that are such edges already."""
    cdef list found = []
    for item in items:
        if not is_tensor(item):
            found.append((item[0], item[1]))
            continue
        if (<Tensor>item).flags & VIEW:
            refresh(<Tensor>item)
        found.append((edge_of(<Tensor>item), (<Tensor>item).output_nr))
    return found


@cython.trashcan(True)
cdef class LinkedNode(Node):
    """A node with edges to the nodes that made its inputs, and what a PrimitiveNode keeps.

    The fields of PrimitiveNode are declared here because a class that adds none is freed in one
    step less, and nearly every node is a PrimitiveNode.
    """

    cdef Node first, second      # where the first two inputs came from; None: no gradient
    cdef tuple others            # and the further inputs
    cdef tuple next_numbers      # per input: which output of that node; None when all are 0

    cdef Primitive primitive
    cdef tuple params
    cdef tuple saved             # per input what the rules need of it, then the output(s); or None
    cdef int held                # ... or here, without a tuple: HELD_INPUTS, or with the result
    cdef object held_first, held_second, held_result
    cdef tuple versions          # versions of the saved inputs; None when all are 0
    cdef tuple shapes            # shapes of the inputs; None when all equal the output's
    cdef bint released
    cdef Meta meta
    cdef object metas            # ((shape, dtype), ...) of several outputs, or of one of many dims


cdef enum:
    HELD_INPUTS = 1
    HELD_RESULT = 2


cdef tuple saved_of(LinkedNode node):
    """What a node keeps: per input what the rules need of it, then the output(s); or None."""
    if node.held == 0:
        return node.saved
    if node.held == HELD_INPUTS:
        if node.inputs == 1:
            return (node.held_first,)
        return (node.held_first, node.held_second)
    if node.inputs == 1:
        return (node.held_first, node.held_result)
    return (node.held_first, node.held_second, node.held_result)


cdef set_saved(LinkedNode node, tuple saved):
    node.held = 0
    node.held_first = node.held_second = node.held_result = None
    node.saved = saved


cdef class PrimitiveNode(LinkedNode):
    """A recorded primitive: which one, its static parameters, and what its rules asked to keep."""

    def name(self):
        """The operation's name, such as 'MulBackward0'."""
        if self.primitive.naming is not None:
            return self.primitive.naming(self)
        return self.primitive.node_name

    def __getattr__(self, str name):
        # _saved_self, _saved_other, _saved_result: what the rules kept, by PyTorch's names.
        if name.startswith("_raw_saved_"):
            return SavedTensor(self, name[11:])
        if not name.startswith("_saved_"):
            raise AttributeError(f"{self.name()} has no attribute '{name}'")
        values = self.saved_values()
        wanted = {"self": "x", "other": "y", "exponent": "y"}.get(name[7:], name[7:])
        if wanted in values:
            return values[wanted]
        if wanted in self.primitive.param_names:
            return self.params[self.primitive.param_names.index(wanted)]
        raise AttributeError(
            f"{self.name()} keeps no '{name[7:]}'; it keeps {sorted(values)} and the parameters "
            f"{list(self.primitive.param_names)}")

    def __dir__(self):
        names = list(object.__dir__(self))
        if not self.released:
            names += ["_saved_" + {"x": "self", "y": "other"}.get(key, key)
                      for key in self.saved_values()]
        return names

    @property
    def parameters(self):
        """The static parameters of the operation, in the primitive's order."""
        return self.params

    def output_meta(self, int number=0):
        """(shape, dtype) of an output."""
        if self.metas is not None:
            return self.metas[number]
        return (tuple([self.meta.dims[i] for i in range(self.meta.ndim)]),
                dtype_by_num[self.meta.typenum])

    def saved_values(self):
        """{name: value} of what this node keeps for the backward pass."""
        cdef dict found = {}
        cdef Py_ssize_t i
        if self.released:
            raise RuntimeError(released_message(self))
        saved = saved_of(self)
        if saved is None:
            return found
        names = self.primitive.arg_names
        for i in range(len(saved)):
            if saved[i] is None:
                continue
            value = unpack_saved(self, i)
            if i < self.inputs:
                label = names[i] if i < len(names) else f"input{i}"
            else:
                label = "result"
            found[label] = value
        return found

    def saved_bytes(self):
        """Bytes that this node keeps alive for the backward pass, views counted by their size."""
        total = 0
        for entry in saved_of(self) or ():
            total += kept_bytes(entry)
        return total

    @property
    def is_released(self):
        """Whether the saved values were freed by a backward pass."""
        return self.released

    cdef tuple apply(self, object cotangent, object wanted):
        return primitive_vjp(self, cotangent, wanted)

    cdef release(self):
        if self.held or self.saved is not None:
            set_saved(self, None)
            self.released = True


def kept_bytes(item):
    """Bytes of the arrays and tensors in what a node, or a pair of hooks, keeps."""
    if isinstance(item, Packed):
        item = (<Packed>item).value
    if isinstance(item, (tuple, list)):
        return sum([kept_bytes(part) for part in item])
    while isinstance(item, Tensor) and (<Tensor>item)._array is None:
        item = (<Tensor>item)._value
    if isinstance(item, Tensor):
        item = (<Tensor>item)._array
    return item.nbytes if isinstance(item, np.ndarray) else 0


def released_message(Node node):
    """The error of a second backward pass through a freed graph."""
    return (f"{_running}(): trying to go through the graph a second time, but the values saved by "
            f"{node.name()} were freed by the first pass; give retain_graph=True to that pass")


cdef class PythonNode(LinkedNode):
    """A node whose backward is a Python callable: custom Functions, what refuses a second pass.

    `run(node, cotangents, wanted)` gets a list with one cotangent (or None) per output and returns
    one cotangent (or None) per input; `release(node)` frees what was saved. (Its attributes are
    private, so that those of a custom function's context can have any name.)
    """

    cdef public object _run
    cdef public object _release
    cdef public object _label
    cdef public tuple _metas     # ((shape, dtype), ...) of the outputs
    cdef public object _context
    cdef bint runs_undefined     # call `run` also when every cotangent is None

    def name(self):
        """The operation's name."""
        return self._label

    def output_meta(self, int number=0):
        """(shape, dtype) of an output."""
        return None if self._metas is None else self._metas[number]

    cdef tuple apply(self, object cotangent, object wanted):
        cotangents = cotangent if self.outputs != 1 else [cotangent]
        if cotangents is None:
            cotangents = [None] * self.outputs
        return tuple(self._run(self, cotangents, wanted))

    cdef release(self):
        if self._release is not None:
            self._release(self)


cdef void number(Node node) noexcept:
    global _sequence
    _sequence += 1
    node.sequence = _sequence


cdef link(LinkedNode node, tuple inputs):
    """Set the edges of a node from its inputs."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(inputs)
    cdef bint numbered = False
    cdef list others = [None] * (n - 2) if n > 2 else None
    cdef Node edge
    for i in range(n):
        item = <object>PyTuple_GET_ITEM(inputs, i)
        if not is_tensor(item):
            continue
        edge = edge_of(<Tensor>item)
        if edge is None:
            continue
        numbered |= (<Tensor>item).output_nr != 0
        if i == 0:
            node.first = edge
        elif i == 1:
            node.second = edge
        else:
            others[i - 2] = edge
    node.inputs = n
    if n > 2:
        node.others = tuple(others)
    if numbered:
        node.next_numbers = tuple([
            (<Tensor>x).output_nr if is_tensor(x) and (<Tensor>x).flags & REQUIRES_GRAD else 0
            for x in inputs])
    number(node)


def attach(Tensor x, Node node, int output_number=0):
    """Make `x` the given output of `node`: x then requires grad and is not a leaf."""
    become_output(x, node, output_number)


cdef inline become_output(Tensor x, Node node, int output_number):
    x._grad_fn = node
    x.output_nr = output_number
    x.flags |= REQUIRES_GRAD


cdef extern from "slots.h" namespace "tensorplay" nogil:
    void enable_leaf_node "tensorplay::LeafNode::enable"(PyObject*, PyObject*, Py_ssize_t)
    void enable_node_pool "tensorplay::Pool<1>::enable"(PyTypeObject*, Py_ssize_t)
    void enable_leaf_pool "tensorplay::Pool<2>::enable"(PyTypeObject*, Py_ssize_t)


cdef set_node_slots():
    cdef AccumulateGrad node = AccumulateGrad.__new__(AccumulateGrad)
    cdef Tensor leaf = Tensor.__new__(Tensor)
    node.variable = leaf
    enable_leaf_node(<PyObject*>node, <PyObject*>leaf,
                     <char*>&leaf.accumulator - <char*><PyObject*>leaf)
    enable_node_pool(<PyTypeObject*>PrimitiveNode, collector_header(node))
    enable_leaf_pool(<PyTypeObject*>AccumulateGrad, collector_header(node))


set_node_slots()
