// Loops over small arrays that need no vector instructions: what counts there is a single call.
// x is seen as [outer, length, inner], with the work along `length`.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tensorplay {

// The sum of |x - mean|^2 over `divisor`; its root where `root`. Two passes, in double precision.
template <class T>
void variance(const T* x, T* out, int64_t outer, int64_t length, int64_t inner, double divisor,
              bool root)
{
    for (int64_t o = 0; o < outer; ++o, x += length * inner)
        for (int64_t i = 0; i < inner; ++i) {
            double mean = 0, total = 0;
            for (int64_t k = 0; k < length; ++k) mean += double(x[k * inner + i]);
            mean /= double(length);
            for (int64_t k = 0; k < length; ++k) {
                double d = double(x[k * inner + i]) - mean;
                total += d * d;
            }
            total /= divisor;
            *out++ = T(root ? std::sqrt(total) : total);
        }
}

// The root of the sum of squares.
template <class T>
void euclidean(const T* x, T* out, int64_t outer, int64_t length, int64_t inner)
{
    for (int64_t o = 0; o < outer; ++o, x += length * inner)
        for (int64_t i = 0; i < inner; ++i) {
            double total = 0;
            for (int64_t k = 0; k < length; ++k) {
                double v = double(x[k * inner + i]);
                total += v * v;
            }
            *out++ = T(std::sqrt(total));
        }
}

// Running sums or products, accumulated in A; from the end where `reverse`.
template <class T, class A>
void scan(const T* x, T* out, int64_t outer, int64_t length, int64_t inner, bool product,
          bool reverse)
{
    int64_t step = reverse ? -inner : inner, start = reverse ? (length - 1) * inner : 0;
    for (int64_t o = 0; o < outer; ++o, x += length * inner, out += length * inner)
        for (int64_t i = 0; i < inner; ++i) {
            A total = product ? A(1) : A(0);
            int64_t at = start + i;
            for (int64_t k = 0; k < length; ++k, at += step) {
                total = product ? A(total * A(x[at])) : A(total + A(x[at]));
                out[at] = T(total);
            }
        }
}

// The first of the largest (or smallest) elements and its place; NaN counts as beyond all others.
template <class T>
void extremum(const T* x, T* values, int64_t* places, int64_t outer, int64_t length,
              int64_t inner, bool largest)
{
    for (int64_t o = 0; o < outer; ++o, x += length * inner)
        for (int64_t i = 0; i < inner; ++i) {
            T best = x[i];
            int64_t place = 0;
            for (int64_t k = 1; k < length && best == best; ++k) {
                T v = x[k * inner + i];
                if ((largest ? v > best : v < best) || v != v) best = v, place = k;
            }
            if (values) *values++ = best;
            *places++ = place;
        }
}

// The places of the k largest (or smallest) of at most 64 elements; of equal ones the first first.
template <class T>
void top_places(const T* x, int64_t* places, int64_t outer, int64_t length, int64_t inner,
                int64_t k, bool largest)
{
    auto larger = [](T a, T b) { return a > b || (a != a && b == b); };  // NaN is the largest
    for (int64_t o = 0; o < outer; ++o, x += length * inner, places += k * inner)
        for (int64_t i = 0; i < inner; ++i) {
            uint64_t taken = 0;
            for (int64_t n = 0; n < k; ++n) {
                int64_t best = -1;
                for (int64_t j = 0; j < length; ++j) {
                    if (taken >> j & 1) continue;
                    T v = x[j * inner + i];
                    if (best < 0 || (largest ? larger(v, x[best * inner + i])
                                             : larger(x[best * inner + i], v)))
                        best = j;
                }
                taken |= uint64_t(1) << best;
                places[n * inner + i] = best;
            }
        }
}

// Vector products of x and y, seen as [outer, 3, inner].
template <class T> void cross(const T* x, const T* y, T* out, int64_t outer, int64_t inner)
{
    for (int64_t o = 0; o < outer; ++o, x += 3 * inner, y += 3 * inner, out += 3 * inner)
        for (int64_t i = 0; i < inner; ++i) {
            const int64_t j = i + inner, k = i + 2 * inner;
            out[i] = x[j] * y[k] - x[k] * y[j];
            out[j] = x[k] * y[i] - x[i] * y[k];
            out[k] = x[i] * y[j] - x[j] * y[i];
        }
}

// Whether all, or any, of the bytes are not zero.
inline void truth(const char* x, char* out, int64_t outer, int64_t length, int64_t inner, bool every)
{
    for (int64_t o = 0; o < outer; ++o, x += length * inner)
        for (int64_t i = 0; i < inner; ++i) {
            bool found = every;
            for (int64_t k = 0; k < length && found == every; ++k)
                found = x[k * inner + i] != 0;
            *out++ = found;
        }
}

// --- classes: x[outer, classes, inner], one class for every (outer, inner) ------------------------

