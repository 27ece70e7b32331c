# Graph nodes. A node's edges point to the nodes that made its inputs.

cdef struct Slot:
    # What one backward run keeps per node (see engine.pxi).
    Py_ssize_t waiting     # consumers that have not yet delivered their cotangent
    PyObject* cotangent    # owned: Tensor, or list for a node of several outputs
    int state              # SEEN | NEEDED | OWNED


cdef uint64_t _sequence = 0


@cython.freelist(256)
@cython.trashcan(True)
cdef class Node:
    """One recorded operation: a step of the backward pass."""

    cdef uint64_t sequence         # grows with creation: consumers come after producers
    cdef tuple next_nodes          # per input: Node, or None where no gradient is wanted
    cdef tuple next_numbers        # per input: which output of that node; None when all are 0
    cdef int outputs               # how many outputs the operation had
    cdef Slot slot
    cdef dict tensor_hooks         # output number -> {key: hook}
    cdef dict retained             # output number -> weak references of tensors that retain grad
    cdef object prehooks, posthooks
    cdef dict _metadata
    cdef object __weakref__

    cdef tuple apply(self, object cotangent, object wanted, bint keep):
        """The cotangents of the inputs (None where not wanted); frees what was saved unless keep.

        `cotangent` is a tensor, or a list for a node of several outputs; `wanted` is a tuple of
        bools, one per input, or None for every input that has an edge.
        """
        raise NotImplementedError(type(self).__name__)

    @property
    def name(self):
        """The operation's name, such as 'MulBackward0'."""
        return type(self).__name__

    # `name()` is a method in PyTorch's Node: see autograd.graph for the public class.

    @property
    def metadata(self):
        """A dictionary for the user's own notes about this node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def edges(self):
        """The inputs' places in the graph: ((Node or None, output number), ...)."""
        cdef Py_ssize_t i
        return tuple([
            (node, 0 if self.next_numbers is None else self.next_numbers[i])
            for i, node in enumerate(self.next_nodes)])

    @property
    def sequence_nr(self):
        """Order of creation."""
        return self.sequence

    @property
    def num_outputs(self):
        """How many outputs the operation had."""
        return self.outputs

    def output_meta(self, int number=0):
        """(shape, dtype) of an output; None where the node does not know."""
        return None

    cdef add_retain(self, Tensor x):
        if self.retained is None:
            self.retained = {}
        self.retained.setdefault(x.output_nr, []).append(_weakref(x))

    def hooks_of(self, int number):
        """The dictionary of tensor hooks of one output (made when asked for)."""
        if self.tensor_hooks is None:
            self.tensor_hooks = {}
        return self.tensor_hooks.setdefault(number, {})

    def node_hooks(self, bint before):
        """The dictionary of hooks run before (or after) this node."""
        if before:
            if self.prehooks is None:
                self.prehooks = {}
            return self.prehooks
        if self.posthooks is None:
            self.posthooks = {}
        return self.posthooks


from weakref import ref as _weakref


@cython.no_gc_clear
cdef class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the cotangent to the leaf's `.grad`."""

    cdef readonly Tensor variable

    def __dealloc__(self):
        if self.variable is not None:
            self.variable.accumulator = NULL

    def output_meta(self, int number=0):
        """(shape, dtype) of the leaf."""
        return shape_of(self.variable), dtype_of(self.variable)


cdef Node accumulator_of(Tensor leaf):
    cdef AccumulateGrad node
    if leaf.accumulator is not NULL:
        return <Node>leaf.accumulator
    node = AccumulateGrad.__new__(AccumulateGrad)
    node.variable = leaf
    node.next_nodes = ()
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


cdef struct Meta:
    # Shape and dtype of an output, held without an object.
    int ndim
    int typenum
    cnp.npy_intp dims[5]


