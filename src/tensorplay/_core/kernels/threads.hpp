// Splitting a loop among threads.
#pragma once
#include <cstdint>

namespace tensorplay {

extern int thread_limit;  // set_threads(); 1 in a forked child, where OpenMP's threads are gone

// Below this many elements a second thread brings little: waking it costs about a microsecond, and
// much more where other programs keep the processors busy.
constexpr int64_t grain_cheap = 65536;
constexpr int64_t grain_costly = 16384;

namespace TENSORPLAY_ISA {

// body(begin, end) over parts of 0 .. n, in threads when n reaches the grain.
template <class Body> static inline void split(int64_t n, [[maybe_unused]] int64_t grain, Body body)
{
#ifdef _OPENMP
    if (n >= grain && n > 1 && thread_limit > 1) {
        // Parts start at multiples of a cache line's elements where there are many.
        int64_t unit = n >= 1024 ? 64 : 1, units = (n + unit - 1) / unit;
        int64_t parts = thread_limit < units ? thread_limit : units;
#pragma omp parallel for schedule(static) num_threads(int(parts))
        for (int64_t p = 0; p < parts; ++p) {
            int64_t begin = units * p / parts * unit, end = units * (p + 1) / parts * unit;
            body(begin, end < n ? end : n);
        }
        return;
    }
#endif
    if (n > 0) body(int64_t(0), n);
}

}  // namespace TENSORPLAY_ISA
}  // namespace tensorplay
