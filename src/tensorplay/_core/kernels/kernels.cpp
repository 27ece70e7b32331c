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

// The table of an instruction set, null where this build or this processor does not have it.
static const Kernels* table_of([[maybe_unused]] const char* isa)
{
#ifdef TENSORPLAY_AVX512
    if (!std::strcmp(isa, "avx512") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("f16c"))
        return &avx512::table;
#endif
#ifdef TENSORPLAY_AVX2
    if (!std::strcmp(isa, "avx2") && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        return &avx2::table;
#endif
    return std::strcmp(isa, "baseline") ? nullptr : &baseline::table;
}

static const Kernels& choose()
{
    // To compare, or to get the same last bits on different machines: TENSORPLAY_ISA=baseline.
    const char* wish = std::getenv("TENSORPLAY_ISA");
    const char* order[] = {wish ? wish : "avx512", "avx512", "avx2"};
    for (const char* isa : order)
        if (const Kernels* table = table_of(isa)) return *table;
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

// For tests/test_kernels.py, which runs every table this processor can run.
extern "C" __attribute__((visibility("default"))) const void* tensorplay_kernels(const char* isa)
{
    return tensorplay::table_of(isa);
}
