// Compares our declarations of cuBLASLt with the toolkit's header.
#include <gtest/gtest.h>

#include <type_traits>

#include "gpu/cublaslt_types.h"

#ifdef TILEWISE_CUBLASLT_HEADER
#include TILEWISE_CUBLASLT_HEADER

namespace tilewise::gpu {
namespace {

// Two parameters are passed alike: both pointers, or both integers (or enumerations) of one size.
template <class X, class Y>
constexpr bool kSameKind = sizeof(X) == sizeof(Y) && std::is_pointer_v<X> == std::is_pointer_v<Y>;

template <class Ours, class Theirs>
constexpr bool kSameShape = false;
template <class R, class... X, class S, class... Y>
  requires(sizeof...(X) == sizeof...(Y))
constexpr bool kSameShape<R (*)(X...), S (*)(Y...)> =
    sizeof(R) == sizeof(S) && (kSameKind<X, Y> && ...);

#define TILEWISE_COMPARE(member, symbol, ...)                          \
  static_assert(kSameShape<int (*)(__VA_ARGS__), decltype(&::symbol)>, \
                "our declaration of " #symbol " differs from the toolkit's");
TILEWISE_CUBLASLT_FUNCTIONS(TILEWISE_COMPARE)

static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtHeuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

static_assert(CUBLAS_STATUS_SUCCESS == 0);
static_assert(kTransposed == CUBLAS_OP_T);
static_assert(kCompute32 == CUBLAS_COMPUTE_32F && kCompute64 == CUBLAS_COMPUTE_64F);
static_assert(kComputeTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(kDescTransA == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(kDescTransB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kDescFastAccumulation == CUBLASLT_MATMUL_DESC_FAST_ACCUM);
static_assert(kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(kLayoutBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(kPreferenceWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kAlgorithmId == CUBLASLT_ALGO_CONFIG_ID);
static_assert(kAlgorithmTile == CUBLASLT_ALGO_CONFIG_TILE_ID);
static_assert(kAlgorithmSplitK == CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
static_assert(kAlgorithmStages == CUBLASLT_ALGO_CONFIG_STAGES_ID);
static_assert(kAlgorithmCluster == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);

static_assert(data_type(Type::f32) == CUDA_R_32F && data_type(Type::f64) == CUDA_R_64F);
static_assert(data_type(Type::f16) == CUDA_R_16F && data_type(Type::bf16) == CUDA_R_16BF);
static_assert(data_type(Type::f8e4m3) == CUDA_R_8F_E4M3);
static_assert(data_type(Type::f8e5m2) == CUDA_R_8F_E5M2);

TEST(CublasLtDeclarations, AreThoseOfTheToolkit) { SUCCEED() << "compared when compiling"; }

}  // namespace
}  // namespace tilewise::gpu

#else

TEST(CublasLtDeclarations, AreThoseOfTheToolkit) {
  GTEST_SKIP() << "cublasLt.h was not found when this test was built";
}

#endif
