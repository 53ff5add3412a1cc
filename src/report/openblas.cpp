#include "report/openblas.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "gpu/dynamic_library.h"

namespace tilewise {
namespace {

// The values of CBLAS_ORDER and CBLAS_TRANSPOSE.
constexpr int kRowMajor = 101, kAsItIs = 111, kTransposed = 112;

template <class F>
bool load(const gpu::DynamicLibrary& library, const char* name, F& function) {
  function = reinterpret_cast<F>(library.find(name));
  return function != nullptr;
}

// "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." -> "0.3.21"
std::string version_in(const char* config) {
  std::istringstream words(config == nullptr ? "" : config);
  std::string name, version;
  words >> name >> version;
  return version;
}

// A matrix of rows x columns as gemm takes it: rows of adjacent elements, or its transpose so.
struct Lines {
  bool valid = false;
  int transposed = kAsItIs;
  int stride = 1;
};

Lines lines_of(const Strides& s, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  Lines lines;
  const bool row_major = s.column == 1 || columns <= 1;
  lines.transposed = row_major ? kAsItIs : kTransposed;
  const std::int64_t length = std::max<std::int64_t>(row_major ? columns : rows, 1);
  const std::int64_t stride = std::max(row_major ? s.row : s.column, length);
  lines.valid = (row_major || s.row == 1) && std::max({rows, columns, stride}) <= kLargest;
  if (lines.valid) lines.stride = static_cast<int>(stride);
  return lines;
}

Result<void> refuse(const std::string& what) {
  return bad_request("openblas: " + what + "; leave the rival out for this product");
}

}  // namespace

Result<OpenBlas> OpenBlas::open() {
  const std::string candidates[] = {"libopenblas.so.0", "libopenblas.so"};
  const Result<gpu::DynamicLibrary> library = gpu::DynamicLibrary::open("OpenBLAS", candidates);
  if (!library) return std::unexpected(library.error());
  OpenBlas blas;
  char* (*config)() = nullptr;
  char* (*core_name)() = nullptr;
  const bool complete = load(*library, "cblas_sgemm", blas.sgemm_) &&
                        load(*library, "cblas_dgemm", blas.dgemm_) &&
                        load(*library, "openblas_set_num_threads", blas.set_num_threads_) &&
                        load(*library, "openblas_get_config", config) &&
                        load(*library, "openblas_get_corename", core_name);
  if (!complete) {
    return missing_capability(library->path() +
                              " lacks a function of OpenBLAS's C interface; install the complete "
                              "library (on Debian: libopenblas0)");
  }
  blas.version_ = version_in(config());
  blas.kernel_ = core_name();
  return blas;
}

Result<void> OpenBlas::check(const Problem& p) {
  const bool same = p.type_a == p.type_b && p.type_a == p.type_d;
  if (!same || (p.type_a != Type::f32 && p.type_a != Type::f64)) {
    return refuse("the type of A is " + std::string(to_string(p.type_a)) +
                  "; it has f32 and f64, the same for A, B and D");
  }
  if (!p.epilogue.is_identity()) return refuse("it has no epilogue");
  if (!lines_of(p.a, p.m, p.k).valid || !lines_of(p.b, p.k, p.n).valid ||
      !lines_of(p.d, p.m, p.n).valid || lines_of(p.d, p.m, p.n).transposed != kAsItIs) {
    return refuse("its sizes and strides are below 2^31, and rows or columns are contiguous");
  }
  return {};
}

template <class T>
void OpenBlas::multiply_batches(Gemm<T> gemm, const Problem& p, const void* a, const void* b,
                                void* d) const {
  const Lines lines_a = lines_of(p.a, p.m, p.k);
  const Lines lines_b = lines_of(p.b, p.k, p.n);
  const Lines lines_d = lines_of(p.d, p.m, p.n);
  for (std::int64_t i = 0; i < p.batch; ++i) {
    gemm(kRowMajor, lines_a.transposed, lines_b.transposed, static_cast<int>(p.m),
         static_cast<int>(p.n), static_cast<int>(p.k), T{1},
         static_cast<const T*>(a) + i * p.a.batch, lines_a.stride,
         static_cast<const T*>(b) + i * p.b.batch, lines_b.stride, T{0},
         static_cast<T*>(d) + i * p.d.batch, lines_d.stride);
  }
}

void OpenBlas::multiply(const Problem& p, int threads, const void* a, const void* b,
                        void* d) const {
  if (p.m == 0 || p.n == 0) return;
  set_num_threads_(threads);
  if (p.type_a == Type::f64) {
    multiply_batches<double>(dgemm_, p, a, b, d);
  } else {
    multiply_batches<float>(sgemm_, p, a, b, d);
  }
}

}  // namespace tilewise
