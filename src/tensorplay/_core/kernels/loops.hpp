// The loops: one template per shape of loop. Compiled once per instruction set by loops.cpp, in a
// namespace of that set's name.
#pragma once
#include "functors.hpp"
#include "kernels.h"
#include "threads.hpp"

namespace tensorplay::TENSORPLAY_ISA {

// ---- elementwise --------------------------------------------------------------------------------

// Lanes of the widest vector of any instruction set.
template <class T> constexpr int lanes = 64 / int(sizeof(T));

// One whole vector; a fixed number of steps leaves the compiler no remainder to generate code for.
template <class F, class T, class... In>
static inline void transform_vector(F f, T* out, int64_t at, In... in)
{
#pragma omp simd
    for (int j = 0; j < lanes<T>; ++j) out[at + j] = f(in(at + j)...);
}

// out[i] = f(a(i), ...) for begin <= i < end; each input is a function of the index.
//
// Where `f` calls the C library, the last few elements are computed in a padded vector: one vector
// call costs less than several scalar ones, and an element's value does not depend on its place.
template <class F, class T, class... In>
static inline void transform(F f, T* out, int64_t begin, int64_t end, In... in)
{
    if constexpr (!F::calls) {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) out[i] = f(in(i)...);
    } else {
        for (; begin + lanes<T> <= end; begin += lanes<T>) transform_vector(f, out, begin, in...);
        if (begin == end) return;
        struct Vector {
            T values[lanes<T>];
            T operator()(int64_t i) const { return values[i]; }
        } result;
        // Written so that the compiler makes masked loads and stores of the two loops.
        auto padded = [=](auto input) {
            Vector vector;
#pragma omp simd
            for (int j = 0; j < lanes<T>; ++j)
                vector.values[j] = begin + j < end ? input(begin + j) : T(0.5);
            return vector;
        };
        transform_vector(f, result.values, 0, padded(in)...);
#pragma omp simd
        for (int j = 0; j < lanes<T>; ++j)
            if (begin + j < end) out[begin + j] = result.values[j];
    }
}

template <class F, class T> void unary(const T* x, T* out, int64_t n)
{
    split(n, F::calls ? grain_costly : grain_cheap, [=](int64_t begin, int64_t end) {
        transform(F(), out, begin, end, [=](int64_t i) { return x[i]; });
    });
}

template <class F, class T>
void binary(const T* a, const T* b, T* out, int64_t rows, int64_t cols, int layout)
{
    constexpr int64_t grain = F::calls ? grain_costly : grain_cheap;
    auto element = [](const T* p) { return [p](int64_t i) { return p[i]; }; };
    auto constant = [](T value) { return [value](int64_t) { return value; }; };
    auto flat = [=](auto x, auto y) {
        split(rows * cols, grain, [=](int64_t begin, int64_t end) {
            transform(F(), out, begin, end, x, y);
        });
    };
    auto by_row = [=](auto x, auto y) {  // x(row), y(row): inputs of that row
        split(rows, grain / (cols + 1) + 1, [=](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r)
                transform(F(), out + r * cols, 0, cols, x(r), y(r));
        });
    };
    auto row_of = [=](const T* p) { return [=](int64_t r) { return element(p + r * cols); }; };
    auto same_row = [=](const T* p) { return [=](int64_t) { return element(p); }; };
    auto entry_of = [=](const T* p) { return [=](int64_t r) { return constant(p[r]); }; };
    switch (layout) {
        case SAME: return flat(element(a), element(b));
        case SCALAR_B: return flat(element(a), constant(*b));
        case SCALAR_A: return flat(constant(*a), element(b));
        case ROW_B: return by_row(row_of(a), same_row(b));
        case ROW_A: return by_row(same_row(a), row_of(b));
        case COL_B: return by_row(row_of(a), entry_of(b));
        case COL_A: return by_row(entry_of(a), row_of(b));
    }
}

// x ** constant: the constants that NumPy and PyTorch, too, compute in a shorter way.
template <class T>
void power(const T* a, const T* b, T* out, int64_t rows, int64_t cols, int layout)
{
    int64_t n = rows * cols;
    if (layout == SCALAR_B) {
        if (*b == T(2)) return unary<Square>(a, out, n);
        if (*b == T(3)) return unary<Cube>(a, out, n);
        if (*b == T(1)) return unary<Positive>(a, out, n);
        if (*b == T(0.5)) return unary<Sqrt>(a, out, n);
        if (*b == T(-1)) return unary<Reciprocal>(a, out, n);
    }
    binary<Pow>(a, b, out, rows, cols, layout);
}

// ---- reductions ---------------------------------------------------------------------------------

