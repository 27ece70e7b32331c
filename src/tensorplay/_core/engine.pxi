# The backward engine: iterative, in order of creation, linear in the nodes it runs.

cdef enum:
    SEEN = 1
    NEEDED = 2       # leads to an input that was asked for
    OWNED = 4        # the cotangent buffer was made by the engine and may be added to in place
    CAPTURED = 8     # is itself such an input
    FILL = 16        # ... a leaf whose .grad is to be filled


cdef bint _slots_taken = False     # whether a run uses the slots inside the nodes

ctypedef PyObject* NodePointer
ctypedef pair[uint64_t, NodePointer] Ready
ctypedef pair[NodePointer, Py_ssize_t] Visit


cdef extern from *:
    """
    static TP_TLS PyObject* tp_run = NULL;   // the innermost backward pass of this thread
    """
    PyObject* tp_run


cdef class Run:
    """One backward pass. The first of several at a time keeps its slots inside the nodes."""

    cdef bint inside                            # slots live in the nodes
    cdef unordered_map[NodePointer, Slot] table   # else here
    cdef vector[NodePointer] visited
    cdef priority_queue[Ready] ready
    cdef bint keep, selective
    cdef uint64_t floor                         # nodes made before this cannot lead to a target
    cdef list roots
    cdef object __weakref__

    cdef Slot* slot(self, Node node) noexcept:
        return &node.slot if self.inside else &self.table[<PyObject*>node]


cdef discover(Run run):
    """Depth first from the roots: count consumers, and find what leads to the asked inputs."""
    cdef vector[Visit] stack
    cdef Node node, child
    cdef Slot* slot
    cdef Slot* child_slot
    cdef Visit* top
    cdef Py_ssize_t index
    for node, _, _ in run.roots:
        slot = run.slot(node)
        if slot.state & SEEN:
            continue
        visit(run, node)
        stack.push_back(Visit(<PyObject*>node, 0))
        while not stack.empty():
            top = &stack.back()
            node = <Node>top.first
            index = top.second
            if index == node.inputs:
                stack.pop_back()
                if run.selective and not stack.empty() and run.slot(node).state & NEEDED:
                    run.slot(<Node>stack.back().first).state |= NEEDED
                continue
            top.second = index + 1
            item = next_node(node, index)
            if item is None or (<Node>item).sequence < run.floor:
                continue
            child = <Node>item
            child_slot = run.slot(child)
            child_slot.waiting += 1
            if not child_slot.state & SEEN:
                visit(run, child)
                stack.push_back(Visit(<PyObject*>child, 0))
            elif child_slot.state & NEEDED:
                run.slot(node).state |= NEEDED


cdef inline visit(Run run, Node node):
    cdef Slot* slot = run.slot(node)
    slot.state |= SEEN
    if run.selective and slot.state & CAPTURED:
        slot.state |= NEEDED
    run.visited.push_back(<PyObject*>node)


cdef check_saved(Run run):
    """Raise before anything runs where a saved tensor is gone or was changed in place."""
    cdef PyObject* item
    cdef Node node
    cdef PrimitiveNode recorded
    cdef Py_ssize_t i
    for item in run.visited:
        node = <Node>item
        if type(node) is not PrimitiveNode or (
                run.selective and not run.slot(node).state & NEEDED):
            continue
        recorded = <PrimitiveNode>node
        if recorded.released:
            if not run.selective or wanted_inputs(run, node) is not None:
                raise RuntimeError(released_message(node))
        elif recorded.held:
            check_item(recorded, 0, recorded.held_first)
            check_item(recorded, 1, recorded.held_second)
            check_item(recorded, recorded.inputs, recorded.held_result)
        elif recorded.saved is not None:
            for i in range(len(recorded.saved)):
                check_item(recorded, i, recorded.saved[i])


cdef str _running = "backward"    # the public function that a run serves, for messages


