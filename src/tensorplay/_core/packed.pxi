# Saved tensors that went through hooks: `saved_tensors_hooks`, and hooks on one saved tensor.

cdef class Packed:
    """A saved tensor of which a pack hook keeps the values, and this object everything else.

    The hooks see the plain tensor inside all boxes. The boxes, the places in the graph and the
    tangents of every level are put together again around what the unpack hook gives.
    """

    cdef object value, unpack
    cdef list layers             # per tensor from the outermost box to the plain one: a Layer
    cdef object __weakref__


cdef class Layer:
    """One of the tensors that a saved tensor is made of, apart from its values."""

    cdef long level              # of a box
    cdef int bdim
    cdef Node node               # its place in the graph
    cdef int output_nr
    cdef dict tangents
    cdef unsigned int weak


def pack_tensor(Tensor x):
    """What the innermost pair of hooks in force makes of a tensor that is to be saved."""
    return pack(x, mode_data.saved_hooks[-1])


cdef Packed pack(Tensor x, tuple hooks):
    """Let a pair of hooks keep a tensor."""
    cdef Packed packed = Packed.__new__(Packed)
    cdef Layer layer
    packed.layers = []
    packed.unpack = hooks[1]
    while True:
        if x.flags & VIEW:
            refresh(x)
        layer = Layer.__new__(Layer)
        layer.level = x._level
        layer.bdim = x._bdim
        layer.node = edge_of(x)
        layer.output_nr = x.output_nr
        layer.tangents = x.tangents
        layer.weak = x.flags & WEAK
        packed.layers.append(layer)
        if x._array is not None:
            break
        x = x._value
    if x._grad_fn is not None or x.view is not None or x.tangents is not None:
        x = alias(x, False)      # a leaf is seen as it is: a hook may leave parameters alone
    packed.value = run_hook(hooks[0], x, False)
    return packed


cdef Tensor unpack(Packed packed):
    """The tensor that was packed, at its places in the graph and with its tangents."""
    cdef Tensor x, y
    cdef Layer layer
    value = run_hook(packed.unpack, packed.value, tp_grad_mode)
    if not is_tensor(value):
        raise TypeError("saved_tensors_hooks(): the unpack hook must return a Tensor, got "
                        f"{type(value).__name__}")
    x = value
    if x._array is None:
        raise RuntimeError("saved_tensors_hooks(): the unpack hook returned a tensor from inside "
                           "vmap or a function transform; the pack hook got a plain one")
    for item in reversed(packed.layers):
        layer = item
        if layer.level == 0:
            y = new_tensor(x._array)
        else:
            y = make_box(x, None if layer.bdim < 0 else layer.bdim, layer.level)
        y.flags |= layer.weak
        set_tangents(y, layer.tangents)
        if layer.node is not None:
            y._grad_fn = layer.node
            y.output_nr = layer.output_nr
            y.flags |= REQUIRES_GRAD
        x = y
    return x


cdef object run_hook(object hook, object argument, bint grad_mode):
    """Call a hook outside of every transform level, and without hooks on what it saves itself."""
    cdef bint previous_hooks = set_mode(MODE_SAVED_HOOKS, False)
    cdef bint previous_mode = set_grad_mode(grad_mode)
    active = exchange_levels([])
    try:
        return hook(argument)
    finally:
        exchange_levels(active)
        set_grad_mode(previous_mode)
        set_mode(MODE_SAVED_HOOKS, previous_hooks)


def unpack_tensor(Packed packed):
    """The tensor that was packed by `pack_tensor`."""
    return unpack(packed)


# --- hooks on one saved tensor --------------------------------------------------------------------

cdef Py_ssize_t saved_index(PrimitiveNode node, str name) except -1:
    """Where a node keeps what it calls `_saved_<name>`."""
    cdef Py_ssize_t i
    label = {"self": "x", "other": "y", "exponent": "y"}.get(name, name)
    if node.released:
        raise RuntimeError(released_message(node))
    saved = saved_of(node)
    if saved is not None:
        if label == "result" and len(saved) > node.inputs:
            return node.inputs
        for i in range(min(node.inputs, len(node.primitive.arg_names))):
            if node.primitive.arg_names[i] == label and saved[i] is not None:
                return i
    raise AttributeError(f"{node.name()} keeps no '{name}'")


class SavedTensor:
    """A tensor that a graph node keeps for the backward pass (`node._raw_saved_self`, ...)."""

    def __init__(self, node, name):
        self._node = node
        self._index = saved_index(node, name)

    def register_hooks(self, pack_hook, unpack_hook):
        """Keep `pack_hook(tensor)` in its place; `unpack_hook` makes a tensor of that again.

        Raises:
            RuntimeError: if it has hooks already, or was freed.
        """
        pack_saved(self._node, self._index, pack_hook, unpack_hook)


cdef pack_saved(PrimitiveNode node, Py_ssize_t i, pack_hook, unpack_hook):
    cdef tuple kept = saved_of(node)
    cdef list saved
    if not callable(pack_hook) or not callable(unpack_hook):
        raise TypeError("register_hooks(): both hooks must be callable")
    if node.released or kept is None:
        raise RuntimeError("register_hooks(): the saved tensor was freed by a backward pass; "
                           "register hooks before it")
    if type(kept[i]) is Packed:
        raise RuntimeError("register_hooks(): the saved tensor has hooks already")
    if not is_tensor(kept[i]):
        raise RuntimeError("register_hooks(): only a single saved tensor can have hooks")
    check_version(node, i)
    saved = list(kept)
    saved[i] = pack(<Tensor>kept[i], (pack_hook, unpack_hook))
    set_saved(node, tuple(saved))
