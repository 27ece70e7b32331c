// Compiled once per instruction set; the table in loops.cpp refers to it.
#include "gemm.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template void gemm<float>(const float*, int64_t, int64_t, const float*, int64_t, int64_t, float*,
                          int64_t, int64_t, int64_t);
template void gemm<double>(const double*, int64_t, int64_t, const double*, int64_t, int64_t,
                           double*, int64_t, int64_t, int64_t);

}  // namespace tensorplay::TENSORPLAY_ISA
