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

}  // namespace tensorplay::TENSORPLAY_ISA