struct Sum {
    template <class T> static T start() { return T(0); }
    template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Product {
    template <class T> static T start() { return T(1); }
    template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Largest : Maximum {
    template <class T> static T start() { return -T(__builtin_inf()); }
};
struct Smallest : Minimum {
    template <class T> static T start() { return T(__builtin_inf()); }
};

// Many accumulators in parallel are fast (independent vector adds) and accurate (short chains).
template <int width, class F, class T> static inline T fold_lanes(F f, const T* x, int64_t n)
{
    T part[width];
    for (int j = 0; j < width; ++j) part[j] = x[j];
    for (int64_t i = width; i < n; i += width) {
#pragma omp simd
        for (int j = 0; j < width; ++j) part[j] = f(part[j], x[i + j]);
    }
    for (int half = width / 2; half >= 8; half /= 2) {
#pragma omp simd
        for (int j = 0; j < half; ++j) part[j] = f(part[j], part[j + half]);
    }
    for (int half = width < 8 ? width / 2 : 4; half > 0; half /= 2)
        for (int j = 0; j < half; ++j) part[j] = f(part[j], part[j + half]);
    return part[0];
}

// x[0] .. x[n-1] combined pairwise above 4096 elements, so that the error of a sum grows with
// the logarithm of n (Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 4).
template <class F, class T> static T fold(F f, const T* x, int64_t n)
{
    constexpr int64_t wide = 4 * lanes<T>, narrow = 8, block = 4096;
    if (n > block) {
        int64_t half = (n / 2 + block - 1) / block * block;
        return f(fold(f, x, half), fold(f, x + half, n - half));
    }
    T total = F::template start<T>();
    int64_t done = n - n % wide;
    if (done) total = f(total, fold_lanes<wide>(f, x, done));
    int64_t rest = (n - done) - (n - done) % narrow;
    if (rest) total = f(total, fold_lanes<narrow>(f, x + done, rest));
    for (int64_t i = done + rest; i < n; ++i) total = f(total, x[i]);
    return total;
}

// The sum of the lanes of four vectors that stand one after the other.
template <class T> __attribute__((always_inline)) static inline T sum_lanes(const T* part)
{
    T total = T(0);
#pragma omp simd reduction(+ : total)
    for (int j = 0; j < lanes<T>; ++j)
        total += (part[j] + part[j + lanes<T>]) +
                 (part[j + 2 * lanes<T>] + part[j + 3 * lanes<T>]);
    return total;
}

// The sum of in(0) ... in(n-1), in blocks so that errors do not grow with n.
template <class T, class In> __attribute__((always_inline)) static inline T sum_of(int64_t n, In in)
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
        total += sum_lanes(part) + rest;
    }
    return total;
}

// A long vector in pieces that do not depend on the number of threads, nor does the result.
template <class F, class T> static T fold_threaded(F f, const T* x, int64_t n)
{
    constexpr int64_t pieces = 64;
    if (n < grain_cheap) return fold(f, x, n);
    T part[pieces];
    int64_t size = (n / pieces + 63) / 64 * 64;
    split(pieces, 2, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
            int64_t first = p * size < n ? p * size : n;
            int64_t last = first + size < n ? first + size : n;
            part[p] = fold(f, x + first, last - first);
        }
    });
    return fold(f, part, pieces);
}

// Rows x[length, stride], `cols` columns of them, into out[cols]; pairwise over the rows.
constexpr int64_t tile = 256;
template <class F, class T>
static void fold_rows(F f, const T* x, T* out, int64_t length, int64_t stride, int64_t cols)
{
    if (length > 64) {
        T second[tile];
        int64_t half = length / 2;
        fold_rows(f, x, out, half, stride, cols);
        fold_rows(f, x + half * stride, second, length - half, stride, cols);
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) out[j] = f(out[j], second[j]);
        return;
    }
    for (int64_t j = 0; j < cols; ++j) out[j] = F::template start<T>();
    for (int64_t r = 0; r < length; ++r) {
        const T* row = x + r * stride;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) out[j] = f(out[j], row[j]);
    }
}

// The same, where rows are short: several of them are taken for one long row first.
template <class F, class T>
static void fold_columns(F f, const T* x, T* out, int64_t length, int64_t stride, int64_t cols)
{
    int64_t group = tile / cols;
    if (cols != stride || cols > tile / 8 || length < 4 * group)
        return fold_rows(f, x, out, length, stride, cols);
    T part[2 * tile];
    int64_t whole = length / group, wide = group * cols, rest = length - whole * group;
    fold_rows(f, x, part, whole, wide, wide);
    fold_rows(f, part, part + tile, group, cols, cols);
    fold_rows(f, x + whole * wide, out, rest, cols, cols);
    for (int64_t j = 0; j < cols; ++j) out[j] = f(out[j], part[tile + j]);
}

// Calls body(x, out, cols) for each piece of at most `tile` columns of each of the outer slices.
template <class T, class Body>
static inline void for_tiles(const T* x, T* out, int64_t outer, int64_t length, int64_t inner,
                             int64_t grain, Body body)
{
    int64_t tiles = (inner + tile - 1) / tile;
    int64_t cost = length * (inner < tile ? inner : tile);
    split(outer * tiles, grain / (cost + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t slice = i / tiles, first = i % tiles * tile;
            int64_t cols = inner - first < tile ? inner - first : tile;
            body(x + slice * length * inner + first, out + slice * inner + first, cols);
        }
    });
}

