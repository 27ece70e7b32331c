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

// The sum of in(0) ... in(n-1), in blocks so that errors do not grow with n.
template <class T, class In> static inline T sum_of(int64_t n, In in)
{
    constexpr int64_t width = 4 * lanes<T>, block = 4096;
    T total = T(0);
    for (int64_t first = 0; first < n; first += block) {
        int64_t last = first + block < n ? first + block : n, i = first;
        T part[width] = {}, rest = T(0);
        for (; i + width <= last; i += width) {
#pragma omp simd
            for (int64_t j = 0; j < width; ++j) part[j] += in(i + j);
        }
#pragma omp simd reduction(+ : rest)
        for (int64_t j = i; j < last; ++j) rest += in(j);
        for (int64_t half = width / 2; half > 0; half /= 2)
            for (int64_t j = 0; j < half; ++j) part[j] += part[j + half];
        total += part[0] + rest;
    }
    return total;
}

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
static inline void project_row(const T* x, T* out, int64_t n, T eps, U u)
{
    Spread<T> s(x, n, eps);
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
        if (w)
            project_row(x + at, out + at, cols, T(eps), [=](int64_t i) { return g[i] * w[i]; });
        else
            project_row(x + at, out + at, cols, T(eps), [=](int64_t i) { return g[i]; });
    });
}

// out[cols] = the sum over rows of v * h, in parts that do not depend on the number of threads.
template <class T>
void standardize_weight(const T* v, const T* x, const T*, T* out, int64_t rows, int64_t cols,
                        double eps)
{
    int64_t parts = rows * cols < grain_cheap ? 1 : rows < 16 ? rows : 16;
    std::vector<T> sums(std::size_t(parts * cols), T(0));
    T* partial = sums.data();
    split(parts, 2, [=](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
            T* total = partial + p * cols;
            for (int64_t row = rows * p / parts; row < rows * (p + 1) / parts; ++row) {
                const T *from = x + row * cols, *g = v + row * cols;
                Spread<T> s(from, cols, T(eps));
                T r = s.r, m = s.mean;
#pragma omp simd
                for (int64_t j = 0; j < cols; ++j) total[j] += g[j] * ((from[j] - m) * r);
            }
        }
    });
    for (int64_t j = 0; j < cols; ++j) out[j] = partial[j];
    for (int64_t p = 1; p < parts; ++p) {
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) out[j] += partial[p * cols + j];
    }
}

}  // namespace tensorplay::TENSORPLAY_ISA
