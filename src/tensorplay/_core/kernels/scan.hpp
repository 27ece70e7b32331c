// Running sums and products over the middle dim of x[outer, length, inner], in double precision.
#pragma once
#include "reduce.hpp"

namespace tensorplay::TENSORPLAY_ISA {

// A chain of dependent operations waits for each of them: `count` chains are followed at a time.
template <int count, class F, class T>
static inline void scan_chains(F f, const T* const* x, T* const* out, double* total, int64_t n,
                               int64_t step)
{
    double sum[count];
    for (int c = 0; c < count; ++c) sum[c] = total[c];
    for (int64_t i = 0, at = 0; i < n; ++i, at += step) {
#pragma GCC unroll 8
        for (int c = 0; c < count; ++c) {
            sum[c] = f(sum[c], double(x[c][at]));
            out[c][at] = T(sum[c]);
        }
    }
    for (int c = 0; c < count; ++c) total[c] = sum[c];
}

// One long row, in pieces that start with what the ones before come to.
template <class F, class T>
static inline void scan_row(F f, const T* x, T* out, int64_t n, int64_t step)
{
    constexpr int chains = 8;
    int64_t part = n / chains;
    const T* from[chains];
    T* to[chains];
    double start[chains];
    if (part < 64) {
        start[0] = F::template start<double>();
        return scan_chains<1>(f, &x, &out, start, n, step);
    }
    double total[chains];
    for (int c = 0; c < chains; ++c) {
        from[c] = x + c * part * step;
        to[c] = out + c * part * step;
        total[c] = F::template start<double>();
    }
    for (int64_t i = 0, at = 0; i < part; ++i, at += step) {
#pragma GCC unroll 8
        for (int c = 0; c < chains; ++c) total[c] = f(total[c], double(from[c][at]));
    }
    start[0] = F::template start<double>();
    for (int c = 1; c < chains; ++c) start[c] = f(start[c - 1], total[c - 1]);
    scan_chains<chains>(f, from, to, start, part, step);
    int64_t done = part * chains * step;
    const T* rest = x + done;
    T* rest_out = out + done;
    scan_chains<1>(f, &rest, &rest_out, start + chains - 1, n - part * chains, step);
}

template <class F, class T>
static inline void scan_rows(F f, const T* x, T* out, int64_t rows, int64_t n, bool reverse)
{
    constexpr int chains = 8;
    int64_t step = reverse ? -1 : 1, first = reverse ? n - 1 : 0;
    split(rows, grain_cheap / (n + 1) + 1, [=](int64_t begin, int64_t end) {
        int64_t r = begin;
        for (; r + chains <= end; r += chains) {
            const T* from[chains];
            T* to[chains];
            double total[chains];
            for (int c = 0; c < chains; ++c) {
                from[c] = x + (r + c) * n + first;
                to[c] = out + (r + c) * n + first;
                total[c] = F::template start<double>();
            }
            scan_chains<chains>(f, from, to, total, n, step);
        }
        for (; r < end; ++r) scan_row(f, x + r * n + first, out + r * n + first, n, step);
    });
}

template <class F, bool reverse, class T>
void scan(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    if (inner == 1) return scan_rows(F(), x, out, outer, length, reverse);
    int64_t tiles = (inner + tile - 1) / tile, cost = length * (inner < tile ? inner : tile);
    split(outer * tiles, grain_cheap / (cost + 1) + 1, [=](int64_t begin, int64_t end) {
        double total[tile];
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = i % tiles * tile, at = i / tiles * length * inner + first;
            int64_t cols = inner - first < tile ? inner - first : tile;
            for (int64_t j = 0; j < cols; ++j) total[j] = F::template start<double>();
            for (int64_t r = 0; r < length; ++r) {
                int64_t row = at + (reverse ? length - 1 - r : r) * inner;
#pragma omp simd
                for (int64_t j = 0; j < cols; ++j) {
                    total[j] = F()(total[j], double(x[row + j]));
                    out[row + j] = T(total[j]);
                }
            }
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
