// What Cython does not let a class say about its type: slots of the type object set by hand, for the
// types whose objects every operation makes or calls.
#pragma once
#include <Python.h>
#include <cstring>

namespace tensorplay {

// ---- calls ---------------------------------------------------------------------------------------

// Calls go to the `vectorcall` function whose pointer lies at `offset` in each object.
static void enable_vectorcall(PyTypeObject* type, Py_ssize_t offset)
{
    type->tp_vectorcall_offset = offset;
    type->tp_call = PyVectorcall_Call;
    type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
    PyType_Modified(type);
}

// ---- memory --------------------------------------------------------------------------------------

// Tensors and nodes are visible to Python's cyclic collector, but their number does not drive it. It
// would count every allocation and visit all objects again and again while a long graph grows, which
// takes several times as long as making the graph. Instead it is called when there are four times as
// many of them as after the last time, so that the passes together visit each object about once.
struct Census {
    static constexpr Py_ssize_t least = 20000;
    static inline Py_ssize_t alive = 0, limit = least;
    static inline Py_ssize_t header = 0;     // bytes of the collector in front of an object; 0: unknown

    static void grown()
    {
        limit = 4 * alive;                   // not again while it runs
        if (PyGC_IsEnabled()) PyGC_Collect();
        limit = 4 * alive > least ? 4 * alive : least;
    }
};

// How the objects of one type get their memory: from those that died, or uncounted.
template <int tag> struct Pool {
    static constexpr int capacity = 512;
    static inline PyObject* items[capacity];
    static inline int count = 0;

    static PyObject* take(PyTypeObject* type, Py_ssize_t size)
    {
        if (++Census::alive > Census::limit) Census::grown();
        PyObject* object;
        if (count != 0) {
            object = items[--count];
        } else if (Census::header == 0) {
            return PyType_GenericAlloc(type, size);
        } else {
            char* memory = static_cast<char*>(PyObject_Malloc(Census::header + type->tp_basicsize));
            if (memory == NULL) return PyErr_NoMemory();
            std::memset(memory, 0, Census::header);
            object = reinterpret_cast<PyObject*>(memory + Census::header);
        }
        std::memset(static_cast<void*>(object), 0, type->tp_basicsize);
        PyObject_Init(object, type);
        PyObject_GC_Track(object);
        return object;
    }
    static void give_back(void* object)
    {
        --Census::alive;
        if (count < capacity) items[count++] = static_cast<PyObject*>(object);
        else if (Census::header == 0) PyObject_GC_Del(object);
        else PyObject_Free(static_cast<char*>(object) - Census::header);
    }
    static void enable(PyTypeObject* type, Py_ssize_t header)
    {
        // Of a release before or after those that keep two words there: count as usual.
        Census::header = header == 2 * sizeof(void*) ? header : 0;
        type->tp_alloc = take;
        type->tp_free = give_back;
    }
};

// ---- attributes of tensors -----------------------------------------------------------------------

// The dictionary of what users set on a tensor. Cython would make one for every tensor, which costs
// more than the rest of it; here it is made when first needed, and the interpreter finds methods on
// its fast path, which `__getattr__` would close.
struct Attributes {
    static inline Py_ssize_t offset;      // where in a tensor the pointer to its dictionary lies
    static inline destructor dealloc_rest;
    static inline traverseproc traverse_rest;
    static inline inquiry clear_rest;

    static PyObject*& of(PyObject* object)
    {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
    }
    static void dealloc(PyObject* object)
    {
        if (of(object) != NULL) {
            PyObject_GC_UnTrack(object);
            Py_CLEAR(of(object));
        }
        dealloc_rest(object);
    }
    static int traverse(PyObject* object, visitproc visit, void* arg)
    {
        Py_VISIT(of(object));
        return traverse_rest(object, visit, arg);
    }
    static int clear(PyObject* object)
    {
        Py_CLEAR(of(object));
        return clear_rest(object);
    }
    static void enable(PyTypeObject* type, Py_ssize_t where)
    {
        offset = type->tp_dictoffset = where;
        dealloc_rest = type->tp_dealloc;
        traverse_rest = type->tp_traverse;
        clear_rest = type->tp_clear;
        type->tp_dealloc = dealloc;
        type->tp_traverse = traverse;
        type->tp_clear = clear;
        PyType_Modified(type);
    }
};

// ---- leaves --------------------------------------------------------------------------------------

// A leaf points to its graph node without owning it: the pointer goes when the node does. Neither
// may the collector take the leaf from the node before that.
struct LeafNode {
    static inline Py_ssize_t variable, accumulator;    // offsets in the node, and in the tensor
    static inline destructor dealloc_rest;

    static PyObject*& field(PyObject* object, Py_ssize_t offset)
    {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
    }
    static void dealloc(PyObject* object)
    {
        PyObject* leaf = field(object, variable);
        if (leaf != Py_None && leaf != NULL) field(leaf, accumulator) = NULL;
        dealloc_rest(object);
    }
    // `probe` is a node whose variable is `leaf`: its field is found by what it holds.
    static void enable(PyObject* probe, PyObject* leaf, Py_ssize_t accumulator_offset)
    {
        PyTypeObject* type = Py_TYPE(probe);
        variable = type->tp_basicsize - sizeof(PyObject*);
        while (field(probe, variable) != leaf) variable -= sizeof(PyObject*);
        accumulator = accumulator_offset;
        dealloc_rest = type->tp_dealloc;
        type->tp_dealloc = dealloc;
    }
};

}  // namespace tensorplay
