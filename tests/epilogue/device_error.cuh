// The error of the epilogue's device functions: over every float, and the values of given doubles.
#include "parts/epilogue.cuh"

namespace tilewise {

enum class Function {
  exponential,
  hyperbolic_tangent,
  sigmoid,
  silu,
  gelu_tanh,
  gelu_erf,
  narrow_sigmoid,
  narrow_silu,
  narrow_gelu_tanh,
  narrow_gelu_erf,
  narrow_gelu_erf_short,
};

template <class T>
__device__ T evaluate(Function function, T x) {
  switch (function) {
    case Function::exponential:
      return epilogue::exponential(x);
    case Function::hyperbolic_tangent:
      return epilogue::hyperbolic_tangent(x);
    case Function::sigmoid:
      return epilogue::sigmoid(x);
    case Function::silu:
      return epilogue::silu(x);
    case Function::gelu_tanh:
      return epilogue::gelu_tanh(x);
    case Function::gelu_erf:
      return epilogue::gelu_erf(x);
    case Function::narrow_sigmoid:
      return epilogue::narrow::sigmoid(x);
    case Function::narrow_silu:
      return epilogue::narrow::silu(x);
    case Function::narrow_gelu_tanh:
      return epilogue::narrow::gelu_tanh(x);
    case Function::narrow_gelu_erf:
      return epilogue::narrow::gelu_erf(x);
    case Function::narrow_gelu_erf_short:
      return epilogue::narrow::gelu_erf_short(x);
  }
  return x;
}

// 2 sqrt(2/pi) (x + 0.044715 x^3)
__device__ double gelu_argument(double x) {
  return 1.5957691216057308 * (x + 0.044715 * x * x * x);
}

__device__ double reference(Function function, double x) {
  switch (function) {
    case Function::exponential:
      return exp(x);
    case Function::hyperbolic_tangent:
      return tanh(x);
    case Function::sigmoid:
    case Function::narrow_sigmoid:
      return 1 / (1 + exp(-x));
    case Function::silu:
    case Function::narrow_silu:
      return x / (1 + exp(-x));
    case Function::gelu_tanh:
    case Function::narrow_gelu_tanh:
      return x / (1 + exp(-gelu_argument(x)));
    case Function::gelu_erf:
    case Function::narrow_gelu_erf:
    case Function::narrow_gelu_erf_short:
      return x * normcdf(x);
  }
  return x;
}

// In units of the spacing of floats just above |exact|, but of no less than `smallest`.
__device__ double error_ulps(float got, double exact, double smallest) {
  const float infinity = __int_as_float(0x7f800000);
  const float rounded = static_cast<float>(exact), size = fabsf(rounded);
  if (!(size < infinity) || !(fabsf(got) < infinity)) return got == rounded ? 0.0 : 1e6;
  const double spacing = static_cast<double>(__uint_as_float(__float_as_uint(size) + 1)) - size;
  return fabs(got - exact) / fmax(spacing, smallest);
}

// In units of the bound of the functions for narrow results (docs/epilogue.md).
__device__ double error_narrow(Function function, float got, double exact) {
  const double relative = function == Function::narrow_gelu_erf_short ? 0x1.6ap-13 : 0x1p-14;
  const double smallest = function == Function::narrow_gelu_erf_short ? 0x1p-30
                          : function == Function::narrow_gelu_erf     ? 0x1p-52
                                                                      : 0x1p-119;
  if (!(fabsf(got) < __int_as_float(0x7f800000))) return 1e6;
  return fabs(got - exact) / fmax(relative * fabs(exact), smallest);
}

__host__ __device__ constexpr LaunchInfo error_launch() { return {.threads = 256}; }
extern "C" __device__ const LaunchInfo tilewise_launch = error_launch();

// count > 0: y[i] of x[i]; < 0: the same in float. Otherwise every finite float; worst: the largest
// error in 1/1024 ulp (of the bound, for narrow functions) in the upper half, the bits of its
// argument in the lower. gelu_tanh's is divided by 2 + |gelu_argument|.
extern "C" __global__ void __launch_bounds__(256)
    tilewise_kernel(Function function, int64 count, const double* x, double* y, double smallest,
                    unsigned long long* worst) {
  const int64 first = static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64 step = static_cast<int64>(gridDim.x) * blockDim.x;
  for (int64 i = first; i < count; i += step) y[i] = evaluate(function, x[i]);
  for (int64 i = first; i < -count; i += step) {
    y[i] = evaluate(function, static_cast<float>(x[i]));
  }
  if (count != 0) return;
  unsigned long long largest = 0;
  for (int64 bits = first; bits < (1ll << 32); bits += step) {
    const float argument = __uint_as_float(static_cast<unsigned>(bits));
    if (!(fabsf(argument) < __int_as_float(0x7f800000))) continue;
    const float got = evaluate(function, argument);
    const double exact = reference(function, argument);
    double error = function >= Function::narrow_sigmoid ? error_narrow(function, got, exact)
                                                        : error_ulps(got, exact, smallest);
    if (function == Function::gelu_tanh) error /= 2 + fabs(gelu_argument(argument));
    const unsigned long long packed = (static_cast<unsigned long long>(error * 1024) << 32) | bits;
    if (packed > largest) largest = packed;
  }
  atomicMax(worst, largest);
}

}  // namespace tilewise
