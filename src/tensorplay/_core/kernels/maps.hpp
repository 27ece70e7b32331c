// Elementwise functions of one to three arrays and some numbers: `f(a, b, c)` with `f` made from the
// numbers p, q, r ... What they compute is stated, differentiated and tested in ops/.
#pragma once
#include "loops.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class T> struct Numbers {
    T p, q, r, s, t, u;
    explicit Numbers(const double* n)
        : p(T(n[0])), q(T(n[1])), r(T(n[2])), s(T(n[3])), t(T(n[4])), u(T(n[5])) {}
};

#define TENSORPLAY_MAP(Name, cost, arguments, result)                        \
    template <class T> struct Name : cost, Numbers<T> {                      \
        using Numbers<T>::Numbers, Numbers<T>::p, Numbers<T>::q,             \
            Numbers<T>::r, Numbers<T>::s, Numbers<T>::t, Numbers<T>::u;      \
        T operator() arguments const { return result; }                      \
    };
#define MAP1(Name, cost, result) TENSORPLAY_MAP(Name, cost, (T x), result)
#define MAP2(Name, cost, g, x, result) TENSORPLAY_MAP(Name, cost, (T g, T x), result)
#define MAP3(Name, cost, result) TENSORPLAY_MAP(Name, cost, (T x, T y, T z), result)

template <class T> static inline T clipped(T x, T low, T high)
{
    return x < low ? low : x > high ? high : x;  // keeps NaN
}

MAP2(AddScaled, Cheap, x, y, x + p * y)
MAP2(SubScaled, Cheap, x, y, x - p * y)
MAP2(Lerp, Cheap, x, y, fabs(p) < T(0.5) ? x + p * (y - x) : y - (T(1) - p) * (y - x))
MAP3(AddProduct, Cheap, x + p * (y * z))
MAP3(AddQuotient, Cheap, x + p * (y / z))

MAP1(Elu, Costly, x > T(0) ? x * q : (p * q) * expm1(x * r))  // alpha, scale, input scale
MAP2(EluBackward, Costly, g, x, x > T(0) ? g * q : g * ((p * q * r) * exp(x * r)))
MAP1(LeakyRelu, Cheap, x > T(0) ? x : x * p)
MAP1(Hardtanh, Cheap, clipped(x, p, q))
MAP1(Hardsigmoid, Cheap, clipped(x + T(3), T(0), T(6)) / T(6))
MAP1(Hardswish, Cheap, x * (clipped(x + T(3), T(0), T(6)) / T(6)))
MAP2(HardswishBackward, Cheap, g, x,
     x <= T(-3) ? T(0) : x < T(3) ? g * (x / T(3) + T(0.5)) : g)
MAP1(Softshrink, Cheap, fabs(x) <= p ? T(0) : x > T(0) ? x - p : x + p)
MAP1(Hardshrink, Cheap, fabs(x) <= p ? T(0) : x)
MAP1(Threshold, Cheap, x <= p ? q : x)
MAP1(SoftplusScaled, Costly, x * p > q ? x : softplus(x * p) / p)  // beta, threshold
MAP2(SoftplusScaledBackward, Costly, g, x, x * p > q ? g : g * logistic(x * p))
MAP1(LogSigmoid, Costly, -softplus(-x))
MAP2(LogSigmoidBackward, Costly, g, x, g * logistic(-x))
#undef MAP1
#undef MAP2
#undef MAP3
#undef TENSORPLAY_MAP

// g times one of three slopes r, s, t: left of p, between, or right of q; at p and q itself the one
// between unless u. Where the slope is 0 so is the result, whatever g.
template <class T> struct Slopes : Cheap, Numbers<T> {
    using Numbers<T>::Numbers;
    T operator()(T g, T x) const
    {
        bool left = (x < this->p) | ((x == this->p) & (this->u != T(0)));
        bool right = (x > this->q) | ((x == this->q) & (this->u != T(0)));
        T slope = left ? this->r : right ? this->t : this->s;
        return slope == T(0) ? T(0) : g * slope;
    }
};

template <template <class> class F, int count, class T>
void map(const T* a, const T* b, const T* c, T* out, int64_t n, const double* numbers)
{
    const F<T> f(numbers);
    split(n, F<T>::calls ? grain_costly : grain_cheap, [=](int64_t begin, int64_t end) {
        auto element = [](const T* p) { return [p](int64_t i) { return p[i]; }; };
        if constexpr (count == 1) transform(f, out, begin, end, element(a));
        else if constexpr (count == 2) transform(f, out, begin, end, element(a), element(b));
        else transform(f, out, begin, end, element(a), element(b), element(c));
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
