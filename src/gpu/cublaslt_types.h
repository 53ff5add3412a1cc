// cuBLASLt's types, functions and numbers as we use them, so that building needs no header of it. A
// test compares them with the toolkit's where that is present.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/driver_types.h"
#include "tilewise/types.h"

namespace tilewise::gpu {

// Handles are pointers, enumerations ints.
using LtHandle = struct LtHandleOpaque*;
using LtMatmulDesc = struct LtMatmulDescOpaque*;
using LtMatrixLayout = struct LtMatrixLayoutOpaque*;
using LtPreference = struct LtPreferenceOpaque*;
struct LtAlgorithm {
  std::uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// Every function that we use: X(member, symbol, parameters...). All return int, 0 on success.
#define TILEWISE_CUBLASLT_FUNCTIONS(X)                                                             \
  X(create, cublasLtCreate, LtHandle*)                                                             \
  X(desc_create, cublasLtMatmulDescCreate, LtMatmulDesc*, int, int)                                \
  X(desc_destroy, cublasLtMatmulDescDestroy, LtMatmulDesc)                                         \
  X(desc_set, cublasLtMatmulDescSetAttribute, LtMatmulDesc, int, const void*, std::size_t)         \
  X(layout_create, cublasLtMatrixLayoutCreate, LtMatrixLayout*, int, std::uint64_t, std::uint64_t, \
    std::int64_t)                                                                                  \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, LtMatrixLayout)                                   \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, LtMatrixLayout, int, const void*, std::size_t)   \
  X(preference_create, cublasLtMatmulPreferenceCreate, LtPreference*)                              \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, LtPreference)                             \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, LtPreference, int, const void*,          \
    std::size_t)                                                                                   \
  X(get_heuristic, cublasLtMatmulAlgoGetHeuristic, LtHandle, LtMatmulDesc, LtMatrixLayout,         \
    LtMatrixLayout, LtMatrixLayout, LtMatrixLayout, LtPreference, int, LtHeuristic*, int*)         \
  X(matmul, cublasLtMatmul, LtHandle, LtMatmulDesc, const void*, const void*, LtMatrixLayout,      \
    const void*, LtMatrixLayout, const void*, const void*, LtMatrixLayout, void*, LtMatrixLayout,  \
    const LtAlgorithm*, void*, std::size_t, CuStream)                                              \
  X(algorithm_get, cublasLtMatmulAlgoConfigGetAttribute, const LtAlgorithm*, int, void*,           \
    std::size_t, std::size_t*)

// Numbers of its enumerations.
inline constexpr int kDescTransA = 3, kDescTransB = 4, kDescFastAccumulation = 25;
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
inline constexpr int kPreferenceWorkspace = 1;
inline constexpr int kAlgorithmId = 0, kAlgorithmTile = 1, kAlgorithmSplitK = 2,
                     kAlgorithmStages = 6, kAlgorithmCluster = 8;
inline constexpr int kTransposed = 1;
inline constexpr int kCompute32 = 68, kCompute64 = 70, kComputeTf32 = 77;

// cudaDataType_t of an element type.
[[nodiscard]] constexpr int data_type(Type type) {
  switch (type) {
    case Type::f32:
      return 0;
    case Type::f64:
      return 1;
    case Type::f16:
      return 2;
    case Type::bf16:
      return 14;
    case Type::f8e4m3:
      return 28;
    case Type::f8e5m2:
      return 29;
  }
  return -1;
}

}  // namespace tilewise::gpu
