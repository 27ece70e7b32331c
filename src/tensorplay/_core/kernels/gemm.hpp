// Small matrix products, for which the call of a BLAS costs more than the product.
//
// c is computed in blocks of 4 rows x 2 vectors of columns held in registers. A is read one element
// at a time, so its strides do not matter; B must have contiguous rows and is copied if not.
#pragma once
#include "kernels.h"
#include "vectors.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class T> struct Operand {
    const T* data;
    int64_t row, col;
    T operator()(int64_t i, int64_t j) const { return data[i * row + j * col]; }
};

// c[0 .. rows, 0 .. vectors * width] (+)= a[0 .. rows, 0 .. k] @ b[0 .. k, 0 .. vectors * width]
template <int rows, int vectors, int width, class T>
static inline void block(Operand<T> a, const T* b, int64_t b_row, T* c, int64_t c_row, int64_t k,
                         bool accumulate)
{
    using V = typename Pack<T, width>::type;
    auto at = [=](int r, int v) { return reinterpret_cast<V*>(c + r * c_row + v * width); };
    V sum[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sum[r][v] = accumulate ? *at(r, v) : V{};
    for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            V line = *reinterpret_cast<const V*>(b + p * b_row + v * width);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) sum[r][v] += a(r, p) * line;
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) *at(r, v) = sum[r][v];
}

template <int rows> struct Height { static constexpr int value = rows; };

template <class T> struct Product {
    Operand<T> a;
    const T* b;
    int64_t b_row;
    T* c;
    int64_t c_row, m, n, k;
    bool accumulate;  // add to what c holds
};

// All rows of as many columns as fit in blocks of this width, from j on; returns where it stopped.
template <int vectors, int width, class T>
static inline int64_t columns(const Product<T>& p, int64_t j)
{
    constexpr int rows = 4;
    for (; j + vectors * width <= p.n; j += vectors * width) {
        auto run = [&](auto height, int64_t i) {
            block<decltype(height)::value, vectors, width>(
                Operand<T>{p.a.data + i * p.a.row, p.a.row, p.a.col}, p.b + j, p.b_row,
                p.c + i * p.c_row + j, p.c_row, p.k, p.accumulate);
        };
        int64_t i = 0;
        for (; i + rows <= p.m; i += rows) run(Height<rows>(), i);
        for (; i < p.m; ++i) run(Height<1>(), i);
    }
    return j;
}

// The columns from j on, fewer than `width`: in narrower blocks, or in one block that ends at the
// last column and computes some columns a second time.
template <int width, class T> static inline void last_columns(const Product<T>& p, int64_t j)
{
    if (j == p.n) return;
    if constexpr (width * sizeof(T) <= 16) {
        if (width <= p.n && !p.accumulate) columns<1, width>(p, p.n - width);
        else columns<1, 1>(p, j);
    } else {
        if (p.n - j > width / 2 && width <= p.n && !p.accumulate)
            columns<1, width>(p, p.n - width);
        else
            last_columns<width / 2>(p, columns<1, width / 2>(p, j));
    }
}

template <class T> static void multiply(const Product<T>& p)
{
    constexpr int w = width<T>;
    last_columns<w>(p, columns<1, w>(p, columns<2, w>(p, 0)));
}

template <class T> static inline T dot(const T* x, const T* y, int64_t n)
{
    T total = T(0);
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; ++i) total += x[i] * y[i];
    return total;
}

template <class T>
void gemm(const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row, int64_t b_col, T* c,
          int64_t m, int64_t n, int64_t k)
{
    if (k == 0) {
        for (int64_t i = 0; i < m * n; ++i) c[i] = T(0);
        return;
    }
    // A column as result is the transposed product's row.
    if (n == 1 && m > 1) return gemm(b, b_col, b_row, a, a_col, a_row, c, 1, m, k);
    if (n == 1) b_col = 1;
    if (b_col == 1) return multiply<T>({{a, a_row, a_col}, b, b_row, c, n, m, n, k, false});
    if (m == 1 && a_col == 1 && b_row == 1) {
        for (int64_t j = 0; j < n; ++j) c[j] = dot(a, b + j * b_col, k);
        return;
    }
    constexpr int64_t depth = 64, panel = 64;
    T copy[depth * panel];
    for (int64_t j = 0; j < n; j += panel) {
        int64_t cols = n - j < panel ? n - j : panel;
        for (int64_t p = 0; p < k; p += depth) {
            int64_t lines = k - p < depth ? k - p : depth;
            for (int64_t y = 0; y < cols; ++y)
                for (int64_t x = 0; x < lines; ++x)
                    copy[x * cols + y] = b[(p + x) * b_row + (j + y) * b_col];
            multiply<T>({{a + p * a_col, a_row, a_col}, copy, cols, c + j, n, m, cols, lines,
                         p > 0});
        }
    }
}

}  // namespace tensorplay::TENSORPLAY_ISA