def run_backward(list roots, bint keep, bint create_graph, targets=None, accumulate=(),
                 bint allow_unused=True, unused_message=None, str name="backward"):
    """Run the graph backward.

    roots: [(node, output number, cotangent), ...]. targets: None to fill every leaf, else the
    [(node, output number), ...] asked for; the result is then the list of their cotangents
    (None where none arrived). `accumulate`: indices of targets that are leaves to be filled.
    """
    global _slots_taken, _running, tp_run
    cdef PyObject* outer = tp_run
    cdef str outer_name = _running
    cdef Run run = Run.__new__(Run)
    cdef int previous = tp_grad_mode
    cdef Node node
    cdef PyObject* item
    cdef bint leaves = False
    run.roots = roots
    run.keep = keep
    run.selective = targets is not None
    run.visited.reserve(64)
    run.inside = not _slots_taken
    if run.inside:
        _slots_taken = True
    set_grad_mode(create_graph)
    _running = name
    tp_run = <PyObject*>run
    try:
        if run.selective:
            run.floor = <uint64_t>-1
            for i, (node, _) in enumerate(targets):
                run.floor = min(run.floor, node.sequence)
                run.slot(node).state |= CAPTURED
                # A target may not be reachable: it must still be cleaned up.
                run.visited.push_back(<PyObject*>node)
                if i in accumulate:
                    run.slot(node).state |= FILL
                if type(node) is AccumulateGrad:
                    leaves = True
            if leaves:
                run.floor = 0
        discover(run)
        if run.selective and not allow_unused:
            for i, (node, _) in enumerate(targets):
                if not run.slot(node).state & SEEN:
                    raise RuntimeError(unused_message.format(i))
        check_saved(run)
        seed(run)
        drain(run, targets)
        if run.selective:
            return captured_all(run, targets, allow_unused, unused_message)
    finally:
        _running = outer_name
        tp_run = outer
        set_grad_mode(previous)
        for item in run.visited:
            clear(run, <Node>item)
        if run.inside:
            _slots_taken = False


cdef clear(Run run, Node node):
    cdef Slot* slot = run.slot(node)
    cdef PyObject* held = slot.cotangent
    cdef PyObject* kept = slot.captured
    slot.cotangent = NULL
    slot.captured = NULL
    slot.waiting = 0
    slot.state = 0
    Py_XDECREF(held)
    Py_XDECREF(kept)


cdef seed(Run run):
    cdef Node node
    for node, number, cotangent in run.roots:
        deliver(run, node, number, cotangent)
        if run.slot(node).waiting == 0:
            enqueue(run, node)


cdef inline enqueue(Run run, Node node):
    cdef Slot* slot = run.slot(node)
    if slot.waiting == 0:
        slot.waiting = -1      # queued
        run.ready.push(Ready(node.sequence, <PyObject*>node))


cdef deliver(Run run, Node node, Py_ssize_t number, object cotangent):
    """Add a cotangent to what has arrived at one output of a node."""
    cdef Slot* slot
    cdef list parts
    if cotangent is None:
        return
    slot = run.slot(node)
    if node.outputs == 1:
        if slot.cotangent is NULL:
            Py_INCREF(cotangent)
            slot.cotangent = <PyObject*>cotangent
        elif slot.state & OWNED and not tp_grad_mode and \
                add_in_place(<Tensor>slot.cotangent, <Tensor>cotangent):
            pass
        else:
            total = binary_call(ADD, <object>slot.cotangent, cotangent)
            Py_INCREF(total)
            held = <object>slot.cotangent
            Py_DECREF(held)
            slot.cotangent = <PyObject*>total
            slot.state |= OWNED
        return
    if slot.cotangent is NULL:
        parts = [None] * node.outputs
        Py_INCREF(parts)
        slot.cotangent = <PyObject*>parts
    parts = <list>slot.cotangent
    parts[number] = cotangent if parts[number] is None else \
        binary_call(ADD, parts[number], cotangent)


