// Contiguous copies of arrays in another order, whatever the type.
#pragma once
#include <cstdint>
#include <cstring>

namespace tensorplay {

constexpr int most_dims = 64;

// Sizes, and strides in bytes, of dims that cannot be joined with the next one.
struct Strided {
    int ndim = 0;
    int64_t sizes[most_dims], strides[most_dims];

    Strided(int count, const int64_t* all_sizes, const int64_t* all_strides)
    {
        for (int d = 0; d < count; ++d) {
            if (all_sizes[d] == 1) continue;
            if (ndim && strides[ndim - 1] == all_strides[d] * all_sizes[d]) {
                sizes[ndim - 1] *= all_sizes[d];
                strides[ndim - 1] = all_strides[d];
            } else {
                sizes[ndim] = all_sizes[d];
                strides[ndim++] = all_strides[d];
            }
        }
        if (!ndim) {
            sizes[0] = strides[0] = 1;
            ndim = 1;
        }
    }
    // The dim whose elements are nearest to each other, if that is another than the last one and
    // they are different elements; else -1.
    int closest() const
    {
        int found = ndim - 1;
        auto step = [this](int d) { return strides[d] < 0 ? -strides[d] : strides[d]; };
        for (int d = 0; d < ndim; ++d)
            if (step(d) < step(found)) found = d;
        return found == ndim - 1 || step(found) == 0 ? -1 : found;
    }
};

// A block of `side` x `side` elements (16 bytes a side) of a matrix whose columns are contiguous.
template <class T> static inline void transpose_block(const char* from, int64_t column, T* to,
                                                      int64_t row)
{
    typedef T Line __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
    constexpr int side = 16 / sizeof(T);
    Line in[side], out[side];
    for (int j = 0; j < side; ++j) in[j] = *reinterpret_cast<const Line*>(from + j * column);
    if constexpr (side == 2) {
        out[0] = __builtin_shufflevector(in[0], in[1], 0, 2);
        out[1] = __builtin_shufflevector(in[0], in[1], 1, 3);
    } else {
        Line a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
        Line b = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
        Line c = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
        Line d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
        out[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
        out[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
        out[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
        out[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
    }
    for (int i = 0; i < side; ++i) *reinterpret_cast<Line*>(to + i * row) = out[i];
}

// to[i * row + j] = element i of column j. By tiles of whole cache lines, through a buffer: lines that
// are a power of two apart would drive each other out of the cache.
template <class T>
static inline void copy_transposed(const char* from, int64_t step, int64_t column, T* to,
                                   int64_t row, int64_t rows, int64_t cols)
{
    constexpr int64_t tile = 128 / int64_t(sizeof(T));
    bool blocks = step == int64_t(sizeof(T));
    T buffer[tile * tile];
    for (int64_t first = 0; first < rows; first += tile)
        for (int64_t j = 0; j < cols; j += tile) {
            int64_t high = rows - first < tile ? rows - first : tile;
            int64_t wide = cols - j < tile ? cols - j : tile, k = 0;
            const char* corner = from + first * step + j * column;
            if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
                constexpr int64_t side = 16 / int64_t(sizeof(T));
                for (; blocks && high == tile && k + side <= wide; k += side)
                    for (int64_t i = 0; i < tile; i += side)
                        transpose_block(corner + i * step + k * column, column,
                                        buffer + i * tile + k, tile);
            }
            for (; k < wide; ++k)
                for (int64_t i = 0; i < high; ++i)
                    buffer[i * tile + k] =
                        *reinterpret_cast<const T*>(corner + i * step + k * column);
            for (int64_t i = 0; i < high; ++i)
                std::memcpy(to + (first + i) * row + j, buffer + i * tile, wide * sizeof(T));
        }
}

// Calls body(position in the array, number of the element) for every index of the dims but two.
template <class Body>
static inline void for_outer(const Strided& s, int skip, const int64_t* weights, Body body)
{
    int64_t at[most_dims] = {}, from = 0, to = 0;
    for (;;) {
        body(from, to);
        int d = s.ndim - 2;
        for (; d >= 0; --d) {
            if (d == skip) continue;
            from += s.strides[d];
            to += weights[d];
            if (++at[d] < s.sizes[d]) break;
            from -= s.strides[d] * s.sizes[d];
            to -= weights[d] * s.sizes[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

template <class T>
static void copy_to_rows(const char* x, const Strided& s, T* out)
{
    int last = s.ndim - 1, near = s.closest();
    int64_t weights[most_dims], cols = s.sizes[last], step = s.strides[last];
    weights[last] = 1;
    for (int d = last - 1; d >= 0; --d) weights[d] = weights[d + 1] * s.sizes[d + 1];
    for_outer(s, near, weights, [&](int64_t from, int64_t to) {
        if (near >= 0) {
            copy_transposed(x + from, s.strides[near], step, out + to, weights[near],
                            s.sizes[near], cols);
        } else if (step == int64_t(sizeof(T))) {
            std::memcpy(out + to, x + from, cols * sizeof(T));
        } else if (step == -int64_t(sizeof(T))) {
            const T* source = reinterpret_cast<const T*>(x + from) - (cols - 1);
            for (int64_t j = 0; j < cols; ++j) out[to + j] = source[cols - 1 - j];
        } else {
            for (int64_t j = 0; j < cols; ++j)
                out[to + j] = *reinterpret_cast<const T*>(x + from + j * step);
        }
    });
}

struct Pair16 { uint64_t a, b; };

// out = the elements of x in the order of its dims; false for sizes of elements it does not know.
static bool copy_strided(const char* x, int ndim, const int64_t* sizes, const int64_t* strides,
                         int64_t item, void* out)
{
    Strided s(ndim, sizes, strides);
    switch (item) {
        case 1: copy_to_rows(x, s, static_cast<uint8_t*>(out)); return true;
        case 2: copy_to_rows(x, s, static_cast<uint16_t*>(out)); return true;
        case 4: copy_to_rows(x, s, static_cast<uint32_t*>(out)); return true;
        case 8: copy_to_rows(x, s, static_cast<uint64_t*>(out)); return true;
        case 16: copy_to_rows(x, s, static_cast<Pair16*>(out)); return true;
    }
    return false;
}

}  // namespace tensorplay
