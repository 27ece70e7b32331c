// Standardising x[samples, channels, inner] with a weight and a bias per channel: over all samples
// (batch norm), or over groups of neighbouring channels of each sample (group and instance norm).
//
//     h = (x - mean) * r,  r = 1 / sqrt(var + eps),  out = h * w + b
//
// As in norm.hpp, statistics are computed anew in the backward pass; w and b may be null.
#pragma once
#include "norm.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class T> struct Images {
    const T *v, *x, *w, *b;  // v: the cotangent, in backward passes
    T *out, *by_w, *by_b;
    int64_t samples, channels, inner, groups;
    T eps;

    int64_t run(int64_t sample, int64_t c) const { return (sample * channels + c) * inner; }
    T weight(int64_t c) const { return w ? w[c] : T(1); }
};

// out = (x - mean) * scale + shift
template <class T>
static inline void affine(const T* x, T* out, int64_t n, T mean, T scale, T shift)
{
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale + shift;
}

// out = (g - mean - (x - centre) * slope) * scale
template <class T>
static inline void project(const T* g, const T* x, T* out, int64_t n, T mean, T centre, T slope,
                           T scale)
{
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = (g[i] - mean - (x[i] - centre) * slope) * scale;
}

// ---- over all samples ---------------------------------------------------------------------------

template <class T> static inline void channel_forward(const Images<T>& p, int64_t c)
{
    T n = T(p.samples * p.inner), sum = T(0), square = T(0), first = p.x[p.run(0, c)];
    for (int64_t s = 0; s < p.samples; ++s) {
        const T* x = p.x + p.run(s, c);
        sum += sum_of<T>(p.inner, [=](auto at) { return at(x) - first; });
    }
    T mean = first + sum / n;
    for (int64_t s = 0; s < p.samples; ++s) {
        const T* x = p.x + p.run(s, c);
        square += sum_of<T>(p.inner, [=](auto at) { return (at(x) - mean) * (at(x) - mean); });
    }
    T scale = p.weight(c) / sqrt(square / n + p.eps);
    T shift = p.b ? p.b[c] : T(0);
    for (int64_t s = 0; s < p.samples; ++s)
        affine(p.x + p.run(s, c), p.out + p.run(s, c), p.inner, mean, scale, shift);
}

// Sums of x - first and g over a run, and then of the products with the deviation of x.
template <class T> static inline Two<T> run_sums(const T* x, const T* g, int64_t n, T first)
{
    return fold<T>(Sums(), n, [=](auto at) { return pair(at(x) - first, at(g)); });
}
template <class T> static inline Two<T> run_products(const T* x, const T* g, int64_t n, T mean)
{
    return fold<T>(Sums(), n, [=](auto at) {
        auto centred = at(x) - mean;
        return pair(centred * centred, centred * at(g));
    });
}

template <class T> static inline void channel_backward(const Images<T>& p, int64_t c)
{
    T n = T(p.samples * p.inner), first = p.x[p.run(0, c)];
    Two<T> sums{T(0), T(0)}, products{T(0), T(0)};
    for (int64_t s = 0; s < p.samples; ++s)
        sums = Sums()(sums, run_sums(p.x + p.run(s, c), p.v + p.run(s, c), p.inner, first));
    T mean = first + sums.a / n;
    for (int64_t s = 0; s < p.samples; ++s)
        products = Sums()(products,
                          run_products(p.x + p.run(s, c), p.v + p.run(s, c), p.inner, mean));
    T r = T(1) / sqrt(products.a / n + p.eps);
    p.by_w[c] = products.b * r;
    p.by_b[c] = sums.b;
    for (int64_t s = 0; s < p.samples; ++s) {
        int64_t at = p.run(s, c);
        project(p.v + at, p.x + at, p.out + at, p.inner, sums.b / n, mean, products.b * r * r / n,
                p.weight(c) * r);
    }
}

