# Per-thread modes, the stack of transform levels, version counters.

cdef extern from *:
    """
    // Initial-exec thread storage: read on every operation, so no call to find its address.
    #if defined(__GNUC__) && !defined(_WIN32)
    #define TP_TLS __thread __attribute__((tls_model("initial-exec")))
    #else
    #define TP_TLS thread_local
    #endif
    static TP_TLS int tp_grad_mode = 1;
    static TP_TLS int tp_modes = 0;         // rare modes; any of them leaves the fast paths
    static TP_TLS PyObject* tp_levels = NULL;   // borrowed: the levels of this thread by id
    static TP_TLS long tp_forward_floor = 0;    // forward levels up to this one are switched off
    """
    int tp_grad_mode
    int tp_modes
    PyObject* tp_levels
    long tp_forward_floor


cdef enum:
    MODE_SAVED_HOOKS = 1   # saved tensors go through pack/unpack hooks
    MODE_OBSERVED = 2      # every operation is reported to an observer (profiler)
    MODE_ANOMALY = 4       # nodes remember where they were recorded
    MODE_INFERENCE = 8     # results are inference tensors
    MODE_MUTATION = 32     # saved tensors are copied before they are changed in place
    MODE_SELECTED = 64     # results of kernels go through a function that may know them already
    MODE_PULLING = 16      # the backward pass of a function transform runs


def is_grad_enabled():
    """Whether operations on this thread are recorded for reverse mode.

    >>> import tensorplay as tp
    >>> tp.is_grad_enabled()
    True
    """
    return tp_grad_mode != 0


def set_grad_mode(bint enabled):
    """Set the grad mode of this thread and return the previous one; off in inference mode."""
    global tp_grad_mode
    cdef bint previous = tp_grad_mode
    tp_grad_mode = enabled and not tp_modes & MODE_INFERENCE
    return previous


def set_mode(int bit, bint enabled):
    """Turn a rare mode (a power of two) on or off in this thread; returns its old state."""
    global tp_modes
    cdef bint previous = (tp_modes & bit) != 0
    tp_modes = (tp_modes | bit) if enabled else (tp_modes & ~bit)
    return previous


def get_mode(int bit):
    """Whether one of the rare modes is on in this thread."""
    return (tp_modes & bit) != 0


class _ModeData(threading.local):
    """What the rare modes need: hooks and observers of this thread."""

    def __init__(self):
        self.saved_hooks = []      # (pack, unpack) pairs, innermost last
        self.saved_hooks_disabled = None   # the message that says why hooks are refused
        self.selecting = []        # (primitive, inputs, params, compute) -> result, innermost last
        self.observers = []        # objects with enter(name, inputs) and leave(token, outputs)


mode_data = _ModeData()


# --- transform levels ---------------------------------------------------------------------------

cdef class Level:
    """One active transform: a vmap, a function-transform gradient, or a forward-mode level.

    `id` grows with nesting and is never used twice, so that a tensor that escapes its transform is
    recognised. `grad_mode` of a gradient level is the mode outside of it: what the values inside
    its boxes are computed with.
    """

    cdef readonly long id
    cdef readonly str kind           # 'vmap', 'grad', 'forward' or 'interpret'
    cdef readonly object size        # batch size of a vmap
    cdef readonly object randomness  # of a vmap: 'error', 'same' or 'different'
    cdef readonly object handler     # of 'interpret' levels: (primitive, inputs, params) -> result
    cdef readonly int grad_mode      # of a grad level; -1: take the current mode
    cdef list kept                   # of a forward level: saved outputs with tangents, weakly

    def __repr__(self):
        return f"Level({self.id}, {self.kind!r})"


class _LevelStack(threading.local):
    def __init__(self):
        self.active = []     # every level, innermost last
        self.by_id = {}


cdef object _stack = _LevelStack()
cdef long _next_level = 0
cdef dict _forward_levels = {}    # the forward levels that are open in any thread: {id: Level}


def push_level(str kind, size=None, randomness=None, handler=None):
    """Enter a transform level and return it; `pop_level` must follow."""
    global _next_level
    cdef Level level = Level.__new__(Level)
    _next_level += 1
    level.id = _next_level
    level.kind = kind
    level.size = size
    level.randomness = randomness
    level.handler = handler
    level.grad_mode = tp_grad_mode if kind == "grad" else -1
    _stack.active.append(level)
    _stack.by_id[level.id] = level
    if kind == "forward":
        _forward_levels[level.id] = level
    return level


def pop_level(Level level):
    """Leave a transform level (and any level left open inside it)."""
    active = _stack.active
    if level not in active:
        raise RuntimeError(f"pop_level(): level {level.id} is not active")
    while True:
        last = active.pop()
        del _stack.by_id[last.id]
        if (<Level>last).kept is not None:
            forget_tangents(<Level>last)
        _forward_levels.pop(last.id, None)
        if last is level:
            return


def active_levels():
    """The active levels of this thread, outermost first."""
    return tuple(_stack.active)


def open_forward_levels():
    """The forward levels that are open in any thread, outermost first."""
    return sorted(_forward_levels.values(), key=lambda level: level.id)


def set_forward_floor(long level_id):
    """Switch off, in this thread, the forward levels up to one; returns what was set before."""
    global tp_forward_floor
    cdef long previous = tp_forward_floor
    tp_forward_floor = level_id
    return previous


def last_level():
    """The id of the level that was opened last, in any thread."""
    return _next_level


cdef inline dict levels_by_id():
    """The active levels of this thread: {id: Level}."""
    global tp_levels
    if tp_levels is NULL:
        tp_levels = <PyObject*>_stack.by_id     # lives as long as the thread
    return <dict>tp_levels


cdef inline Level find_level(long level_id):
    return levels_by_id().get(level_id)


cdef bint is_forward_open(long level_id):
    """Whether a forward level is open: in this thread and not hidden, or in another thread."""
    if level_id in levels_by_id():
        return True
    foreign = _forward_levels.get(level_id)
    return foreign is not None and foreign not in _stack.active


cdef inline bint is_forward_active(long level_id):
    """Whether operations of this thread compute tangents of a level."""
    return level_id > tp_forward_floor and is_forward_open(level_id)


cdef int mode_below(long level_id, int default):
    """The grad mode of a level: on where it was on at every gradient level above it."""
    cdef int mode = -1
    for level in _stack.active:
        if (<Level>level).grad_mode >= 0 and (<Level>level).id > level_id:
            mode = (<Level>level).grad_mode and mode != 0
    return default if mode < 0 else mode


cdef long innermost_box_level():
    """The id of the innermost vmap or grad level; 0 when there is none."""
    for level in reversed(_stack.active):
        if (<Level>level).kind != "forward":
            return (<Level>level).id
    return 0


# --- versions -----------------------------------------------------------------------------------

@cython.freelist(64)
cdef class Version:
    """Counts in-place changes; shared by a tensor, its views and its detached aliases."""

    cdef readonly long value
