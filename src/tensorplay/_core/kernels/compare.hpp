// Comparisons of two arrays: one byte per element.
#pragma once
#include "loops.hpp"

namespace tensorplay::TENSORPLAY_ISA {

#define COMPARISON(Name, result) \
    struct Name : Cheap { template <class T> uint8_t operator()(T a, T b) const { return result; } };
COMPARISON(Equal, a == b)
COMPARISON(NotEqual, a != b)
COMPARISON(Less, a < b)
COMPARISON(LessEqual, a <= b)
COMPARISON(Greater, a > b)
COMPARISON(GreaterEqual, a >= b)
#undef COMPARISON

// As `binary` of loops.hpp, with its layouts (see kernels.h).
template <class F, class T>
void compare(const T* a, const T* b, uint8_t* out, int64_t rows, int64_t cols, int layout)
{
    bool a_scalar = layout == SCALAR_A, b_scalar = layout == SCALAR_B;
    bool a_row = layout == ROW_A, b_row = layout == ROW_B;
    bool a_col = layout == COL_A, b_col = layout == COL_B;
    if (layout == SAME || a_scalar || b_scalar) {
        cols *= rows;
        rows = 1;
    }
    auto run = [=](auto x, auto y) {
        split(rows * cols, grain_cheap, [=](int64_t begin, int64_t end) {
#pragma omp simd
            for (int64_t i = begin; i < end; ++i) out[i] = F()(x(i), y(i));
        });
    };
    if (rows == 1 && !a_col && !b_col) {
        if (a_scalar) return run([=](int64_t) { return *a; }, [=](int64_t i) { return b[i]; });
        if (b_scalar) return run([=](int64_t i) { return a[i]; }, [=](int64_t) { return *b; });
        return run([=](int64_t i) { return a[i]; }, [=](int64_t i) { return b[i]; });
    }
    split(rows, grain_cheap / (cols + 1) + 1, [=](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            const T* x = a_row ? a : a_col ? a + r : a + r * cols;
            const T* y = b_row ? b : b_col ? b + r : b + r * cols;
            uint8_t* z = out + r * cols;
            if (a_col) {
#pragma omp simd
                for (int64_t i = 0; i < cols; ++i) z[i] = F()(*x, y[i]);
            } else if (b_col) {
#pragma omp simd
                for (int64_t i = 0; i < cols; ++i) z[i] = F()(x[i], *y);
            } else {
#pragma omp simd
                for (int64_t i = 0; i < cols; ++i) z[i] = F()(x[i], y[i]);
            }
        }
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
