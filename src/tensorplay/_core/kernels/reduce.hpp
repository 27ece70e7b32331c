// Reductions: an array, its rows or its columns folded with an operation.
#pragma once
#include "loops.hpp"

namespace tensorplay::TENSORPLAY_ISA {

struct Sum {
    template <class T> static T start() { return T(0); }
    template <class X> TENSORPLAY_INLINE X operator()(X a, X b) const { return a + b; }
};
struct Product {
    template <class T> static T start() { return T(1); }
    template <class X> TENSORPLAY_INLINE X operator()(X a, X b) const { return a * b; }
};
struct Largest : Maximum {
    template <class T> static T start() { return -T(__builtin_inf()); }
    template <class X> TENSORPLAY_INLINE static X pick(X a, X b) { return a > b ? a : b; }
};
struct Smallest : Minimum {
    template <class T> static T start() { return T(__builtin_inf()); }
    template <class X> TENSORPLAY_INLINE static X pick(X a, X b) { return a < b ? a : b; }
};

// Two sums at a time.
struct Sums {
    template <class T> static Two<T> start() { return {T(0), T(0)}; }
    template <class X> TENSORPLAY_INLINE Two<X> operator()(Two<X> x, Two<X> y) const
    {
        return {x.a + y.a, x.b + y.b};
    }
};

// An extreme without regard to NaN, and a sum, which a NaN anywhere makes NaN.
template <class F> struct Extreme {
    template <class T> static Two<T> start() { return {F::template start<T>(), T(0)}; }
    template <class X> TENSORPLAY_INLINE Two<X> operator()(Two<X> x, Two<X> y) const
    {
        return {F::pick(x.a, y.a), x.b + y.b};
    }
};

// ---- folding ------------------------------------------------------------------------------------

// in(at) for the places begin .. end, combined with f. Several registers in parallel are fast
// (independent operations) and accurate (short chains). What is left over is computed as a register
// that ends at the end, of which only the new lanes count: `in` may be asked twice for a place.
template <class T, class F, class In>
TENSORPLAY_INLINE auto fold_block(F f, int64_t begin, int64_t end, In in)
{
    using Register = decltype(in(Many<T>{0}));
    constexpr int64_t w = width<T>;
    constexpr int parts = 4;
    auto total = F::template start<T>();
    if (end - begin < w) {
        for (int64_t i = begin; i < end; ++i) total = f(total, in(One<T>{i}));
        return total;
    }
    Register part[parts];
    Register nothing = filled(static_cast<Register*>(nullptr), total);
    for (int p = 0; p < parts; ++p) part[p] = nothing;
    int64_t i = begin;
    for (; i + parts * w <= end; i += parts * w)
#pragma GCC unroll 4
        for (int p = 0; p < parts; ++p) part[p] = f(part[p], in(Many<T>{i + p * w}));
    for (; i + w <= end; i += w) part[0] = f(part[0], in(Many<T>{i}));
    if (i < end) part[1] = f(part[1], last_lanes<T>(in(Many<T>{end - w}), end - i, nothing));
    return across<w>(f, f(f(part[0], part[1]), f(part[2], part[3])));
}

// Pairwise above 4096 elements, so that the error of a sum grows with the logarithm of n (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, chapter 4).
template <class T, class F, class In> static auto fold_long(F f, int64_t begin, int64_t end, In in)
{
    constexpr int64_t block = 4096;
    int64_t n = end - begin, middle = begin + (n / 2 + block - 1) / block * block;
    if (n <= block) return fold_block<T>(f, begin, end, in);
    return f(fold_long<T>(f, begin, middle, in), fold_long<T>(f, middle, end, in));
}
template <class T, class F, class In> TENSORPLAY_INLINE auto fold(F f, int64_t n, In in)
{
    return fold_long<T>(f, 0, n, in);
}

template <class T, class In> TENSORPLAY_INLINE T sum_of(int64_t n, In in)
{
    return fold<T>(Sum(), n, in);
}

// Of an array; the extremes fall back on exact comparisons where there may be a NaN.
template <class F, class T> static inline T fold_array(F f, const T* x, int64_t n)
{
    auto element = [=](auto at) { return at(x); };
    if constexpr (requires { F::pick(T(), T()); }) {
        auto found = fold<T>(Extreme<F>(), n, [=](auto at) {
            auto value = at(x);
            return Two<decltype(value)>{value, value};
        });
        if (found.b == found.b) return found.a;
    }
    return fold<T>(f, n, element);
}

// A long vector in pieces that do not depend on the number of threads, nor does the result.
template <class F, class T> static T fold_threaded(F f, const T* x, int64_t n)
{
    constexpr int64_t pieces = 64;
    if (n < grain_cheap) return fold_array(f, x, n);
    T part[pieces];
    int64_t size = (n / pieces + 63) / 64 * 64;
    split(pieces, 2, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
            int64_t first = p * size < n ? p * size : n;
            int64_t last = first + size < n ? first + size : n;
            part[p] = fold_array(f, x + first, last - first);
        }
    });
    return fold_array(f, part, pieces);
}

// ---- columns ------------------------------------------------------------------------------------

constexpr int64_t tile = 256;  // columns that are worked on together

// out = f(out, value(at)) at every place of out[cols].
template <class T, class F, class Value>
TENSORPLAY_INLINE void fold_row(F f, T* out, int64_t cols, Value value)
{
    constexpr int64_t w = width<T>;
    int64_t j = 0;
    for (; j + w <= cols; j += w) {
        Many<T> at{j};
        at.put(out, f(at(out), value(at)));
    }
    if (j < cols && cols >= w) {
        Many<T> at{cols - w};
        Vector<T> before = at(out);
        at.put(out, last_lanes<T>(f(before, value(at)), cols - j, before));
    } else {
        for (; j < cols; ++j) out[j] = f(out[j], value(One<T>{j}));
    }
}

// The rows begin .. end of in(row, at) folded into out[cols], at most `tile`; pairwise.
template <class T, class F, class In>
static void fold_rows_of(F f, T* out, int64_t begin, int64_t end, int64_t cols, In in)
{
    if (end - begin > 64) {
        T second[tile];
        int64_t middle = begin + (end - begin) / 2;
        fold_rows_of(f, out, begin, middle, cols, in);
        fold_rows_of(f, second, middle, end, cols, in);
        return fold_row(f, out, cols, [&](auto at) { return at(second); });
    }
    for (int64_t j = 0; j < cols; ++j) out[j] = F::template start<T>();
    int64_t r = begin;
    for (; r + 4 <= end; r += 4)
        fold_row(f, out, cols, [=](auto at) {
            return f(f(in(r, at), in(r + 1, at)), f(in(r + 2, at), in(r + 3, at)));
        });
    for (; r < end; ++r) fold_row(f, out, cols, [=](auto at) { return in(r, at); });
}

// Rows x[length, stride], `cols` columns of them, into out[cols].
template <class F, class T>
static inline void fold_rows(F f, const T* x, T* out, int64_t length, int64_t stride, int64_t cols)
{
    fold_rows_of(f, out, 0, length, cols, [=](int64_t r, auto at) { return at(x + r * stride); });
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
            for (int64_t r = begin; r < end; ++r) out[r] = fold_array(F(), x + r * length, length);
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

}  // namespace tensorplay::TENSORPLAY_ISA