cdef bint add_in_place(Tensor total, Tensor part):
    """total += part in total's own memory; False where they do not line up."""
    cdef cnp.ndarray a, b
    cdef Primitive add
    if (total.flags | part.flags) & SLOW:
        return False
    a = total._array
    b = part._array
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or not same_shape(total, part):
        return False
    add = ADD
    if is_loop_array(a) and cnp.PyArray_IS_C_CONTIGUOUS(b) and has_loop(add, a):
        run_binary(add, cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(b),
                   cnp.PyArray_DATA(a), 1, cnp.PyArray_SIZE(a), SAME)
    else:
        with np.errstate(all="ignore"):
            np.add(a, b, out=a)
    return True


cdef drain(Run run, targets):
    cdef Node node
    cdef Slot* slot
    cdef object cotangent
    cdef bint owned
    cdef Py_ssize_t count = 0
    while not run.ready.empty():
        node = <Node>run.ready.top().second
        run.ready.pop()
        slot = run.slot(node)
        cotangent = None
        owned = (slot.state & OWNED) != 0
        if slot.cotangent is not NULL:
            cotangent = <object>slot.cotangent
            Py_DECREF(cotangent)
            slot.cotangent = NULL
        count += 1
        if count & 255 == 0:
            PyErr_CheckSignals()
        step(run, node, slot.state, cotangent, owned)


cdef step(Run run, Node node, int state, object cotangent, bint owned):
    """Run one node: hooks, capture, its rule, and hand on what it gives."""
    cdef tuple result
    cdef Extras extras = node.extras
    cdef Py_ssize_t i, n = node.inputs, number
    cdef object wanted = None
    cdef Node child
    cdef Slot* slot
    cdef bint leaf = type(node) is AccumulateGrad
    if is_simple(node, state, cotangent):
        if not run.selective or state & NEEDED:
            pull_each(run, <PrimitiveNode>node, cotangent)
        return
    if leaf and (<AccumulateGrad>node).variable.hooks:
        cotangent = call_hooks((<AccumulateGrad>node).variable.hooks, cotangent)
        owned = False
    if extras is not None:
        cotangent = run_prehooks(node, extras, cotangent)
        owned = False
        if extras.retained is not None:
            fill_retained(node, cotangent)
    if run.selective:
        if state & CAPTURED:
            capture(run, node, cotangent)
        if leaf:
            if state & FILL:
                accumulate(<AccumulateGrad>node, cotangent, owned)
            return
        wanted = wanted_inputs(run, node)
        if wanted is None:
            return
        if wanted is True:
            wanted = None
    elif leaf:
        accumulate(<AccumulateGrad>node, cotangent, owned)
        return
    if is_undefined(node, cotangent):
        result = None
    else:
        result = apply_node(node, cotangent, wanted)
        if extras is not None and extras.posthooks is not None:
            result = run_posthooks(node, result, cotangent)
        if not run.keep:     # only now: after an error, the node could run again
            node.release()
    cotangent = None
    for i in range(n):
        child = next_node(node, i)
        if child is None:
            continue
        if run.selective and not run.slot(child).state & NEEDED:
            continue
        if result is not None:
            number = next_number(node, i)
            deliver(run, child, number, <object>PyTuple_GET_ITEM(result, i))
        slot = run.slot(child)
        slot.waiting -= 1
        if slot.waiting == 0:
            enqueue(run, child)


cdef inline bint is_simple(Node node, int state, object cotangent) noexcept:
    """Whether there is nothing to do for a node but to run one rule per input."""
    return (type(node) is PrimitiveNode and node.extras is None and node.outputs == 1
            and cotangent is not None and not state & CAPTURED
            and not tp_modes & (MODE_ANOMALY | MODE_OBSERVED)
            and (<PrimitiveNode>node).primitive.vjp_joint is None
            and (<PrimitiveNode>node).primitive.outputs == 1)