@cython.trashcan(True)
cdef class PrimitiveNode(Node):
    """A recorded primitive: which one, its static parameters, and what its rules asked to keep."""

    cdef readonly Primitive primitive
    cdef tuple params
    cdef tuple saved             # per input what the rules need of it, then the output(s); or None
    cdef tuple versions          # versions of the saved inputs; None when all are 0
    cdef tuple shapes            # shapes of the inputs; None when all equal the output's
    cdef bint released
    cdef Meta meta
    cdef object metas            # ((shape, dtype), ...) of several outputs, or of one of many dims

    @property
    def name(self):
        """The operation's name, such as 'MulBackward0'."""
        return self.primitive.node_name

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
        if self.saved is None:
            return found
        names = self.primitive.arg_names
        for i in range(len(self.saved)):
            if self.saved[i] is None:
                continue
            value = unpack_saved(self, i)
            if i < len(self.next_nodes):
                label = names[i] if i < len(names) else f"input{i}"
            else:
                label = "result"
            found[label] = value
        return found

    def saved_bytes(self):
        """Bytes that this node keeps alive for the backward pass, views counted by their size."""
        total = 0
        for entry in self.saved or ():
            for item in (entry if isinstance(entry, tuple) else (entry,)):
                while isinstance(item, Tensor) and (<Tensor>item)._value is not None:
                    item = (<Tensor>item)._value
                if isinstance(item, Tensor):
                    total += (<Tensor>item)._array.nbytes
        return total

    @property
    def is_released(self):
        """Whether the saved values were freed by a backward pass."""
        return self.released

    cdef tuple apply(self, object cotangent, object wanted, bint keep):
        return primitive_vjp(self, cotangent, wanted, keep)


def released_message(Node node):
    """The error of a second backward pass through a freed graph."""
    return (f"backward(): trying to go through the graph a second time, but the values saved by "
            f"{node.name} were freed by the first pass; give retain_graph=True to that pass")


cdef class PythonNode(Node):
    """A node whose backward is a Python callable: custom Functions, copies between views, hooks.

    `run(node, cotangents)` gets a list with one cotangent (or None) per output and returns one
    cotangent (or None) per input.
    """

    cdef public object run
    cdef public object label
    cdef public tuple metas      # ((shape, dtype), ...) of the outputs
    cdef public object context
    cdef public bint runs_undefined   # call `run` also when every cotangent is None

    @property
    def name(self):
        """The operation's name."""
        return self.label

    def output_meta(self, int number=0):
        """(shape, dtype) of an output."""
        return None if self.metas is None else self.metas[number]

    cdef tuple apply(self, object cotangent, object wanted, bint keep):
        cdef tuple result
        cotangents = cotangent if self.outputs != 1 else [cotangent]
        result = tuple(self.run(self, cotangents, wanted, keep))
        return result


def python_node(label, run, inputs, metas, context=None, bint runs_undefined=False):
    """A PythonNode whose edges lead to `inputs` (tensors, or None)."""
    cdef PythonNode node = PythonNode.__new__(PythonNode)
    node.label = label
    node.run = run
    node.metas = tuple(metas)
    node.outputs = len(node.metas)
    node.context = context
    node.runs_undefined = runs_undefined
    link(node, tuple(inputs))
    return node


cdef void number(Node node) noexcept:
    global _sequence
    _sequence += 1
    node.sequence = _sequence


cdef link(Node node, tuple inputs):
    """Set the edges of a node from its inputs."""
    cdef Py_ssize_t i, n = len(inputs)
    cdef bint numbered = False
    cdef list nodes = [None] * n
    cdef list numbers = [0] * n
    cdef Tensor x
    for i in range(n):
        item = inputs[i]
        if not is_tensor(item):
            continue
        x = item
        nodes[i] = edge_of(x)
        if x.output_nr and nodes[i] is not None:
            numbers[i] = x.output_nr
            numbered = True
    node.next_nodes = tuple(nodes)
    node.next_numbers = tuple(numbers) if numbered else None
    number(node)


def attach(Tensor x, Node node, int output_number=0):
    """Make `x` the given output of `node`: x then requires grad and is not a leaf."""
    x._grad_fn = node
    x.output_nr = output_number
    x.flags |= REQUIRES_GRAD
