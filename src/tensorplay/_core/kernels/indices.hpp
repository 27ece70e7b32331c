// Loops over index arrays: gathering, scattering and adding at the elements that an index names.
//
// An index names elements along one dim of an array; its other dims run over the array's own.
// Nothing here depends on the instruction set: the work is finding elements, not computing.
#pragma once
#include <complex>
#include <cstdint>
#include <cstring>

namespace tensorplay {

struct Walk {
    int ndim;                 // of the index and of the array, at least 1
    int dim;                  // the dim that the index names elements of
    const int64_t* shape;     // of the index
    const int64_t* strides;   // of the array, in elements
};

// f(position in the array, number of the entry) for every entry of a C-contiguous index.
template <class F> static inline void walk(const Walk& w, const int64_t* index, F f)
{
    int last = w.ndim - 1;
    int64_t counters[64] = {}, length = w.shape[last], rows = 1, base = 0, n = 0;
    int64_t along = w.strides[w.dim], step = last == w.dim ? 0 : w.strides[last];
    for (int d = 0; d < last; ++d) rows *= w.shape[d];
    for (int64_t row = 0; row < rows; ++row) {
        int64_t place = base;
        for (int64_t j = 0; j < length; ++j, ++n, place += step) f(place + index[n] * along, n);
        for (int d = last - 1; d >= 0; --d) {
            int64_t stride = d == w.dim ? 0 : w.strides[d];
            base += stride;
            if (++counters[d] < w.shape[d]) break;
            base -= stride * w.shape[d];
            counters[d] = 0;
        }
    }
}

// The number of the first entry that is not in 0 .. size - 1; -1 if all are.
static inline int64_t first_outside(const int64_t* index, int64_t n, int64_t size)
{
    uint64_t limit = uint64_t(size);
    bool outside = false;
    for (int64_t i = 0; i < n; ++i) outside |= uint64_t(index[i]) >= limit;
    if (!outside) return -1;
    int64_t i = 0;
    while (uint64_t(index[i]) < limit) ++i;
    return i;
}

// rows += column * stride, entries counted from the end where negative; the number of the first
// entry that names nothing, -1 if none does.
static inline int64_t add_column(int64_t* rows, const int64_t* column, int64_t n, int64_t size,
                                 int64_t stride)
{
    for (int64_t i = 0; i < n; ++i) {
        int64_t place = column[i] < 0 ? column[i] + size : column[i];
        if (uint64_t(place) >= uint64_t(size)) return i;
        rows[i] += place * stride;
    }
    return -1;
}

struct Sixteen {
    uint64_t a, b;
};

template <class T> static inline void gather(const Walk& w, const int64_t* index, const void* x,
                                             void* out)
{
    const T* source = static_cast<const T*>(x);
    T* target = static_cast<T*>(out);
    walk(w, index, [=](int64_t place, int64_t n) { target[n] = source[place]; });
}

template <class T> static inline void scatter(const Walk& w, const int64_t* index, const void* src,
                                              void* out)
{
    const T* source = static_cast<const T*>(src);
    T* target = static_cast<T*>(out);
    walk(w, index, [=](int64_t place, int64_t n) { target[place] = source[n]; });
}

template <class T> static inline void scatter_add(const Walk& w, const int64_t* index,
                                                  const void* src, void* out)
{
    const T* source = static_cast<const T*>(src);
    T* target = static_cast<T*>(out);
    walk(w, index, [=](int64_t place, int64_t n) { target[place] += source[n]; });
}

// out[o, rows[r], :] += values[o, r, :]
template <class T> static inline void add_rows(void* out, const int64_t* rows, const void* values,
                                               int64_t outer, int64_t size, int64_t count,
                                               int64_t inner)
{
    const T* source = static_cast<const T*>(values);
    for (int64_t o = 0; o < outer; ++o) {
        T* block = static_cast<T*>(out) + o * size * inner;
        for (int64_t r = 0; r < count; ++r, source += inner) {
            T* target = block + rows[r] * inner;
            for (int64_t i = 0; i < inner; ++i) target[i] += source[i];
        }
    }
}

// out[o, rows[r], :] = values[o, r, :], `bytes` bytes each.
static inline void put_rows(void* out, const int64_t* rows, const void* values, int64_t outer,
                            int64_t size, int64_t count, int64_t bytes)
{
    const char* source = static_cast<const char*>(values);
    for (int64_t o = 0; o < outer; ++o) {
        char* block = static_cast<char*>(out) + o * size * bytes;
        for (int64_t r = 0; r < count; ++r, source += bytes)
            std::memcpy(block + rows[r] * bytes, source, size_t(bytes));
    }
}

// --- chosen by the size or the type of the elements ----------------------------------------------

using Move = void (*)(const Walk&, const int64_t*, const void*, void*);
using AddRows = void (*)(void*, const int64_t*, const void*, int64_t, int64_t, int64_t, int64_t);

static inline Move mover(int itemsize, bool scattering)
{
    switch (itemsize) {
    case 1: return scattering ? &scatter<uint8_t> : &gather<uint8_t>;
    case 2: return scattering ? &scatter<uint16_t> : &gather<uint16_t>;
    case 4: return scattering ? &scatter<uint32_t> : &gather<uint32_t>;
    case 8: return scattering ? &scatter<uint64_t> : &gather<uint64_t>;
    case 16: return scattering ? &scatter<Sixteen> : &gather<Sixteen>;
    default: return nullptr;
    }
}

// kind and size as in a NumPy dtype ('f', 4); nullptr for types that C++ does not add.
static inline Move adder(char kind, int itemsize)
{
    switch (kind << 8 | itemsize) {
    case 'f' << 8 | 4: return &scatter_add<float>;
    case 'f' << 8 | 8: return &scatter_add<double>;
    case 'i' << 8 | 4: return &scatter_add<uint32_t>;
    case 'i' << 8 | 8: return &scatter_add<uint64_t>;
    case 'c' << 8 | 8: return &scatter_add<std::complex<float>>;
    case 'c' << 8 | 16: return &scatter_add<std::complex<double>>;
    default: return nullptr;
    }
}

static inline AddRows row_adder(char kind, int itemsize)
{
    switch (kind << 8 | itemsize) {
    case 'f' << 8 | 4: return &add_rows<float>;
    case 'f' << 8 | 8: return &add_rows<double>;
    case 'i' << 8 | 4: return &add_rows<uint32_t>;
    case 'i' << 8 | 8: return &add_rows<uint64_t>;
    case 'c' << 8 | 8: return &add_rows<std::complex<float>>;
    case 'c' << 8 | 16: return &add_rows<std::complex<double>>;
    default: return nullptr;
    }
}

}  // namespace tensorplay
