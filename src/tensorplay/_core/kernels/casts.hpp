// Half precision to float32 and back: float16 (IEEE 754 binary16) and bfloat16, to the nearest, ties
// to even.
#pragma once
#include "loops.hpp"
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace tensorplay::TENSORPLAY_ISA {

struct BfloatFromFloat : Cheap {
    uint16_t operator()(uint32_t bits) const
    {
        uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
        return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
    }
};

struct FloatFromBfloat : Cheap {
    uint32_t operator()(uint16_t bits) const { return uint32_t(bits) << 16; }
};

struct HalfFromFloat : Cheap {
    uint16_t operator()(uint32_t bits) const
    {
        uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
        // Results below the least normal half: adding 0.5 rounds at the place of their last bit.
        float shifted = __builtin_bit_cast(float, size) + 0.5f;
        uint32_t small = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000;
        uint32_t usual = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
        uint32_t large = size > 0x7f800000 ? 0x7e00 | (size >> 13 & 0x3ff) : 0x7c00;
        return uint16_t(sign | (size < 0x38800000 ? small : size >= 0x47800000 ? large : usual));
    }
};

struct FloatFromHalf : Cheap {
    uint32_t operator()(uint16_t bits) const
    {
        uint32_t sign = uint32_t(bits & 0x8000) << 16, size = uint32_t(bits & 0x7fff) << 13;
        // As a float with the exponent of its own; the largest one means infinity or NaN, and a
        // subnormal number is the fraction with the least exponent, less that itself.
        uint32_t usual = size + 0x38000000, special = size + 0x70000000;
        float difference = __builtin_bit_cast(float, size + 0x38800000) -
                           __builtin_bit_cast(float, 0x38800000);
        uint32_t small = __builtin_bit_cast(uint32_t, difference);
        return sign | (size >= 0x0f800000 ? special : size < 0x00800000 ? small : usual);
    }
};

template <class F, class From, class To> void cast(const void* from, void* to, int64_t n)
{
    const From* x = static_cast<const From*>(from);
    To* out = static_cast<To*>(to);
    split(n, grain_cheap, [=](int64_t begin, int64_t end) {
        int64_t i = begin;
#ifdef __F16C__
        if constexpr (__is_same(F, HalfFromFloat))
            for (; i + 8 <= end; i += 8)
                _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                                 _mm256_cvtps_ph(_mm256_castsi256_ps(_mm256_loadu_si256(
                                                     reinterpret_cast<const __m256i*>(x + i))),
                                                 _MM_FROUND_TO_NEAREST_INT));
        if constexpr (__is_same(F, FloatFromHalf))
            for (; i + 8 <= end; i += 8)
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                                    _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128(
                                        reinterpret_cast<const __m128i*>(x + i)))));
#endif
#pragma omp simd
        for (int64_t j = i; j < end; ++j) out[j] = F()(x[j]);
    });
}

}  // namespace tensorplay::TENSORPLAY_ISA
