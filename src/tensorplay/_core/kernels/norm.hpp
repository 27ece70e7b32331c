// Standardising rows: layer norm and its relatives, forward and backward, one row at a time.
//
//     h = (x - mean) * r,  r = 1 / sqrt(var + eps),  out = h * w + b
//
// The mean is that of the differences from the first element: exact for a constant row, whose
// standardised values are then 0 and not a rounding error times r. For the same reason it is
// subtracted first. Mean and variance are computed anew in each loop: the row is in the cache, and so nothing but x
// has to be kept for the backward pass. The rules are in ops/standardize.py.
#pragma once
#include "softmax.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class T> struct Spread {
    T mean, r;
    Spread(const T* x, int64_t n, T eps)
    {
        const T first = *x;
        T m = first + sum_of<T>(n, [=](auto at) { return at(x) - first; }) / T(n);
        T square = sum_of<T>(n, [=](auto at) { return (at(x) - m) * (at(x) - m); });
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
        T *to = out + at, r = s.r, mean = s.mean;
        if (!w && !b) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] - mean) * r;
        } else if (!b) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] - mean) * r * w[j];
        } else if (!w) {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] - mean) * r + b[j];
        } else {
#pragma omp simd
            for (int64_t j = 0; j < cols; ++j) to[j] = (from[j] - mean) * r * w[j] + b[j];
        }
    });
}

// What the derivative r * (u - mean(u) - h * mean(u * h)) needs to know of a row, as
// (u - x * slope - shift) * r: the means of x and u in one pass, then the products of deviations.
template <class T> struct Projection {
    T mean, r, slope, shift;
    template <class U> TENSORPLAY_INLINE Projection(const T* x, int64_t n, T eps, U u)
    {
        const T first = *x;
        Two<T> sums = fold<T>(Sums(), n, [=](auto at) { return pair(at(x) - first, u(at)); });
        T m = first + sums.a / T(n);
        Two<T> squares = fold<T>(Sums(), n, [=](auto at) {
            auto centred = at(x) - m;
            return pair(centred * centred, centred * u(at));
        });
        mean = m;
        r = T(1) / sqrt(squares.a / T(n) + eps);
        slope = squares.b * r * r / T(n);
        shift = sums.b / T(n);
    }
};

template <class T>
void standardize_input(const T* v, const T* x, const T* w, T* out, int64_t rows, int64_t cols,
                       double eps)
{
    auto row = [=](int64_t first, auto u) {
        const T* from = x + first;
        T* to = out + first;
        Projection<T> p(from, cols, T(eps), u);
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j)
            to[j] = (u(One<T>{j}) - p.shift - (from[j] - p.mean) * p.slope) * p.r;
    };
    for_rows(rows, cols, [=](int64_t first) {
        const T* g = v + first;
        if (w) row(first, [=](auto at) { return at(g) * at(w); });
        else row(first, [=](auto at) { return at(g); });
    });
}

// Memory for `n` numbers that are 0, from the start of a cache line on; without the standard
// library's inline functions (see vecmath.hpp).
template <class T> struct Zeros {
    void* memory;
    T* data;
    explicit Zeros(int64_t n)
        : memory(__builtin_calloc(n * sizeof(T) + 64, 1)),
          data(reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64)) {}
    ~Zeros() { __builtin_free(memory); }
    Zeros(const Zeros&) = delete;
};

// Calls body(row, sums) for every row, in parts that do not depend on the number of threads; each
// part has `width` sums of its own, which are added up into out[width].
template <class T, class Body>
static inline void sum_over_rows(int64_t rows, int64_t cols, int64_t width, T* out, Body body)
{
    int64_t parts = rows * cols < grain_cheap ? 1 : rows < 16 ? rows : 16;
    Zeros<T> sums(parts * width);
    T* partial = sums.data;
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
        T *to = out + row * cols, *sums = total + cols;
        Projection<T> p(from, cols, T(eps), [=](auto at) { return at(g) * at(w); });
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) {
            // All loads before the stores: these may be a multiple of 4096 bytes apart, which makes
            // a processor wait for the one before it starts the other.
            T centred = from[j] - p.mean, along = total[j], sum = sums[j];
            along += g[j] * (centred * p.r);
            sum += g[j];
            to[j] = (g[j] * w[j] - p.shift - centred * p.slope) * p.r;
            total[j] = along;
            sums[j] = sum;
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