template <class F, class T>
void reduce(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1 && outer == 1) {
        *out = fold_threaded(F(), x, length);
    } else if (inner == 1) {
        split(outer, grain_cheap / (length + 1) + 1, [=](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) out[r] = fold(F(), x + r * length, length);
        });
    } else {
        for_tiles(x, out, outer, length, inner, grain_cheap,
                  [=](const T* from, T* to, int64_t cols) {
                      fold_columns(F(), from, to, length, inner, cols);
                  });
    }
}

template <class T> void mean(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    reduce<Sum>(x, out, outer, length, inner);
    T count = T(length);
    for (int64_t i = 0; i < outer * inner; ++i) out[i] /= count;
}

// ---- softmax and relatives ----------------------------------------------------------------------

// The shift that keeps exp from overflowing: the maximum, but 0 where that is infinite, so that
// logsumexp of infinities is infinite and not NaN.
template <class T> static inline T finite_or_zero(T m)
{
    return fabs(m) == T(__builtin_inf()) ? T(0) : m;
}

// buffer = exp(x - shift), and the sum of it.
template <class T> static inline T exp_shifted(const T* x, T* buffer, int64_t n, T shift)
{
    transform(Exp(), buffer, 0, n, [=](int64_t i) { return x[i] - shift; });
    return fold(Sum(), buffer, n);
}

template <class Body>
static inline void for_rows(int64_t rows, int64_t cols, Body body)
{
    split(rows, grain_costly / (cols + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) body(r * cols);
    });
}

template <class T> void softmax(const T* x, T* out, int64_t rows, int64_t cols)
{
    for_rows(rows, cols, [=](int64_t at) {
        T total = exp_shifted(x + at, out + at, cols, fold(Largest(), x + at, cols));
        T scale = T(1) / total;
#pragma omp simd
        for (int64_t j = at; j < at + cols; ++j) out[j] *= scale;
    });
}

template <class T> void log_softmax(const T* x, T* out, int64_t rows, int64_t cols)
{
    for_rows(rows, cols, [=](int64_t at) {
        T shift = fold(Largest(), x + at, cols), total = T(0), buffer[tile];
        for (int64_t j = 0; j < cols; j += tile)
            total += exp_shifted(x + at + j, buffer, cols - j < tile ? cols - j : tile, shift);
        T log_total = log(total);
#pragma omp simd
        for (int64_t j = at; j < at + cols; ++j) out[j] = x[j] - shift - log_total;
    });
}

template <class T> static inline T logsumexp_row(const T* x, int64_t n)
{
    T shift = finite_or_zero(fold(Largest(), x, n)), total = T(0), buffer[tile];
    for (int64_t j = 0; j < n; j += tile)
        total += exp_shifted(x + j, buffer, n - j < tile ? n - j : tile, shift);
    return log(total) + shift;
}

template <class T>
void logsumexp(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1)
        return split(outer, grain_costly / (length + 1) + 1, [=](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) out[r] = logsumexp_row(x + r * length, length);
        });
    for_tiles(x, out, outer, length, inner, grain_costly,
              [=](const T* from, T* to, int64_t cols) {
                  T shift[tile], buffer[tile];
                  fold_rows(Largest(), from, shift, length, inner, cols);
                  for (int64_t j = 0; j < cols; ++j) {
                      shift[j] = finite_or_zero(shift[j]);
                      to[j] = T(0);
                  }
                  for (int64_t r = 0; r < length; ++r) {
                      const T* row = from + r * inner;
                      transform(Exp(), buffer, 0, cols,
                                [&](int64_t j) { return row[j] - shift[j]; });
#pragma omp simd
                      for (int64_t j = 0; j < cols; ++j) to[j] += buffer[j];
                  }
                  transform(Log(), to, 0, cols, [=](int64_t j) { return to[j]; });
                  for (int64_t j = 0; j < cols; ++j) to[j] += shift[j];
              });
}

template <class T>
void softmax_backward(const T* g, const T* y, T* out, int64_t rows, int64_t cols)
{
    for_rows(rows, cols, [=](int64_t at) {
        T dot = sum_of<T>(cols, [=](int64_t i) { return g[at + i] * y[at + i]; });
#pragma omp simd
        for (int64_t j = at; j < at + cols; ++j) out[j] = y[j] * (g[j] - dot);
    });
}

template <class T>
void log_softmax_backward(const T* g, const T* y, T* out, int64_t rows, int64_t cols)
{
    for_rows(rows, cols, [=](int64_t at) {
        T total = fold(Sum(), g + at, cols), buffer[tile];
        for (int64_t j = 0; j < cols; j += tile) {
            int64_t n = cols - j < tile ? cols - j : tile, first = at + j;
            transform(Exp(), buffer, 0, n, [=](int64_t i) { return y[first + i]; });
#pragma omp simd
            for (int64_t i = 0; i < n; ++i) out[first + i] = g[first + i] - buffer[i] * total;
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
