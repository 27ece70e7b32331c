# What Python's cyclic garbage collector gets to see of a graph.
#
# The collector visits every container that is alive, again and again while their number grows: for
# a long graph that takes several times as long as making it. References in a graph lead from newer
# nodes to older ones, so by itself it has no cycles and reference counts free it. Its nodes, and the
# tensors that they save, are therefore left out, until something is attached to a tensor or a node
# through which a cycle could close (a hook, an attribute, a gradient with a history, ...). Then
# `may_cycle` hands them all to the collector, and from then on it sees everything.

cdef extern from "Python.h":
    void PyObject_GC_Track(PyObject*)
    void PyObject_GC_UnTrack(PyObject*)
    int PyObject_GC_IsTracked(PyObject*)
    int PyObject_GenericSetAttr(object, object, PyObject*) except -1

cdef bint _all_collected = False
cdef PyObject* _newest = NULL      # of the nodes that are left out; the others follow in `older`


cdef leave_out(PrimitiveNode node):
    """Do not let the collector visit a node that was just recorded, nor what it saves."""
    if _all_collected:
        return
    global _newest
    PyObject_GC_UnTrack(<PyObject*>node)
    node.older = _newest
    if _newest is not NULL:
        (<LinkedNode>_newest).newer = <PyObject*>node
    _newest = <PyObject*>node
    if node.others is not None:
        PyObject_GC_UnTrack(<PyObject*>node.others)
    if node.saved is not None:
        PyObject_GC_UnTrack(<PyObject*>node.saved)
        for item in node.saved:
            if type(item) is Tensor:
                leave_out_tensor(<Tensor>item)


cdef leave_out_tensor(Tensor x):
    """... with the tensors that a view comes from, whose change would be the view's."""
    PyObject_GC_UnTrack(<PyObject*>x)
    while x.view is not None and type(x.view.parent) is Tensor:
        x = x.view.parent
        PyObject_GC_UnTrack(<PyObject*>x)


cdef take_back(LinkedNode node):
    """A node lets go of what it saved: the collector sees again what others hold of that."""
    cdef Tensor x
    if _all_collected:
        return
    for item in node.saved:
        if type(item) is not Tensor:
            continue
        x = item
        while True:
            if not PyObject_GC_IsTracked(<PyObject*>x):
                PyObject_GC_Track(<PyObject*>x)
            if x.view is None or type(x.view.parent) is not Tensor:
                break
            x = x.view.parent


cdef void forget(LinkedNode node) noexcept:
    """A node that was left out goes away."""
    global _newest
    if node.newer is not NULL:
        (<LinkedNode>node.newer).older = node.older
    elif _newest is <PyObject*>node:
        _newest = node.older
    if node.older is not NULL:
        (<LinkedNode>node.older).newer = node.newer


cdef may_cycle():
    """From now on, the collector visits every node and tensor."""
    global _all_collected, _newest
    cdef PyObject* place = _newest
    cdef PrimitiveNode node
    if _all_collected:
        return
    while place is not NULL:
        if Py_REFCNT(place) > 0:     # else it is about to be freed
            node = <PrimitiveNode>place
            track(place)
            track(<PyObject*>node.others)
            if node.saved is not None:
                track(<PyObject*>node.saved)
                take_back(node)
        place = (<LinkedNode>place).older
    _all_collected = True


cdef inline void track(PyObject* item) noexcept:
    if item is not <PyObject*>None and not PyObject_GC_IsTracked(item):
        PyObject_GC_Track(item)


cdef attribute_set(Tensor x, name, value):
    """The user sets an attribute that is not one of the library's."""
    if value is not None and not isinstance(value, (bool, int, float, str)) \
            and not hasattr(Tensor, name):
        may_cycle()


cdef inline changes_history(Tensor x):
    """A tensor gets a new history in place, which may lead back to it if others hold it."""
    if not _all_collected and (x.flags & GRADIENT or not PyObject_GC_IsTracked(<PyObject*>x)):
        may_cycle()
