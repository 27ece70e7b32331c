// Memory for large arrays, given to NumPy as an allocator (NEP 49): from the start of a cache line
// on. Loops with 64-byte registers over arrays from malloc, which start 16 bytes later, would touch
// two cache lines with each access: they take up to half as long again.
#pragma once
#include <cstdlib>
#include <cstring>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tensorplay {

// Up to Python 3.12 its header forgets to say that this is a function of C.
extern "C" int PyTraceMalloc_Track(unsigned int domain, uintptr_t start, size_t size);

static void* aligned_memory(void*, size_t size)
{
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, size ? size : 1)) return nullptr;
#ifdef MADV_HUGEPAGE
    // As NumPy does: fewer page faults where memory is new.
    constexpr size_t large = size_t(1) << 22, page = 4096;
    if (size >= large) {
        size_t start = (reinterpret_cast<size_t>(memory) + page - 1) / page * page;
        size_t end = reinterpret_cast<size_t>(memory) + size;
        madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

static void* zeroed_memory(void* context, size_t count, size_t size)
{
    void* memory = aligned_memory(context, count * size);
    return memory ? std::memset(memory, 0, count * size) : nullptr;
}

static void* resized_memory(void*, void* memory, size_t size)
{
    return std::realloc(memory, size ? size : 1);
}

static void release_memory(void*, void* memory, size_t) { std::free(memory); }

static PyDataMem_Handler aligned_handler = {
    "tensorplay", 1, {nullptr, aligned_memory, zeroed_memory, resized_memory, release_memory}};

// A C-contiguous array in such memory, which it owns. NumPy takes the allocator of a new array from
// a context variable; setting that twice costs several times what the rest of this does.
static PyObject* new_aligned_array(int ndim, const npy_intp* sizes, int num)
{
    static PyObject* const capsule = PyCapsule_New(&aligned_handler, "mem_handler", nullptr);
    PyArray_Descr* dtype = PyArray_DescrFromType(num);
    if (!dtype || !capsule) return nullptr;
    size_t bytes = size_t(PyArray_MultiplyList(sizes, ndim)) * size_t(PyDataType_ELSIZE(dtype));
    void* memory = aligned_memory(nullptr, bytes);
    if (!memory) {
        Py_DECREF(dtype);
        return PyErr_NoMemory();
    }
    PyObject* made = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, sizes, nullptr, memory,
                                          NPY_ARRAY_CARRAY, nullptr);
    if (!made) {
        std::free(memory);
        return nullptr;
    }
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(made);
    reinterpret_cast<PyArrayObject_fields*>(array)->mem_handler = Py_NewRef(capsule);
    PyArray_ENABLEFLAGS(array, NPY_ARRAY_OWNDATA);
    // Seen by tracemalloc as NumPy's own arrays are (np.lib.tracemalloc_domain, fixed by its API).
    constexpr unsigned int numpy_domain = 389047;
    tensorplay::PyTraceMalloc_Track(numpy_domain, reinterpret_cast<uintptr_t>(memory), bytes);
    return made;
}

}  // namespace tensorplay