cdef pull_each(Run run, PrimitiveNode node, object cotangent):
    """Run a simple node: hand on what each input's rule gives, without collecting it."""
    cdef Primitive p = node.primitive
    cdef Py_ssize_t i, n = node.inputs
    cdef tuple saved = saved_of(node)
    cdef object out = None, value
    cdef Node child
    cdef Slot* slot
    if node.released:
        raise RuntimeError(released_message(node))
    if saved is not None:
        if saved_as_is(node, saved):
            if PyTuple_GET_SIZE(saved) > n:
                out = <object>PyTuple_GET_ITEM(saved, n)
        else:
            unpacked = [None if saved[i] is None else unpack_saved(node, i)
                        for i in range(len(saved))]
            if len(unpacked) > n:
                out = unpacked[n]
            saved = tuple(unpacked)
    for i in range(n):
        child = next_node(node, i)
        if child is None:
            continue
        slot = run.slot(child)
        if run.selective and not slot.state & NEEDED:
            continue
        if p.vjp_rules[i] is not None:
            value = input_vjp(p, <Rule>p.vjp_rules[i], saved, node, out, cotangent)
            if value is not None and p.broadcasts and node.shapes is not None:
                value = sum_to(<Tensor>value, <tuple>node.shapes[i])
            deliver(run, child, next_number(node, i), value)
            slot = run.slot(child)
        slot.waiting -= 1
        if slot.waiting == 0:
            enqueue(run, child)
    if not run.keep:
        node.release()


cdef tuple apply_node(Node node, object cotangent, object wanted):
    if tp_modes & (MODE_ANOMALY | MODE_OBSERVED):
        return _layer["observe_node"](node, lambda: node.apply(cotangent, wanted))
    return node.apply(cotangent, wanted)


cdef bint is_undefined(Node node, object cotangent):
    """Whether no cotangent arrived, so that there is nothing to do for this node."""
    if cotangent is not None:
        if type(cotangent) is list:
            for item in <list>cotangent:
                if item is not None:
                    return False
        else:
            return False
    return not (isinstance(node, PythonNode) and (<PythonNode>node).runs_undefined)


cdef object wanted_inputs(Run run, Node node):
    """None when no input is needed, True when all with an edge are, else a tuple of bools."""
    cdef bint any_needed = False, all_needed = True
    cdef list flags = []
    for item in next_nodes(node):
        needed = item is not None and (run.slot(<Node>item).state & NEEDED) != 0
        any_needed |= needed
        if item is not None:
            all_needed &= needed
        flags.append(needed)
    if not any_needed:
        return None
    return True if all_needed else tuple(flags)


cdef capture(Run run, Node node, object cotangent):
    cdef Slot* slot = run.slot(node)
    cdef PyObject* old = slot.captured
    Py_INCREF(cotangent)
    slot.captured = <PyObject*>cotangent
    Py_XDECREF(old)


cdef list captured_all(Run run, targets, bint allow_unused, unused_message):
    cdef list found = []
    for i, (node, number) in enumerate(targets):
        cotangent = captured(run, <Node>node, number)
        if cotangent is None and not allow_unused:
            raise RuntimeError(unused_message.format(i))
        found.append(cotangent)
    return found


cdef object captured(Run run, Node node, Py_ssize_t number):
    """The cotangent that arrived at an output of a node which was asked for; or None."""
    cdef Slot* slot = run.slot(node)
    if slot.captured is NULL:
        return None
    found = <object>slot.captured
    return found[number] if type(found) is list else found


# --- hooks ----------------------------------------------------------------------------------------

cdef object run_prehooks(Node node, Extras extras, object cotangent):
    """Tensor hooks of each output, then the node's own prehooks."""
    cdef list parts = [cotangent]
    if node.outputs != 1:
        parts = [None] * node.outputs if cotangent is None else list(cotangent)
    if extras.tensor_hooks is not None:
        for number in range(len(parts)):
            if number in extras.tensor_hooks:
                parts[number] = call_hooks(extras.tensor_hooks[number], parts[number])
    if extras.prehooks is not None:
        for hook in list(extras.prehooks.values()):
            changed = hook(tuple(parts))
            if changed is not None:
                parts = checked_gradients(node, "register_prehook", changed, parts)
    return parts if node.outputs != 1 else parts[0]


