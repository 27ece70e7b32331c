// Small matrix products, for which the call of a BLAS costs more than the product.
//
// c is computed in blocks of rows x one vector of columns held in registers. A is read one element
// at a time, so its strides do not matter; B must have contiguous rows and is copied if not.
#pragma once
#include "kernels.h"

namespace tensorplay::TENSORPLAY_ISA {

// `width` consecutive elements as one value (GCC's and Clang's vector extension).
template <class T, int width> struct Pack {
    typedef T type __attribute__((vector_size(sizeof(T) * width), aligned(sizeof(T)), may_alias));
};
template <class T> struct Pack<T, 1> { typedef T type; };

template <class T> struct Operand {
    const T* data;
    int64_t row, col;
    T operator()(int64_t i, int64_t j) const { return data[i * row + j * col]; }
};

// c[i .. i+rows, j .. j+width] (+)= a[i .. i+rows, 0 .. k] @ b[0 .. k, j .. j+width]
template <int rows, int width, class T>
static inline void block(Operand<T> a, const T* b, int64_t b_row, T* c, int64_t c_row, int64_t k,
                         bool accumulate)
{
    using V = typename Pack<T, width>::type;
    V sum[rows];
    for (int r = 0; r < rows; ++r)
        sum[r] = accumulate ? *reinterpret_cast<V*>(c + r * c_row) : V{};
    for (int64_t p = 0; p < k; ++p) {
        V line = *reinterpret_cast<const V*>(b + p * b_row);
        for (int r = 0; r < rows; ++r) sum[r] += a(r, p) * line;
    }
    for (int r = 0; r < rows; ++r) *reinterpret_cast<V*>(c + r * c_row) = sum[r];
}

// As many columns as fit in vectors of `width`, from column j on; returns where it stopped.
template <int width, class T>
static inline int64_t columns(Operand<T> a, const T* b, int64_t b_row, T* c, int64_t c_row,
                              int64_t m, int64_t n, int64_t k, bool accumulate, int64_t j)
{
    constexpr int rows = 4;
    for (; j + width <= n; j += width) {
        int64_t i = 0;
        for (; i + rows <= m; i += rows)
            block<rows, width>(Operand<T>{a.data + i * a.row, a.row, a.col}, b + j, b_row,
                               c + i * c_row + j, c_row, k, accumulate);
        for (; i < m; ++i)
            block<1, width>(Operand<T>{a.data + i * a.row, a.row, a.col}, b + j, b_row,
                            c + i * c_row + j, c_row, k, accumulate);
    }
    return j;
}

template <class T>
static void rows_of_b(Operand<T> a, const T* b, int64_t b_row, T* c, int64_t c_row, int64_t m,
                      int64_t n, int64_t k, bool accumulate)
{
    constexpr int full = 64 / int(sizeof(T));
    int64_t j = columns<2 * full>(a, b, b_row, c, c_row, m, n, k, accumulate, 0);
    j = columns<full>(a, b, b_row, c, c_row, m, n, k, accumulate, j);
    j = columns<full / 2>(a, b, b_row, c, c_row, m, n, k, accumulate, j);
    j = columns<full / 4>(a, b, b_row, c, c_row, m, n, k, accumulate, j);
    columns<1>(a, b, b_row, c, c_row, m, n, k, accumulate, j);
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
    if (b_col == 1) return rows_of_b(Operand<T>{a, a_row, a_col}, b, b_row, c, n, m, n, k, false);
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
            rows_of_b(Operand<T>{a + p * a_col, a_row, a_col}, copy, cols, c + j, n, m, cols,
                      lines, p > 0);
        }
    }
}

}  // namespace tensorplay::TENSORPLAY_ISA