// The same for samples that are rows, of which a tile of columns is done at a time.
//
// Statistics of columns of x and, if given, g: mean of x, sum of squared deviations from it, sum of
// g, and sum of g times the deviation. Computed for few rows, which stay in the cache, and joined
// pairwise (Chan, Golub and LeVeque, The American Statistician 37, 1983).
template <class T> struct Moments { T mean[tile], square[tile], sum[tile], along[tile]; };

template <class T>
static void column_moments(const T* x, const T* g, int64_t stride, int64_t rows, int64_t cols,
                           Moments<T>& m)
{
    if (rows > 64) {
        Moments<T> other;
        int64_t first = rows / 2;
        column_moments(x, g, stride, first, cols, m);
        column_moments(x + first * stride, g ? g + first * stride : g, stride, rows - first, cols,
                       other);
        T part = T(rows - first) / T(rows), weight = part * T(first);
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) {
            T apart = other.mean[j] - m.mean[j], step = apart * part;
            m.mean[j] += step;
            m.square[j] += other.square[j] + apart * apart * weight;
            if (g) {
                m.along[j] += other.along[j] - m.sum[j] * step + other.sum[j] * (apart - step);
                m.sum[j] += other.sum[j];
            }
        }
        return;
    }
    const T* mean = m.mean;
    fold_rows_of(Sum(), m.mean, 0, rows, cols,
                 [=](int64_t r, auto at) { return at(x + r * stride) - at(x); });
    for (int64_t j = 0; j < cols; ++j) m.mean[j] = x[j] + m.mean[j] / T(rows);
    fold_rows_of(Sum(), m.square, 0, rows, cols, [=](int64_t r, auto at) {
        auto centred = at(x + r * stride) - at(mean);
        return centred * centred;
    });
    if (!g) return;
    fold_rows(Sum(), g, m.sum, rows, stride, cols);
    fold_rows_of(Sum(), m.along, 0, rows, cols, [=](int64_t r, auto at) {
        return (at(x + r * stride) - at(mean)) * at(g + r * stride);
    });
}

template <class T>
static inline void columns_forward(const Images<T>& p, int64_t first, int64_t cols)
{
    Moments<T> m;
    T scale[tile], shift[tile];
    const T* x = p.x + first;
    column_moments<T>(x, nullptr, p.channels, p.samples, cols, m);
    for (int64_t j = 0; j < cols; ++j) {
        scale[j] = p.weight(first + j) / sqrt(m.square[j] / T(p.samples) + p.eps);
        shift[j] = p.b ? p.b[first + j] : T(0);
    }
    for (int64_t r = 0; r < p.samples; ++r, x += p.channels) {
        T* out = p.out + first + r * p.channels;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j) out[j] = (x[j] - m.mean[j]) * scale[j] + shift[j];
    }
}

template <class T>
static inline void columns_backward(const Images<T>& p, int64_t first, int64_t cols)
{
    Moments<T> m;
    T slope[tile], scale[tile], n = T(p.samples);
    const T *x = p.x + first, *g = p.v + first;
    column_moments(x, g, p.channels, p.samples, cols, m);
    for (int64_t j = 0; j < cols; ++j) {
        T r = T(1) / sqrt(m.square[j] / n + p.eps);
        p.by_w[first + j] = m.along[j] * r;
        p.by_b[first + j] = m.sum[j];
        scale[j] = p.weight(first + j) * r;
        slope[j] = m.along[j] * r * r / n;
        m.sum[j] /= n;
    }
    for (int64_t r = 0; r < p.samples; ++r, x += p.channels, g += p.channels) {
        T* out = p.out + first + r * p.channels;
#pragma omp simd
        for (int64_t j = 0; j < cols; ++j)
            out[j] = (g[j] - m.sum[j] - (x[j] - m.mean[j]) * slope[j]) * scale[j];
    }
}

