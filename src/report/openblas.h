// OpenBLAS, opened when asked for: what products of the CPU are timed against.
#pragma once

#include <string>

#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise {

class OpenBlas {
 public:
  // Error: missing_capability where the library or one of its functions is not installed.
  [[nodiscard]] static Result<OpenBlas> open();

  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::string& kernel() const { return kernel_; }  // e.g. "SkylakeX"

  // Whether it has this product: f32 or f64 throughout, each matrix with adjacent elements along
  // one dimension, D row-major, no epilogue, sizes and strides below 2^31.
  [[nodiscard]] static Result<void> check(const Problem& problem);

  // The product by its gemm, batch after batch, on so many threads; check() has been passed.
  void multiply(const Problem& problem, int threads, const void* a, const void* b, void* d) const;

 private:
  // Its C interface: order, transposition of A and of B, then sizes, factors and row strides.
  template <class T>
  using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);

  template <class T>
  void multiply_batches(Gemm<T> gemm, const Problem& problem, const void* a, const void* b,
                        void* d) const;

  Gemm<float> sgemm_ = nullptr;
  Gemm<double> dgemm_ = nullptr;
  void (*set_num_threads_)(int) = nullptr;
  std::string version_, kernel_;
};

}  // namespace tilewise