cdef object call_hooks(object hooks, object cotangent):
    if cotangent is None:
        return None
    for key in list(hooks):
        hook = hooks.get(key)
        if hook is None:           # removed by an earlier hook
            continue
        changed = hook(cotangent)
        if changed is not None:
            cotangent = check_hook(changed, cotangent)
    return cotangent


cdef object check_hook(object new, object old):
    if new is None or old is None:
        return new
    if not is_tensor(new):
        raise TypeError(f"register_hook(): a hook must return a Tensor or None, got "
                        f"{type(new).__name__}")
    if shape_of(<Tensor>new) != shape_of(<Tensor>old):
        raise RuntimeError(
            f"register_hook(): a hook has changed the size of the gradient from "
            f"{list(shape_of(<Tensor>old))} to {list(shape_of(<Tensor>new))}")
    if typenum_of(<Tensor>new) != typenum_of(<Tensor>old):
        raise RuntimeError(
            f"register_hook(): a hook has changed the type of the gradient from "
            f"{dtype_of(<Tensor>old)} to {dtype_of(<Tensor>new)}")
    return new


cdef tuple run_posthooks(Node node, tuple result, object cotangent):
    outputs = tuple(cotangent) if type(cotangent) is list else (cotangent,)
    for hook in list(node.extras.posthooks.values()):
        changed = hook(result, outputs)
        if changed is not None:
            result = tuple(checked_gradients(node, "register_hook", changed, result))
    return result


cdef list checked_gradients(Node node, str name, object changed, object before):
    """What a hook of a node returned in place of some gradients."""
    if is_tensor(changed):
        changed = (changed,)
    if not isinstance(changed, (tuple, list)):
        raise TypeError(f"{name}(): a hook of {node.name()} must return a tuple of tensors or "
                        f"None, got {type(changed).__name__}")
    if len(changed) != len(before):
        raise RuntimeError(f"{name}(): a hook of {node.name()} returned {len(changed)} gradients, "
                           f"expected {len(before)}")
    return [check_hook(new, old) for new, old in zip(changed, before)]


cdef fill_retained(Node node, object cotangent):
    cdef Tensor x
    for number, refs in node.extras.retained.items():
        part = cotangent if node.outputs == 1 or cotangent is None else cotangent[number]
        if part is None:
            continue
        for ref in refs:
            target = ref()
            if target is not None:
                add_gradient(<Tensor>target, <Tensor>part, False)


# --- leaves ---------------------------------------------------------------------------------------

cdef object _accumulate_lock = threading.RLock()


cdef accumulate(AccumulateGrad node, object cotangent, bint owned):
    cdef Tensor leaf = node.variable
    if cotangent is None:
        return
    with _accumulate_lock:
        add_gradient(leaf, <Tensor>cotangent, owned)
    if leaf.post_hooks:
        for hook in list(leaf.post_hooks.values()):
            hook(leaf)
    if node.extras is not None and node.extras.posthooks is not None:
        run_posthooks(node, (), cotangent)


cdef add_gradient(Tensor x, Tensor cotangent, bint owned):
    """x.grad += cotangent; .grad never shares memory with anything else."""
    if shape_of(cotangent) != shape_of(x):
        cotangent = _layer["expand"](_layer["sum_to"](cotangent, shape_of(x)), shape_of(x))
        owned = False
    if typenum_of(cotangent) != typenum_of(x):
        cotangent = _layer["cast"](cotangent, dtype_of(x))
        owned = True
    if x._grad is None:
        if tp_grad_mode:
            x._grad = _layer["clone"](cotangent)
        elif owned or stealable(cotangent):
            x._grad = cotangent
        else:
            x._grad = _layer["clone"](cotangent)
        return
    if tp_grad_mode:
        x._grad = binary_call(ADD, x._grad, cotangent)
    elif x._grad.flags & REQUIRES_GRAD or not add_in_place(x._grad, cotangent):
        x._grad = binary_call(ADD, x._grad, cotangent)
    else:
        count_change(x._grad)


