// The choice of the instruction set, and the number of threads.
#include "kernels.h"

#include <cstdlib>
#include <cstring>
#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#endif

namespace tensorplay {

namespace baseline { extern const Kernels table; }
namespace avx2 { extern const Kernels table; }
namespace avx512 { extern const Kernels table; }

int thread_limit = 1;

static const Kernels& choose()
{
    // For tests and for comparing: TENSORPLAY_ISA=avx2 (or baseline) asks for no more than that.
    const char* wish = std::getenv("TENSORPLAY_ISA");
    [[maybe_unused]] bool any = !wish || !std::strcmp(wish, "avx512");
    [[maybe_unused]] bool at_most_avx2 = any || !std::strcmp(wish, "avx2");
#ifdef TENSORPLAY_AVX512
    if (any && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return avx512::table;
#endif
#ifdef TENSORPLAY_AVX2
    if (at_most_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2::table;
#endif
    return baseline::table;
}

static const Kernels& start()
{
#ifdef _OPENMP
    thread_limit = omp_get_max_threads();
    // OpenMP's threads do not survive a fork, and GNU's library would wait for them forever.
    pthread_atfork(nullptr, nullptr, [] { thread_limit = 1; });
#endif
    return choose();
}

const Kernels& kernels()
{
    static const Kernels& table = start();
    return table;
}

int get_threads() { return thread_limit; }

void set_threads(int count)
{
#ifdef _OPENMP
    kernels();
    thread_limit = count < 1 ? 1 : count;
#else
    (void)count;
#endif
}

}  // namespace tensorplay
