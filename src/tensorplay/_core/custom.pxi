# What the Python layers above need to build nodes of their own: custom functions, saved tensors.

def make_node(kind, label, run, inputs, metas, context, release=None):
    """A node of a PythonNode subclass whose edges lead to `inputs` (tensors, or None).

    Its `run` is called also when no cotangent arrived, as custom functions expect.
    """
    cdef PythonNode node = kind.__new__(kind)
    for item in inputs:
        if is_tensor(item) and (<Tensor>item).flags & VIEW:
            refresh(<Tensor>item)
    node._label = label
    node._run = run
    node._release = release
    node._metas = tuple(metas)
    node.outputs = len(node._metas)
    node._context = context
    node.runs_undefined = True
    link(node, tuple(inputs))
    if tp_modes & MODE_ANOMALY:
        _layer["on_record"](node)
    return node


def without_history(Tensor x):
    """Another tensor over the same values that is outside of x's graph; boxes keep theirs."""
    if x.flags & VIEW:
        refresh(x)
    return alias(x, False)


def at_edge(Tensor x, Node node, int output_number):
    """An alias of x, with its tangents, that stands at a given place in the graph."""
    cdef Tensor out = without_history(x)
    set_tangents(out, x.tangents)
    if node is not None:
        out._grad_fn = node
        out.output_nr = output_number
        out.flags |= REQUIRES_GRAD
    return out


def replace_tangents(Tensor x, dict tangents):
    """Give x itself exactly these tangents: {forward level id: tangent}."""
    set_tangents(x, tangents or None)


def adopt_history(Tensor x, Tensor value, Tensor before=None):
    """x holds the values of `value` already: give it that history too.

    For a view, `before` is an alias of its base with the history from before the change.
    """
    cdef ViewInfo info = x.view
    if info is None:
        take_history(x, value)
        return
    rebase(info.base, before, value, view_chain(x))
    info.seen = -1
    refresh(x)


def base_alias(Tensor x):
    """An alias, with its history, of the tensor that x is a view of; None for other tensors."""
    return None if x.view is None else alias_with_history(x.view.base)


def mark_custom_view(Tensor x, Tensor base, str name):
    """Forbid changes in place that would bypass the custom function which returned this view.

    x shares memory with `base`; inside a transform it does not know that yet.
    """
    cdef ViewInfo info = x.view
    if info is None:
        info = ViewInfo.__new__(ViewInfo)
        info.base = base if base.view is None else base.view.base
        info.parent = base
        info.params = ()
        x.version = version_of(base)
        info.seen = x.version.value
        x.view = info
    info.maker = name
    x.flags |= CUSTOM_VIEW | VIEW


def about_to_write(Tensor x, str name):
    """To be called before the memory of a plain tensor is changed directly."""
    if x.flags & INFERENCE and not tp_modes & MODE_INFERENCE:
        check_inplace(x, name)
    if tp_modes & MODE_MUTATION:
        _layer["before_write"](x)


def version_object(Tensor x):
    """The counter of in-place changes that x shares with its views and aliases."""
    return version_of(x)


def apart(Tensor x, Tensor source):
    """x, copied where it shares memory with `source`."""
    return _layer["clone"](x) if x.version is not None and x.version is source.version else x


def hide_forward_levels():
    """Turn forward mode off for the levels that are open; `show_forward_levels` undoes it."""
    hidden = [level for level in _stack.active if (<Level>level).kind == "forward"
              and (<Level>level).id in _stack.by_id]
    for level in hidden:
        del _stack.by_id[(<Level>level).id]
    return hidden


def show_forward_levels(list hidden):
    """Turn forward mode on again for levels that were hidden."""
    for level in hidden:
        _stack.by_id[(<Level>level).id] = level


def unboxed(Tensor x):
    """The value inside a box."""
    return x._value


def levels_below(Level level):
    """The active levels without the vmap and gradient levels from `level` on inwards."""
    return [each for each in _stack.active
            if (<Level>each).kind == "forward" or (<Level>each).id < level.id]


def exchange_levels(list active):
    """Let these be the active levels of this thread; returns the list of those that were.

    For code that runs at an outer level while inner ones are open: what it creates belongs there.
    """
    previous = _stack.active
    _stack.active = active
    return previous


def reopen_levels(levels):
    """Let these levels be the active ones, also where they have ended; `close_levels` undoes it.

    For code that runs a stretch of a program again, as it ran when they were active.
    """
    ended = [level for level in levels if (<Level>level).id not in _stack.by_id]
    for level in ended:
        _stack.by_id[(<Level>level).id] = level
    return exchange_levels(list(levels)), ended


def close_levels(before):
    """Undo `reopen_levels`, given what it returned."""
    active, ended = before
    for level in ended:
        del _stack.by_id[(<Level>level).id]
    exchange_levels(active)


# --- backward passes, seen from hooks -------------------------------------------------------------

def current_run():
    """The backward pass that runs in this thread, an object without content; None outside."""
    return None if tp_run is NULL else <object>tp_run


def fills_every_leaf():
    """Whether a backward pass runs in this thread that was not asked for particular gradients."""
    return tp_run is not NULL and not (<Run>tp_run).selective


def will_run(Node node):
    """Whether the backward pass that runs in this thread reaches a node."""
    cdef Run run
    cdef int state
    if tp_run is NULL:
        return False
    run = <Run>tp_run
    state = run.slot(node).state
    return state & SEEN != 0 and (not run.selective or state & NEEDED != 0)
