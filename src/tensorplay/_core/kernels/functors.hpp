// What the elementwise loops compute, one line each.
#pragma once
#include "vecmath.hpp"

namespace tensorplay::TENSORPLAY_ISA {

// `calls`: the function calls the C library, so that threads pay off earlier, and the last few
// elements go through the vector version too (see `transform` in loops.hpp).
struct Cheap { static constexpr bool calls = false; };
struct Costly { static constexpr bool calls = true; };

constexpr double sqrt_half = 0.70710678118654752440;                       // 1 / sqrt(2)
template <class T> constexpr T normal_peak = T(0.39894228040143267794);    // 1 / sqrt(2 pi)
template <class T> constexpr T gelu_scale = T(0.79788456080286535588);     // sqrt(2 / pi)
template <class T> constexpr T gelu_cubic = T(0.044715);                   // arXiv:1606.08415

template <class T> static inline T logistic(T x) { return T(1) / (T(1) + exp(-x)); }
template <class T> static inline T signum(T x)
{
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == x ? T(0) : x;
}
// The argument z for which tanh-gelu(x) = x * logistic(z): no cancellation for negative x.
template <class T> static inline T gelu_argument(T x)
{
    return T(2) * gelu_scale<T> * x * (T(1) + gelu_cubic<T> * x * x);
}

// The normal distribution's integral up to x, given bell = exp(-x * x / 2), without cancellation.
// For float32, bell times a minimax polynomial in 1 / (1 + 0.3 |x|), relative error 6e-8.
static inline double normal_cdf(double x, double) { return 0.5 * erfc(-x * sqrt_half); }
static inline float normal_cdf(float x, float bell)
{
    float t = 1.0f / (1.0f + 0.3f * fabs(x)), p = 0.0384073831f;
    p = p * t - 0.169307416f;
    p = p * t + 0.2289516869f;
    p = p * t - 0.07683955868f;
    p = p * t + 0.142765205f;
    p = p * t + 0.0945858923f;
    p = p * t + 0.121945256f;
    p = p * t + 0.1194842081f;
    p = p * t + 7.372337472e-6f;
    return x < 0.0f ? bell * p : 1.0f - bell * p;
}
template <class T> static inline T gelu(T x) { return x * normal_cdf(x, decay(T(-0.5) * x * x)); }

// log(1 + t) for 0 <= t <= 1, as 2 atanh(s) with s = t / (2 + t), and that as s + s^3 p(s^2).
static inline float log1p_unit(float t)
{
    float s = t / (2.0f + t), z = s * s, p = 0.134260136f;
    p = p * z + 0.141182733f;
    p = p * z + 0.200037815f;
    p = p * z + 0.333333202f;
    return 2.0f * (s + s * z * p);
}
static inline double log1p_unit(double t)
{
    double s = t / (2.0 + t), z = s * s, p = 0.0808246908473566931;
    p = p * z + 0.0440015882543438673;
    p = p * z + 0.0600057759142888935;
    p = p * z + 0.0665706777544058143;
    p = p * z + 0.076927852964561218;
    p = p * z + 0.0909089470866322395;
    p = p * z + 0.111111113589008908;
    p = p * z + 0.142857142835525305;
    p = p * z + 0.200000000000072983;
    p = p * z + 0.333333333333333293;
    return 2.0 * (s + s * z * p);
}
// log(1 + exp(x)) without overflow and without cancellation.
template <class T> static inline T softplus(T x)
{
    return (x < T(0) ? T(0) : x) + log1p_unit(decay(-fabs(x)));
}

#define UNARY(Name, cost, result) \
    struct Name : cost { template <class T> T operator()(T x) const { return result; } };
UNARY(Exp, Costly, exp(x))
UNARY(Exp2, Costly, exp2(x))
UNARY(Expm1, Costly, expm1(x))
UNARY(Log, Costly, log(x))
UNARY(Log2, Costly, log2(x))
UNARY(Log10, Costly, log10(x))
UNARY(Log1p, Costly, log1p(x))
UNARY(Sin, Costly, sin(x))
UNARY(Cos, Costly, cos(x))
UNARY(Tan, Costly, tan(x))
UNARY(Asin, Costly, asin(x))
UNARY(Acos, Costly, acos(x))
UNARY(Atan, Costly, atan(x))
UNARY(Sinh, Costly, sinh(x))
UNARY(Cosh, Costly, cosh(x))
UNARY(Tanh, Costly, tanh(x))
UNARY(Asinh, Costly, asinh(x))
UNARY(Acosh, Costly, acosh(x))
UNARY(Atanh, Costly, atanh(x))
UNARY(Erf, Costly, erf(x))
UNARY(Erfc, Costly, erfc(x))
UNARY(Sigmoid, Costly, logistic(x))
UNARY(Softplus, Costly, x > T(20) ? x : softplus(x))
UNARY(Silu, Costly, x * logistic(x))
UNARY(Gelu, Costly, gelu(x))
UNARY(GeluTanh, Costly, x * logistic(gelu_argument(x)))
UNARY(Relu, Cheap, x <= T(0) ? T(0) : x)  // keeps NaN
UNARY(Sqrt, Cheap, sqrt(x))
UNARY(Rsqrt, Cheap, T(1) / sqrt(x))
UNARY(Reciprocal, Cheap, T(1) / x)
UNARY(Square, Cheap, x * x)
UNARY(Cube, Cheap, x * x * x)
UNARY(Neg, Cheap, -x)
UNARY(Positive, Cheap, x)
UNARY(Abs, Cheap, fabs(x))
UNARY(Sign, Cheap, signum(x))
UNARY(Floor, Cheap, floor(x))
UNARY(Ceil, Cheap, ceil(x))
UNARY(Trunc, Cheap, trunc(x))
UNARY(Round, Cheap, rint(x))  // half to even
#undef UNARY

#define BINARY(Name, cost, result) \
    struct Name : cost { template <class T> T operator()(T a, T b) const { return result; } };
BINARY(Add, Cheap, a + b)
BINARY(Sub, Cheap, a - b)
BINARY(Mul, Cheap, a * b)
BINARY(Div, Cheap, a / b)
BINARY(Maximum, Cheap, (a > b) | (a != a) ? a : b)  // NaN if either is
BINARY(Minimum, Cheap, (a < b) | (a != a) ? a : b)
BINARY(Pow, Costly, pow(a, b))
BINARY(Atan2, Costly, atan2(a, b))
BINARY(ExpDifference, Costly, a == -T(__builtin_inf()) ? T(0) : a == b ? T(1) : exp(a - b))
#undef BINARY

// Derivatives in one pass over memory: cotangent g, and the input x or output y that was saved.
// Their mathematics is stated, differentiated and tested in ops/; these are only fast.
#define BACKWARD(Name, cost, saved, result) \
    struct Name : cost { template <class T> T operator()(T g, T saved) const { return result; } };
BACKWARD(TanhBackward, Cheap, y, g * (T(1) - y * y))
BACKWARD(SigmoidBackward, Cheap, y, g * (y * (T(1) - y)))
BACKWARD(ReluBackward, Cheap, y, y <= T(0) ? T(0) : g)
BACKWARD(AbsBackward, Cheap, x, g * signum(x))
BACKWARD(SoftplusBackward, Costly, x, x > T(20) ? g : g * logistic(x))
#undef BACKWARD

struct SiluBackward : Costly {
    template <class T> T operator()(T g, T x) const
    {
        T s = logistic(x);
        return g * (s * (T(1) + x * (T(1) - s)));
    }
};

struct GeluBackward : Costly {
    template <class T> T operator()(T g, T x) const
    {
        T bell = decay(T(-0.5) * x * x);
        return g * (normal_cdf(x, bell) + x * normal_peak<T> * bell);
    }
};

struct GeluTanhBackward : Costly {
    template <class T> T operator()(T g, T x) const
    {
        T s = logistic(gelu_argument(x));
        T slope = T(2) * gelu_scale<T> * (T(1) + T(3) * gelu_cubic<T> * x * x);
        return g * (s + x * s * (T(1) - s) * slope);
    }
};

}  // namespace tensorplay::TENSORPLAY_ISA