cdef bint stealable(Tensor g):
    """Whether nobody else can reach this tensor or its array."""
    cdef cnp.ndarray array
    if g._array is None or g.flags & (REQUIRES_GRAD | SLOW | VIEW) or g.version is not None:
        return False
    array = g._array
    return (Py_REFCNT(<PyObject*>g) <= 3 and Py_REFCNT(<PyObject*>array) <= 2
            and cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA)
            and cnp.PyArray_IS_C_CONTIGUOUS(array))


def leaf_hooks(Tensor x, bint post):
    """The dictionary of hooks of a leaf: on its gradient, or after accumulation."""
    if post:
        if x.post_hooks is None:
            x.post_hooks = HookDict()
        return x.post_hooks
    if x.hooks is None:
        x.hooks = HookDict()
    return x.hooks


def accumulate_into(Tensor x, Tensor cotangent):
    """Add a cotangent to `x.grad`, as the engine does at a leaf."""
    with _accumulate_lock:
        add_gradient(x, cotangent, False)


def unit_cotangent(x):
    """The one that the backward pass of a real scalar starts with; None for anything else."""
    cdef cnp.ndarray array, one
    cdef Tensor inner
    if not is_tensor(x):
        return None
    inner = <Tensor>x
    while inner._array is None:
        if inner._bdim >= 0:      # the scalar of each sample
            return ones_shaped((), dtype_of(<Tensor>x)) if ndim_of(<Tensor>x) == 0 else None
        inner = inner._value
    array = inner._array
    if cnp.PyArray_SIZE(array) != 1 or is_complex_num(cnp.PyArray_TYPE(array)):
        return None
    if not is_loop_array(array):
        return ones_shaped(shape_of(inner), dtype_of(inner))
    one = empty_like_shape(array)
    if cnp.PyArray_TYPE(one) == cnp.NPY_FLOAT:
        (<float*>cnp.PyArray_DATA(one))[0] = 1
    else:
        (<double*>cnp.PyArray_DATA(one))[0] = 1
    return new_tensor(one)


def scalar_root(x):
    """[(node, output number, one)] of a scalar tensor in a graph; None for anything else."""
    cdef Node node
    if not is_tensor(x):
        return None
    if (<Tensor>x).flags & VIEW:
        refresh(<Tensor>x)
    node = edge_of(<Tensor>x)
    one = None if node is None else unit_cotangent(x)
    return None if one is None else [(node, (<Tensor>x).output_nr, one)]


def ones_shaped(tuple shape, dtype):
    """Ones of a shape and dtype, the cotangent that a scalar starts with."""
    return new_tensor(np.ones(shape, dtype=(dtype or _dtypes.get_default_dtype()).numpy))


def new_zeros(tuple shape, dtype):
    """Zeros of a shape and dtype, in memory of their own."""
    return new_tensor(np.zeros(shape, dtype=dtype.numpy))


def identity(Py_ssize_t size, dtype):
    """The identity matrix, as a plain tensor."""
    return new_tensor(np.eye(size, dtype=dtype.numpy))


def unit_block(Py_ssize_t total, Py_ssize_t start, Py_ssize_t count, dtype):
    """`count` columns, from `start` on, of the identity matrix of size `total`."""
    return new_tensor(np.eye(total, count, -start, dtype=dtype.numpy))


def level_of(Tensor x):
    """The active level that x is boxed at; None for a plain tensor or when that has ended."""
    return find_level(x._level) if x.flags & BOX else None


def unit_vector(Tensor like, Py_ssize_t index):
    """Zeros like a tensor with a one at a flat index."""
    array = np.zeros(shape_of(like), dtype=dtype_of(like).numpy)
    array.reshape(-1)[index] = 1
    return new_tensor(array)
