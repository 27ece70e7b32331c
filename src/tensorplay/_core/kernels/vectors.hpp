// Registers of several elements, and folding an array with them.
//
// Written with the vector extension of GCC and Clang: a `Vector` is computed with like a number.
// Elementwise loops are left to the compiler; this is for what it does badly, above all sums.
#pragma once
#include <cstdint>

namespace tensorplay::TENSORPLAY_ISA {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

#define TENSORPLAY_INLINE __attribute__((always_inline)) inline

template <class T, int width> struct Pack {
    typedef T type __attribute__((vector_size(sizeof(T) * width), aligned(sizeof(T)), may_alias));
};
template <class T> struct Pack<T, 1> { typedef T type; };

template <class T> constexpr int width = register_bytes / int(sizeof(T));
template <class T> using Vector = typename Pack<T, width<T>>::type;

// The integer of a float type's size, and what of one has the size of a number or Vector.
template <class X> struct Traits;
template <> struct Traits<float> { using Bits = int32_t; using Number = float; };
template <> struct Traits<double> { using Bits = int64_t; using Number = double; };
template <> struct Traits<Vector<float>> { using Bits = Vector<int32_t>; using Number = float; };
template <> struct Traits<Vector<double>> { using Bits = Vector<int64_t>; using Number = double; };

// A place in arrays that are walked together: `at(p)` is what stands there in the array at p, one
// element (One) or a register of them (Many), and `at.put(p, x)` writes there.
template <class T> struct One {
    int64_t i;
    TENSORPLAY_INLINE T operator()(const T* p) const { return p[i]; }
    TENSORPLAY_INLINE void put(T* p, T x) const { p[i] = x; }
};
template <class T> struct Many {
    int64_t i;
    TENSORPLAY_INLINE Vector<T> operator()(const T* p) const
    {
        return *reinterpret_cast<const Vector<T>*>(p + i);
    }
    TENSORPLAY_INLINE void put(T* p, Vector<T> x) const
    {
        *reinterpret_cast<Vector<T>*>(p + i) = x;
    }
};

// Two values that are folded at the same time.
template <class X> struct Two { X a, b; };
template <class X> TENSORPLAY_INLINE Two<X> pair(X a, X b) { return {a, b}; }

template <class X, class T> TENSORPLAY_INLINE X filled(X*, T value) { return X{} + value; }
template <class X, class T> TENSORPLAY_INLINE Two<X> filled(Two<X>*, Two<T> value)
{
    return {X{} + value.a, X{} + value.b};
}

template <int... places> struct Places {};
template <int from, int count, int... places> constexpr auto places_from()
{
    if constexpr (count == 0) return Places<places...>();
    else return places_from<from + 1, count - 1, places..., from>();
}
template <class V, int... places> TENSORPLAY_INLINE auto lanes_of(V v, Places<places...>)
{
    return __builtin_shufflevector(v, v, places...);
}
template <class V, int... places> TENSORPLAY_INLINE auto lanes_of(Two<V> v, Places<places...> p)
{
    auto a = lanes_of(v.a, p);
    return Two<decltype(a)>{a, lanes_of(v.b, p)};
}

template <class V> TENSORPLAY_INLINE auto lane(V v, int i) { return v[i]; }
template <class V> TENSORPLAY_INLINE auto lane(Two<V> v, int i)
{
    return Two<decltype(v.a[i] + v.a[i])>{v.a[i], v.b[i]};
}

// f over all lanes of a register of n.
template <int n, class F, class V> TENSORPLAY_INLINE auto across(F f, V v)
{
    if constexpr (n > 2) {
        auto low = lanes_of(v, places_from<0, n / 2>());
        return across<n / 2>(f, f(low, lanes_of(v, places_from<n / 2, n / 2>())));
    } else {
        return f(lane(v, 0), lane(v, 1));
    }
}

// v in its last `count` lanes, `other` in the ones before.
template <class T, int... places>
TENSORPLAY_INLINE auto numbered(Places<places...>)
{
    return Vector<typename Traits<T>::Bits>{places...};
}
template <class T>
TENSORPLAY_INLINE Vector<T> last_lanes(Vector<T> v, int64_t count, Vector<T> other)
{
    using Bits = typename Traits<T>::Bits;
    return numbered<T>(places_from<0, width<T>>()) >= Bits(width<T> - count) ? v : other;
}
template <class T>
TENSORPLAY_INLINE Two<Vector<T>> last_lanes(Two<Vector<T>> v, int64_t count, Two<Vector<T>> other)
{
    return {last_lanes<T>(v.a, count, other.a), last_lanes<T>(v.b, count, other.b)};
}

// A copy of a short line, for which a call of memcpy would take longer.
template <class T> TENSORPLAY_INLINE void copy_line(T* to, const T* from, int64_t n)
{
    constexpr int64_t w = width<T>;
    int64_t i = 0;
    for (; i + w <= n; i += w) Many<T>{i}.put(to, Many<T>{i}(from));
    if (i == n) return;
    if (n >= w) Many<T>{n - w}.put(to, Many<T>{n - w}(from));
    else
        for (; i < n; ++i) to[i] = from[i];
}

}  // namespace tensorplay::TENSORPLAY_ISA