// Minus the elements of the target classes: each to out, or (a null out) their sum to *total.
// kept: how many targets are not `ignored`. False where a target is no class.
template <class T>
bool pick_classes(const T* x, const int64_t* target, T* out, double* total, int64_t* kept,
                  int64_t outer, int64_t classes, int64_t inner, int64_t ignored)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t o = 0; o < outer; ++o, x += classes * inner)
        for (int64_t i = 0; i < inner; ++i) {
            int64_t c = *target++;
            T v = T(0);
            if (c != ignored) {
                if (c < 0 || c >= classes) return false;
                v = -x[c * inner + i];
                ++count;
            }
            if (out) *out++ = v;
            else sum += double(v);
        }
    *total = sum;
    *kept = count;
    return true;
}

// The transpose: out, of x's shape and zero, gets -g at the target classes; g moves `step` a target.
template <class T>
bool put_classes(const T* g, int64_t step, const int64_t* target, T* out, int64_t outer,
                 int64_t classes, int64_t inner, int64_t ignored, double divisor)
{
    for (int64_t o = 0; o < outer; ++o, out += classes * inner)
        for (int64_t i = 0; i < inner; ++i, g += step) {
            int64_t c = *target++;
            if (c == ignored) continue;
            if (c < 0 || c >= classes) return false;
            out[c * inner + i] = T(-(*g / T(divisor)));
        }
    return true;
}

// --- pooling --------------------------------------------------------------------------------------

struct Window {
    int64_t size, out, kernel, stride, padding, dilation;
};

// The largest element of every window of planes of two dims, and its place in the plane: the first
// of equal ones, the last NaN. False where a window has no element of the plane.
template <class T>
bool max_windows(const T* x, T* values, int64_t* places, int64_t planes, const Window& a,
                 const Window& b)
{
    for (int64_t p = 0; p < planes; ++p, x += a.size * b.size)
        for (int64_t i = 0; i < a.out; ++i)
            for (int64_t j = 0; j < b.out; ++j) {
                T best = T(0);
                int64_t place = -1;
                for (int64_t k = 0; k < a.kernel; ++k) {
                    int64_t row = i * a.stride - a.padding + k * a.dilation;
                    if (row < 0 || row >= a.size) continue;
                    for (int64_t l = 0; l < b.kernel; ++l) {
                        int64_t column = j * b.stride - b.padding + l * b.dilation;
                        if (column < 0 || column >= b.size) continue;
                        T v = x[row * b.size + column];
                        if (place < 0 || v > best || v != v) {
                            best = v;
                            place = row * b.size + column;
                        }
                    }
                }
                if (place < 0) return false;
                *values++ = best;
                *places++ = place;
            }
    return true;
}

// --- convolution ----------------------------------------------------------------------------------

// All windows of planes of two dims: out[plane, k, l, i, j] is x[plane] at row i * stride + k ...,
// and 0 outside.
template <class T>
void copy_windows(const T* x, T* out, int64_t planes, const Window& a, const Window& b)
{
    for (int64_t p = 0; p < planes; ++p, x += a.size * b.size)
        for (int64_t k = 0; k < a.kernel; ++k)
            for (int64_t l = 0; l < b.kernel; ++l)
                for (int64_t i = 0; i < a.out; ++i) {
                    int64_t row = i * a.stride - a.padding + k * a.dilation;
                    int64_t column = l * b.dilation - b.padding;
                    bool inside = row >= 0 && row < a.size;
                    const T* line = x + row * b.size;
                    for (int64_t j = 0; j < b.out; ++j, column += b.stride)
                        *out++ = inside && column >= 0 && column < b.size ? line[column] : T(0);
                }
}

// --- Fourier transforms ---------------------------------------------------------------------------

// exp(2 pi i m / n), exact at multiples of a quarter turn.
inline std::complex<double> unit_root(int64_t m, int64_t n)
{
    m %= n;
    if (m * 4 % n == 0) {
        const std::complex<double> quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        return quarters[m * 4 / n];
    }
    double angle = 6.283185307179586476925 * double(m) / double(n);
    return {std::cos(angle), std::sin(angle)};
}

// out[k] = scale * sum over j of x[j] exp(-+ 2 pi i j k / n) for k < count, along rows of n <= 32.
template <class X, class T>
void fourier(const X* x, std::complex<T>* out, int64_t rows, int64_t n, int64_t count,
             double scale, bool forward)
{
    std::complex<double> roots[32];
    for (int64_t m = 0; m < n; ++m) roots[m] = unit_root(forward ? n - m : m, n);
    for (int64_t r = 0; r < rows; ++r, x += n)
        for (int64_t k = 0; k < count; ++k) {
            std::complex<double> total = 0;
            for (int64_t j = 0; j < n; ++j)
                total += std::complex<double>(x[j]) * roots[j * k % n];
            *out++ = std::complex<T>(total * scale);
        }
}

}  // namespace tensorplay
