// Standardising rows: layer norm and its relatives, forward and backward, one row at a time.
//
//     h = (x - mean) * r,  r = 1 / sqrt(var + eps),  out = h * w + b
//
// Mean and variance are computed anew in each loop: the row is in the cache, and so nothing but x
// has to be kept for the backward pass. The rules are in ops/standardize.py.
#pragma once
#include "loops.hpp"

#include <cstddef>
#include <vector>

namespace tensorplay::TENSORPLAY_ISA {

template <class T> struct Spread {
    T mean, r;
    Spread(const T* x, int64_t n, T eps)
    {
        T m = sum_of<T>(n, [=](int64_t i) { return x[i]; }) / T(n);
        T square = sum_of<T>(n, [=](int64_t i) { return (x[i] - m) * (x[i] - m); });
        mean = m;
        r = T(1) / sqrt(square / T(n) + eps);
    }
};

template <class T>
void standardize(const T* x, const T* w, const T* b, T* out, int64_t rows, int64_t cols, double eps)
{
    for_rows(rows, cols, [=](int64_t at) {
        Spread<T> s(x + at, cols, T(eps));
        const T* from = x + at;
        T *to = out + at, r = s.r, shift = -s.mean * s.r;
        if (!w && !b) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = from[j] * r + shift;
        } else if (!b) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] * r + shift) * w[j];
        } else if (!w) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = from[j] * r + shift + b[j];
        } else {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] * r + shift) * w[j] + b[j];
        }
    });
}

// r * (u - mean(u) - h * mean(u * h)) with u = v * w.
template <class T, class U>
static inline void project_row(Spread<T> s, const T* x, T* out, int64_t n, U u)
{
    T m = s.mean, r = s.r;
    T mean = sum_of<T>(n, [=](int64_t i) { return u(i); }) / T(n);
    T along = sum_of<T>(n, [=](int64_t i) { return u(i) * (x[i] - m); }) * r * r / T(n);
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) out[j] = (u(j) - mean - (x[j] - m) * along) * r;
}

template <class T>
void standardize_input(const T* v, const T* x, const T* w, T* out, int64_t rows, int64_t cols,
                       double eps)
{
    for_rows(rows, cols, [=](int64_t at) {
        const T* g = v + at;
        Spread<T> s(x + at, cols, T(eps));
        if (w)
            project_row(s, x + at, out + at, cols, [=](int64_t i) { return g[i] * w[i]; });
        else
            project_row(s, x + at, out + at, cols, [=](int64_t i) { return g[i]; });
    });
}

// Calls body(row, sums) for every row, in parts that do not depend on the number of threads; each
// part has `width` sums of its own, which are added up into out[width].
template <class T, class Body>
static inline void sum_over_rows(int64_t rows, int64_t cols, int64_t width, T* out, Body body)
{
    int64_t parts = rows * cols < grain_cheap ? 1 : rows < 16 ? rows : 16;
    std::vector<T> sums(std::size_t(parts * width), T(0));
    T* partial = sums.data();
    split(parts, 2, [=](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p)
            for (int64_t row = rows * p / parts; row < rows * (p + 1) / parts; ++row)
                body(row, partial + p * width);
    });
    for (int64_t j = 0; j < width; ++j) out[j] = partial[j];
    for (int64_t p = 1; p < parts; ++p) {
#pragma omp simd
        for (int64_t j = 0; j < width; ++j) out[j] += partial[p * width + j];
    }
}

// out[cols] = the sum over rows of v * h.
template <class T>
void standardize_weight(const T* v, const T* x, const T*, T* out, int64_t rows, int64_t cols,
                        double eps)
{
    sum_over_rows(rows, cols, cols, out, [=](int64_t row, T* total) {
        const T *from = x + row * cols, *g = v + row * cols;
        Spread<T> s(from, cols, T(eps));
        T r = s.r, m = s.mean;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) total[j] += g[j] * ((from[j] - m) * r);
    });
}

// All of the backward pass while a row is in the cache: out has the cotangents of x (rows x cols),
// then that of w (cols), then that of b (cols).
template <class T>
void standardize_backward(const T* v, const T* x, const T* w, T* out, int64_t rows, int64_t cols,
                          double eps)
{
    sum_over_rows(rows, cols, 2 * cols, out + rows * cols, [=](int64_t row, T* total) {
        const T *from = x + row * cols, *g = v + row * cols;
        Spread<T> s(from, cols, T(eps));
        project_row(s, from, out + row * cols, cols, [=](int64_t i) { return g[i] * w[i]; });
        T r = s.r, m = s.mean, *sums = total + cols;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) {
            total[j] += g[j] * ((from[j] - m) * r);
            sums[j] += g[j];
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
