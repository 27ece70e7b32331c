// The C library's functions of both float types under one name each, vectorisable where it can.
//
// A declaration with the `simd` attribute promises the compiler that vector versions exist (glibc's
// libmvec), so a plain loop over `exp(x[i])` calls the 4, 8 or 16 lane version. This header is
// included by code compiled with different instruction sets and therefore uses no standard header
// with inline functions: the linker could keep the AVX-512 copy for everybody.
#pragma once

#if TENSORPLAY_VECTOR_MATH >= 1
#define TENSORPLAY_SIMD_1 __attribute__((__simd__("notinbranch")))
#else
#define TENSORPLAY_SIMD_1
#endif
#if TENSORPLAY_VECTOR_MATH >= 2
#define TENSORPLAY_SIMD_2 __attribute__((__simd__("notinbranch")))
#else
#define TENSORPLAY_SIMD_2
#endif

#define TENSORPLAY_MATH_1(name, simd)                                        \
    extern "C" simd double name(double) noexcept;                            \
    extern "C" simd float name##f(float) noexcept;                           \
    namespace tensorplay::TENSORPLAY_ISA {                                   \
    static inline double name(double x) { return ::name(x); }                \
    static inline float name(float x) { return ::name##f(x); }               \
    }
#define TENSORPLAY_MATH_2(name, simd)                                        \
    extern "C" simd double name(double, double) noexcept;                    \
    extern "C" simd float name##f(float, float) noexcept;                    \
    namespace tensorplay::TENSORPLAY_ISA {                                   \
    static inline double name(double x, double y) { return ::name(x, y); }   \
    static inline float name(float x, float y) { return ::name##f(x, y); }   \
    }
#define TENSORPLAY_BUILTIN(name)                                             \
    namespace tensorplay::TENSORPLAY_ISA {                                   \
    static inline double name(double x) { return __builtin_##name(x); }      \
    static inline float name(float x) { return __builtin_##name##f(x); }     \
    }

TENSORPLAY_MATH_1(log, TENSORPLAY_SIMD_1)
TENSORPLAY_MATH_1(sin, TENSORPLAY_SIMD_1)
TENSORPLAY_MATH_1(cos, TENSORPLAY_SIMD_1)
TENSORPLAY_MATH_2(pow, TENSORPLAY_SIMD_1)
TENSORPLAY_MATH_1(exp2, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(expm1, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(log1p, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(log2, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(log10, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(tan, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(tanh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(sinh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(cosh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(asin, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(acos, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(atan, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(asinh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(acosh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(atanh, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(erf, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_1(erfc, TENSORPLAY_SIMD_2)
TENSORPLAY_MATH_2(atan2, TENSORPLAY_SIMD_2)
TENSORPLAY_BUILTIN(sqrt)
TENSORPLAY_BUILTIN(fabs)
TENSORPLAY_BUILTIN(floor)
TENSORPLAY_BUILTIN(ceil)
TENSORPLAY_BUILTIN(trunc)
TENSORPLAY_BUILTIN(rint)


extern "C" TENSORPLAY_SIMD_1 double exp(double) noexcept;
namespace tensorplay::TENSORPLAY_ISA {

static inline double exp(double x) { return ::exp(x); }

// exp of float32 without a call, since so much is made of it: x = n log(2) + r with |r| <= log(2)/2
// (Cody and Waite's two-part log 2), a minimax polynomial for exp(r), and 2^n in two factors, which
// gets subnormal results and the last binade before overflow right. Error below 1.1 ulp.
static inline float exp(float x)
{
    float y = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;  // NaN stays
    float shifted = y * 1.44269504f + 12582912.0f;            // + 1.5 * 2^23 rounds to an integer,
    int n = __builtin_bit_cast(int, shifted) - 0x4B400000;    // found in the lowest bits
    float whole = shifted - 12582912.0f;
    float r = (y - whole * 0.693145752f) - whole * 1.42860677e-6f;
    float q = 0.001381490959f;
    q = q * r + 0.008368674562f;
    q = q * r + 0.04166837707f;
    q = q * r + 0.1666652116f;
    q = q * r + 0.4999999353f;
    int half = n >> 1;
    float scale = __builtin_bit_cast(float, (half + 127) << 23);
    float rest = __builtin_bit_cast(float, (n - half + 127) << 23);
    return (1.0f + (r + r * r * q)) * scale * rest;
}

}  // namespace tensorplay::TENSORPLAY_ISA

#undef TENSORPLAY_MATH_1
#undef TENSORPLAY_MATH_2
#undef TENSORPLAY_BUILTIN
