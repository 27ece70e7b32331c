// The table of all loops, compiled once per instruction set.
#include "casts.hpp"
#include "channels.hpp"
#include "compare.hpp"
#include "conv.hpp"
#include "maps.hpp"
#include "scan.hpp"

namespace tensorplay::TENSORPLAY_ISA {

template <class T>
void gemm(const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row, int64_t b_col, T* c,
          int64_t m, int64_t n, int64_t k);

template <class Function> static void* erase(Function* f) { return reinterpret_cast<void*>(f); }

#define ENTRY(name, f) {name, erase(f<float>), erase(f<double>)}
#define UNARY(name, F) {name, erase(unary<F, float>), erase(unary<F, double>)}
#define BINARY(name, F) {name, erase(binary<F, float>), erase(binary<F, double>)}
#define COMPARE(name, F) {name, erase(compare<F, float>), erase(compare<F, double>)}
#define REDUCE(name, F) {name, erase(reduce<F, float>), erase(reduce<F, double>)}
#define MAP(name, F, count) {name, erase(map<F, count, float>), erase(map<F, count, double>)}
#define END {nullptr, nullptr, nullptr}

static const Loop unary_loops[] = {
    UNARY("exp", Exp), UNARY("exp2", Exp2), UNARY("expm1", Expm1),
    UNARY("log", Log), UNARY("log2", Log2), UNARY("log10", Log10), UNARY("log1p", Log1p),
    UNARY("sin", Sin), UNARY("cos", Cos), UNARY("tan", Tan),
    UNARY("asin", Asin), UNARY("acos", Acos), UNARY("atan", Atan),
    UNARY("sinh", Sinh), UNARY("cosh", Cosh), UNARY("tanh", Tanh),
    UNARY("asinh", Asinh), UNARY("acosh", Acosh), UNARY("atanh", Atanh),
    UNARY("erf", Erf), UNARY("erfc", Erfc),
    UNARY("sigmoid", Sigmoid), UNARY("softplus", Softplus), UNARY("silu", Silu),
    UNARY("gelu", Gelu), UNARY("gelu_tanh", GeluTanh), UNARY("relu", Relu),
    UNARY("sqrt", Sqrt), UNARY("rsqrt", Rsqrt), UNARY("reciprocal", Reciprocal),
    UNARY("square", Square), UNARY("neg", Neg), UNARY("positive", Positive),
    UNARY("abs", Abs), UNARY("sign", Sign),
    UNARY("floor", Floor), UNARY("ceil", Ceil), UNARY("trunc", Trunc), UNARY("round", Round),
    END,
};

static const Loop binary_loops[] = {
    BINARY("add", Add), BINARY("sub", Sub), BINARY("mul", Mul), BINARY("div", Div),
    BINARY("maximum", Maximum), BINARY("minimum", Minimum),
    ENTRY("pow", power), BINARY("atan2", Atan2),
    BINARY("exp_difference", ExpDifference),
    BINARY("tanh_backward", TanhBackward), BINARY("sigmoid_backward", SigmoidBackward),
    BINARY("relu_backward", ReluBackward), BINARY("abs_backward", AbsBackward),
    BINARY("softplus_backward", SoftplusBackward), BINARY("silu_backward", SiluBackward),
    BINARY("gelu_backward", GeluBackward), BINARY("gelu_tanh_backward", GeluTanhBackward),
    END,
};

static const Loop compare_loops[] = {
    COMPARE("eq", Equal), COMPARE("ne", NotEqual), COMPARE("lt", Less), COMPARE("le", LessEqual),
    COMPARE("gt", Greater), COMPARE("ge", GreaterEqual),
    END,
};

static const Loop reduce_loops[] = {
    REDUCE("sum", Sum), REDUCE("prod", Product), REDUCE("amax", Largest), REDUCE("amin", Smallest),
    ENTRY("mean", mean), ENTRY("logsumexp", logsumexp),
    END,
};

#define SCAN(name, F, reverse) {name, erase(scan<F, reverse, float>), erase(scan<F, reverse, double>)}
static const Loop row_loops[] = {
    ENTRY("softmax", softmax), ENTRY("log_softmax", log_softmax),
    SCAN("cumsum", Sum, false), SCAN("cumsum_reverse", Sum, true),
    SCAN("cumprod", Product, false), SCAN("cumprod_reverse", Product, true),
    END,
};

static const Loop row2_loops[] = {
    ENTRY("softmax_backward", softmax_backward),
    ENTRY("log_softmax_backward", log_softmax_backward),
    END,
};

static const Loop norm_loops[] = {
    ENTRY("standardize", standardize), ENTRY("standardize_input", standardize_input),
    ENTRY("standardize_weight", standardize_weight),
    ENTRY("standardize_backward", standardize_backward),
    END,
};

static const Loop map_loops[] = {
    MAP("add_scaled", AddScaled, 2), MAP("sub_scaled", SubScaled, 2), MAP("lerp", Lerp, 2),
    MAP("addcmul", AddProduct, 3), MAP("addcdiv", AddQuotient, 3),
    MAP("elu", Elu, 1), MAP("elu_backward", EluBackward, 2), MAP("leaky_relu", LeakyRelu, 1),
    MAP("hardtanh", Hardtanh, 1), MAP("hardsigmoid", Hardsigmoid, 1),
    MAP("hardswish", Hardswish, 1), MAP("hardswish_backward", HardswishBackward, 2),
    MAP("softshrink", Softshrink, 1), MAP("hardshrink", Hardshrink, 1),
    MAP("threshold", Threshold, 1), MAP("softplus", SoftplusScaled, 1),
    MAP("softplus_backward", SoftplusScaledBackward, 2), MAP("log_sigmoid", LogSigmoid, 1),
    MAP("log_sigmoid_backward", LogSigmoidBackward, 2), MAP("slopes", Slopes, 2),
    END,
};

#define TENSORPLAY_QUOTE(name) #name
#define TENSORPLAY_STRING(name) TENSORPLAY_QUOTE(name)
extern const Kernels table;
const Kernels table = {
    TENSORPLAY_STRING(TENSORPLAY_ISA), unary_loops, binary_loops, reduce_loops, row_loops,
    row2_loops, gemm<float>, gemm<double>, norm_loops, compare_loops, map_loops,
    cast<HalfFromFloat, uint32_t, uint16_t>, cast<FloatFromHalf, uint16_t, uint32_t>,
    cast<BfloatFromFloat, uint32_t, uint16_t>, cast<FloatFromBfloat, uint16_t, uint32_t>,
    standardize_channels<float>, standardize_channels<double>,
    windows_of<float>, add_windows<float>, windows_of<double>, add_windows<double>,
    single_channels<float>, single_channels<double>,
};

}  // namespace tensorplay::TENSORPLAY_ISA
