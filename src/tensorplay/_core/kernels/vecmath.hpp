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

TENSORPLAY_MATH_1(exp, TENSORPLAY_SIMD_1)
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

#undef TENSORPLAY_MATH_1
#undef TENSORPLAY_MATH_2
#undef TENSORPLAY_BUILTIN
