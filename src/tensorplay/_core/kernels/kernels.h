// The doorway between the Cython core and the compiled loops.
//
// Every loop exists once, as a template in loops.hpp; that header is compiled several times with
// different instruction sets, and `kernels()` hands out the best table this processor can run.
#pragma once
#include <cstdint>

namespace tensorplay {

// How the two operands of a binary loop line up; the output is always rows x cols, contiguous.
enum Layout : int {
    SAME = 0,      // a[rows, cols], b[rows, cols]
    SCALAR_B = 1,  // b[1]
    SCALAR_A = 2,  // a[1]
    ROW_B = 3,     // b[cols], repeated for every row
    ROW_A = 4,     // a[cols]
    COL_B = 5,     // b[rows], one entry per row
    COL_A = 6,     // a[rows]
};

template <class T> using UnaryLoop = void (*)(const T* x, T* out, int64_t n);
template <class T>
using BinaryLoop = void (*)(const T* a, const T* b, T* out, int64_t rows, int64_t cols, int layout);
template <class T>
using CompareLoop = void (*)(const T* a, const T* b, uint8_t* out, int64_t rows, int64_t cols,
                             int layout);
// x[outer, length, inner] reduced over `length` to out[outer, inner].
template <class T>
using ReduceLoop = void (*)(const T* x, T* out, int64_t outer, int64_t length, int64_t inner);
// The same, with a result of x's shape (softmax, log_softmax).
template <class T> using RowLoop = ReduceLoop<T>;
// Two inputs of that shape (softmax backward: g and y).
template <class T>
using RowLoop2 = void (*)(const T* a, const T* b, T* out, int64_t outer, int64_t length,
                          int64_t inner);
// c[m, n] = a[m, k] @ b[k, n]; strides in elements, c contiguous. Meant for small products only.
template <class T>
using GemmLoop = void (*)(const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row,
                          int64_t b_col, T* c, int64_t m, int64_t n, int64_t k);

// Rows standardised, and the backward passes of that (see norm.hpp); c may be null.
template <class T>
using NormLoop = void (*)(const T* a, const T* b, const T* c, T* out, int64_t rows, int64_t cols,
                          double eps);

// Images standardised, or the backward passes of that (see channels.hpp).
template <class T>
using ChannelLoop = void (*)(const T* v, const T* x, const T* w, const T* b, T* out, T* by_w,
                             T* by_b, int64_t samples, int64_t channels, int64_t inner,
                             int64_t groups, double eps);

// Elementwise, of one to three arrays (the others are null) and up to six numbers.
constexpr int most_numbers = 6;
template <class T>
using MapLoop = void (*)(const T* a, const T* b, const T* c, T* out, int64_t n,
                         const double* numbers);

// Sliding windows over three spatial dims (of size 1 where there are fewer), see conv.hpp.
struct Geometry {
    int64_t size[3], kernel[3], stride[3], low[3], dilation[3], out[3];  // low: padding in front
};
template <class T>
using WindowLoop = void (*)(const T* from, T* to, int64_t channels, const Geometry& g);
template <class T>
using SingleLoop = void (*)(T* x, T* w, T* y, int64_t samples, int64_t channels, int64_t filters,
                            const Geometry& g, int which);

// Elements of another type, see casts.hpp.
using CastLoop = void (*)(const void* from, void* to, int64_t n);

// A named loop for both float types; either pointer may be null, then NumPy does the work.
struct Loop {
    const char* name;
    void* f32;
    void* f64;
};

struct Kernels {
    const char* isa;             // "baseline", "avx2", "avx512"
    const Loop* unary;           // each list ends with a null name
    const Loop* binary;
    const Loop* reduce;          // "sum", "prod", "amax", "amin", "mean"
    const Loop* row;             // "softmax", "log_softmax", "logsumexp" is a reduce
    const Loop* row2;            // "softmax_backward", "log_softmax_backward"
    GemmLoop<float> gemm_f32;
    GemmLoop<double> gemm_f64;
    const Loop* norm;            // "standardize" and its derivatives
    const Loop* compare;         // "eq", "ne", "lt", ...: out has one byte per element
    const Loop* map;             // "add_scaled", "elu" ...
    CastLoop half_from_float, float_from_half, bfloat_from_float, float_from_bfloat;
    ChannelLoop<float> channels_f32;
    ChannelLoop<double> channels_f64;
    WindowLoop<float> windows_f32, add_windows_f32;
    WindowLoop<double> windows_f64, add_windows_f64;
    SingleLoop<float> single_f32;
    SingleLoop<double> single_f64;
};

const Kernels& kernels();        // chosen once, at first use
int get_threads();
void set_threads(int count);     // threads used by loops above the size threshold

}  // namespace tensorplay
