// softmax and its relatives, over the middle dim of x[outer, length, inner].
//
// A row that is contiguous (inner == 1) is done while it is in the cache; columns are done a tile
// at a time, element by element of `length`.
#pragma once
#include "reduce.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class Body>
static inline void for_rows(int64_t rows, int64_t cols, Body body)
{
    split(rows, grain_costly / (cols + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) body(r * cols);
    });
}

// body(where, cols) for each tile of columns of each x[o]; the elements of column j are at
// where + j, where + inner + j, ... .
template <class Body>
static inline void for_columns(int64_t outer, int64_t length, int64_t inner, Body body)
{
    int64_t tiles = (inner + tile - 1) / tile, cost = length * (inner < tile ? inner : tile);
    split(outer * tiles, grain_costly / (cost + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = i % tiles * tile;
            body(i / tiles * length * inner + first, inner - first < tile ? inner - first : tile);
        }
    });
}

// The maxima of `cols` columns, and the sums of exp(x - maximum), which `keep(position, value)` is
// told of.
template <class T, class Keep>
static inline void exp_columns(const T* x, T* shift, T* total, int64_t length, int64_t inner,
                               int64_t cols, Keep keep)
{
    fold_rows(Largest(), x, shift, length, inner, cols);
    for (int64_t j = 0; j < cols; ++j) total[j] = T(0);
    for (int64_t r = 0; r < length; ++r) {
        const T* row = x + r * inner;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) {
            T e = decay(row[j] - shift[j]);
            total[j] += e;
            keep(r * inner + j, e);
        }
    }
}

// exp(x - shift) summed, and kept in `out` if that is not null.
template <class T> static inline T exp_row(const T* x, T* out, int64_t n, T shift)
{
    if (out)
        return sum_of<T>(n, [=](auto at) {
            auto e = decay(at(x) - shift);
            at.put(out, e);
            return e;
        });
    return sum_of<T>(n, [=](auto at) { return decay(at(x) - shift); });
}

template <class T> void softmax(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1)
        return for_rows(outer, length, [=](int64_t first) {
            T shift = fold_array(Largest(), x + first, length);
            T scale = T(1) / exp_row(x + first, out + first, length, shift);
#pragma omp simd
            for (int64_t j = first; j < first + length; ++j) out[j] *= scale;
        });
    for_columns(outer, length, inner, [=](int64_t where, int64_t cols) {
        T shift[tile], total[tile], *to = out + where;
        exp_columns(x + where, shift, total, length, inner, cols,
                    [=](int64_t i, T e) { to[i] = e; });
        for (int64_t j = 0; j < cols; ++j) total[j] = T(1) / total[j];
        for (int64_t r = 0; r < length; ++r, to += inner) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] *= total[j];
        }
    });
}

template <class T>
void log_softmax(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1)
        return for_rows(outer, length, [=](int64_t first) {
            T shift = fold_array(Largest(), x + first, length);
            T log_total = log(exp_row<T>(x + first, nullptr, length, shift));
#pragma omp simd
            for (int64_t j = first; j < first + length; ++j) out[j] = x[j] - shift - log_total;
        });
    for_columns(outer, length, inner, [=](int64_t where, int64_t cols) {
        T shift[tile], total[tile], *to = out + where;
        const T* from = x + where;
        exp_columns(from, shift, total, length, inner, cols, [](int64_t, T) {});
        transform(Log(), total, 0, cols, [&](int64_t j) { return total[j]; });
        for (int64_t r = 0; r < length; ++r, to += inner, from += inner) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = from[j] - shift[j] - total[j];
        }
    });
}

// log(total) + shift; the logsumexp of infinities, for which total is NaN, is infinite.
template <class T> static inline T shifted_log(T total, T shift)
{
    return fabs(shift) == T(__builtin_inf()) ? shift : log(total) + shift;
}

template <class T>
void logsumexp(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1)
        return split(outer, grain_costly / (length + 1) + 1, [=](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
                const T* row = x + r * length;
                T shift = fold_array(Largest(), row, length);
                out[r] = shifted_log(exp_row<T>(row, nullptr, length, shift), shift);
            }
        });
    for_tiles(x, out, outer, length, inner, grain_costly,
              [=](const T* from, T* to, int64_t cols) {
                  T shift[tile];
                  exp_columns(from, shift, to, length, inner, cols, [](int64_t, T) {});
#pragma omp simd
                  for (int64_t j = 0; j < cols; ++j) to[j] = shifted_log(to[j], shift[j]);
              });
}

// g and y have the shape of out.
template <class T>
void softmax_backward(const T* g, const T* y, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1)
        return for_rows(outer, length, [=](int64_t first) {
            const T *u = g + first, *v = y + first;
            T dot = sum_of<T>(length, [=](auto at) { return at(u) * at(v); });
#pragma omp simd
            for (int64_t j = first; j < first + length; ++j) out[j] = y[j] * (g[j] - dot);
        });
    for_columns(outer, length, inner, [=](int64_t where, int64_t cols) {
        T dot[tile];
        const T *u = g + where, *v = y + where;
        fold_rows_of(Sum(), dot, 0, length, cols, [=](int64_t r, auto at) {
            return at(u + r * inner) * at(v + r * inner);
        });
        for (int64_t r = 0, i = 0; r < length; ++r, i += inner) {
            T* to = out + where + i;
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = v[i + j] * (u[i + j] - dot[j]);
        }
    });
}

template <class T>
void log_softmax_backward(const T* g, const T* y, T* out, int64_t outer, int64_t length,
                          int64_t inner)
{
    if (inner == 1)
        return for_rows(outer, length, [=](int64_t first) {
            T total = fold_array(Sum(), g + first, length);
#pragma omp simd
            for (int64_t j = first; j < first + length; ++j) out[j] = g[j] - decay(y[j]) * total;
        });
    for_columns(outer, length, inner, [=](int64_t where, int64_t cols) {
        T total[tile];
        fold_rows(Sum(), g + where, total, length, inner, cols);
        for (int64_t r = 0, i = where; r < length; ++r, i += inner) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) out[i + j] = g[i + j] - decay(y[i + j]) * total[j];
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
