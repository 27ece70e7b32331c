// The C library's functions of both float types under one name each, vectorisable where it can.
//
// A declaration with the `simd` attribute promises the compiler that vector versions exist (glibc's
// libmvec), so a plain loop over `exp(x[i])` calls the 4, 8 or 16 lane version. This header is
// included by code compiled with different instruction sets and therefore uses no standard header
// with inline functions: the linker could keep the AVX-512 copy for everybody.
#pragma once
#include "vectors.hpp"

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

namespace tensorplay::TENSORPLAY_ISA {

// exp without a call, since so much is made of it, of a number or a Vector: x = n log(2) + r with
// |r| <= log(2)/2 (Cody and Waite's two-part log 2), exp(r) = 1 + r + r^2 q(r) with a minimax
// polynomial q, and 2^n. Errors are below 1.1 ulp.
template <class T> struct ExpParts;
template <> struct ExpParts<float> {
    static constexpr float least = -87.3365479f, log2_high = 0.693145752f, log2_low = 1.42860677e-6f;
    static constexpr float low = -104.0f, high = 89.0f;  // where results are 0 and infinite
    static constexpr float magic = 12582912.0f;          // adding it rounds to an integer, which is
    static constexpr int bias = 127, mantissa = 23;      // then in the lowest bits
    static constexpr float q[] = {0.4999999353f, 0.1666652116f, 0.04166837707f, 0.008368674562f,
                                  0.001381490959f};
};
template <> struct ExpParts<double> {
    static constexpr double least = -708.39641853226408, log2_high = 0.693147180559663,
                            log2_low = 2.8235290563031577e-13;
    static constexpr double low = -746.0, high = 710.0;
    static constexpr double magic = 6755399441055744.0;
    static constexpr int bias = 1023, mantissa = 52;
    static constexpr double q[] = {
        0.50000000000000106236,   0.16666666666666411821,   0.041666666666530142663,
        0.0083333333334946797016, 0.0013888888943639847438, 0.00019841269506512593169,
        2.4801493085527757265e-5, 2.7557586150689216564e-6, 2.7630253915956935715e-7,
        2.5000201619933490233e-8};
};

// exp(r), and 2^n for the integer that was added to magic + bias.
template <class P, class X> TENSORPLAY_INLINE X exp_reduced(X x, X whole)
{
    X r = (x - whole * P::log2_high) - whole * P::log2_low;
    constexpr int terms = sizeof(P::q) / sizeof(P::q[0]);
    X q = X{} + P::q[terms - 1];
#pragma GCC unroll 16
    for (int i = terms - 2; i >= 0; --i) q = q * r + P::q[i];
    return typename Traits<X>::Number(1) + (r + r * r * q);
}
template <class P, class X> TENSORPLAY_INLINE X power_of_two(X shifted)
{
    using Bits = typename Traits<X>::Bits;
    return __builtin_bit_cast(X, __builtin_bit_cast(Bits, shifted) << P::mantissa);
}

template <class X> TENSORPLAY_INLINE X exp(X x)
{
    using T = typename Traits<X>::Number;
    using P = ExpParts<T>;
    constexpr T log2_e = T(1.44269504088896340736), shift = P::magic + P::bias;
    X y = x < P::low ? X{} + P::low : x;  // NaN stays
    y = y > P::high ? X{} + P::high : y;
    X whole = (y * log2_e + P::magic) - P::magic;
    // In two factors: so results that are subnormal, or almost too large, come out right.
    X first = whole * T(0.5) + shift, second = (whole - (first - shift)) + shift;
    return exp_reduced<P>(y, whole) * power_of_two<P>(first) * power_of_two<P>(second);
}

// exp of x <= 0 (or a little more): shorter, and subnormal results are 0.
template <class X> TENSORPLAY_INLINE X decay(X x)
{
    using T = typename Traits<X>::Number;
    using P = ExpParts<T>;
    constexpr T log2_e = T(1.44269504088896340736), shift = P::magic + P::bias;
    X shifted = x * log2_e + shift;
    X result = exp_reduced<P>(x, shifted - shift) * power_of_two<P>(shifted);
    return x < P::least ? X{} : result;
}

}  // namespace tensorplay::TENSORPLAY_ISA

#undef TENSORPLAY_MATH_1
#undef TENSORPLAY_MATH_2
#undef TENSORPLAY_BUILTIN