template <class T> static inline void over_samples(const Images<T>& p)
{
    int64_t size = p.samples * p.inner;
    if (p.inner == 1)
        return for_columns(1, p.samples, p.channels, [=](int64_t first, int64_t cols) {
            if (p.v) columns_backward(p, first, cols);
            else columns_forward(p, first, cols);
        });
    split(p.channels, grain_costly / (size + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
            if (p.v) channel_backward(p, c);
            else channel_forward(p, c);
        }
    });
}

// ---- over groups of channels of one sample ------------------------------------------------------

template <class T> static inline void group_forward(const Images<T>& p, int64_t row)
{
    int64_t count = p.channels / p.groups, first = row % p.groups * count;
    int64_t n = count * p.inner, at = row * n;
    Spread<T> s(p.x + at, n, p.eps);
    for (int64_t c = first; c < first + count; ++c, at += p.inner) {
        T scale = s.r * p.weight(c);
        affine(p.x + at, p.out + at, p.inner, s.mean, scale, p.b ? p.b[c] : T(0));
    }
}

// `sums` has by_w and by_b of this thread, and then room for as many numbers as one group has
// channels.
template <class T> static inline void group_backward(const Images<T>& p, int64_t row, T* sums)
{
    int64_t count = p.channels / p.groups, first = row % p.groups * count, start = row * count;
    T n = T(count * p.inner), *by_w = sums + first, *by_b = by_w + p.channels;
    T *along = sums + 2 * p.channels, start_value = p.x[start * p.inner];
    Two<T> total{T(0), T(0)}, products{T(0), T(0)};
    for (int64_t k = 0; k < count; ++k) {
        int64_t at = (start + k) * p.inner;
        Two<T> part = run_sums(p.x + at, p.v + at, p.inner, start_value);
        by_b[k] += part.b;
        total = Sums()(total, pair(part.a, part.b * p.weight(first + k)));
    }
    T mean = start_value + total.a / n;
    for (int64_t k = 0; k < count; ++k) {
        int64_t at = (start + k) * p.inner;
        Two<T> part = run_products(p.x + at, p.v + at, p.inner, mean);
        along[k] = part.b;
        products = Sums()(products, pair(part.a, part.b * p.weight(first + k)));
    }
    T r = T(1) / sqrt(products.a / n + p.eps), slope = products.b * r * r / n, shift = total.b / n;
    for (int64_t k = 0; k < count; ++k) {
        int64_t at = (start + k) * p.inner;
        T w = p.weight(first + k), *out = p.out + at;
        const T *g = p.v + at, *x = p.x + at;
        by_w[k] += along[k] * r;
#pragma omp simd
        for (int64_t i = 0; i < p.inner; ++i)
            out[i] = (g[i] * w - shift - (x[i] - mean) * slope) * r;
    }
}

template <class T> static inline void over_groups(const Images<T>& p)
{
    int64_t rows = p.samples * p.groups, count = p.channels / p.groups;
    if (!p.v)
        return for_rows(rows, count * p.inner,
                        [=](int64_t at) { group_forward(p, at / (count * p.inner)); });
    int64_t width = 2 * p.channels + count;
    Zeros<T> sums(width);
    sum_over_rows(rows, count * p.inner, width, sums.data,
                  [=](int64_t row, T* own) { group_backward(p, row, own); });
    for (int64_t c = 0; c < p.channels; ++c) {
        p.by_w[c] = sums.data[c];
        p.by_b[c] = sums.data[p.channels + c];
    }
}

// Forward where v is null, else backward, with the cotangents of w and b in by_w and by_b. No
// groups: over all samples.
template <class T>
void standardize_channels(const T* v, const T* x, const T* w, const T* b, T* out, T* by_w, T* by_b,
                          int64_t samples, int64_t channels, int64_t inner, int64_t groups,
                          double eps)
{
    Images<T> p{v, x, w, b, out, by_w, by_b, samples, channels, inner, groups, T(eps)};
    if (groups) over_groups(p);
    else over_samples(p);
}

}  // namespace tensorplay::TENSORPLAY_ISA
