// cuBLASLt, NVIDIA's library of matrix products, opened when asked for: what results are timed
// against.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/cublaslt_types.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

struct CublasLtFunctions {
#define TILEWISE_DECLARE(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
  TILEWISE_CUBLASLT_FUNCTIONS(TILEWISE_DECLARE)
#undef TILEWISE_DECLARE
};

struct CublasLt {
  CublasLtFunctions call;
  std::string version;  // "13.1.2"
  std::string path;
};

// Opens it once a process: TILEWISE_CUBLASLT, the loader's path, the toolkit's and the Python
// wheel's folders. Error (missing_capability): it is nowhere.
[[nodiscard]] Result<const CublasLt*> cublaslt();

// One product in cuBLASLt's terms (D = A B, no epilogue), with the algorithms that its heuristics
// offer for a workspace of 64 MiB.
class CublasLtProduct {
 public:
  static constexpr int kMaxAlgorithms = 8;

  // In the context of the caller. Errors: types or layouts that cuBLASLt does not take.
  [[nodiscard]] static Result<CublasLtProduct> create(const Problem& problem);
  CublasLtProduct(CublasLtProduct&&) noexcept = default;

  [[nodiscard]] std::size_t num_algorithms() const { return algorithms_.size(); }
  // "algo 66, tile 128x256, stages 4, cluster 2x1, split 1" by its numbers.
  [[nodiscard]] std::string describe(std::size_t algorithm) const;
  [[nodiscard]] Result<void> enqueue(std::size_t algorithm, const void* a, const void* b, void* d,
                                     CuStream stream) const;

 private:
  struct Descriptors;
  CublasLtProduct();

  const CublasLt* library_ = nullptr;
  std::shared_ptr<Descriptors> descriptors_;
  std::vector<LtHeuristic> algorithms_;
  std::shared_ptr<DeviceBuffer> workspace_;
};

}  // namespace tilewise::gpu
