// Compares our declarations of the driver's functions with the toolkit's header.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "gpu/driver.h"

#ifdef TILEWISE_CUDA_HEADER
#include TILEWISE_CUDA_HEADER

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

#define TILEWISE_COMPARE(member, symbol, ...)                                       \
  static_assert(kSameShape<decltype(DriverFunctions::member), decltype(&::symbol)>, \
                "our declaration of " #symbol " differs from the toolkit's");
TILEWISE_DRIVER_FUNCTIONS(TILEWISE_COMPARE)

static_assert(sizeof(CuLaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(CuLaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(CuLaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(sizeof(CuLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(CuLaunchAttribute, cluster) == offsetof(CUlaunchAttribute, value));
static_assert(CuLaunchAttribute::kClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(sizeof(CuTensorMap) == sizeof(CUtensorMap) && alignof(CuTensorMap) >= 64);
static_assert(kCuErrorOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kCuErrorNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kCuStreamNonBlocking == CU_STREAM_NON_BLOCKING);

template <class Ours>
constexpr bool is(Ours ours, int theirs) {
  return static_cast<int>(ours) == theirs;
}
using D = CuDeviceAttribute;
static_assert(is(D::num_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(is(D::clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
static_assert(is(D::l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
static_assert(is(D::threads_per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
static_assert(is(D::compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(is(D::compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(is(D::shared_bytes_per_sm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
static_assert(is(D::registers_per_sm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
static_assert(is(D::shared_bytes_per_block_optin,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(is(D::memory_pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
using F = CuFunctionAttribute;
static_assert(is(F::static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(is(F::local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
static_assert(is(F::num_registers, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(is(F::max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(is(F::non_portable_cluster, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
static_assert(is(CuTensorMapType::u8, CU_TENSOR_MAP_DATA_TYPE_UINT8));
static_assert(is(CuTensorMapType::f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16));
static_assert(is(CuTensorMapType::f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32));
static_assert(is(CuTensorMapType::f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64));
static_assert(is(CuTensorMapType::bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16));
static_assert(is(CuTensorMapType::tf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
static_assert(is(CuTensorMapSwizzle::b32, CU_TENSOR_MAP_SWIZZLE_32B));
static_assert(is(CuTensorMapSwizzle::b64, CU_TENSOR_MAP_SWIZZLE_64B));
static_assert(is(CuTensorMapSwizzle::b128, CU_TENSOR_MAP_SWIZZLE_128B));
static_assert(kCuTensorMapInterleaveNone == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(kCuTensorMapPromoteL2_256 == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(kCuTensorMapFillZero == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

TEST(Declarations, MatchTheToolkitsHeader) { SUCCEED() << "compared when this file was compiled"; }

}  // namespace
}  // namespace tilewise::gpu

#else

TEST(Declarations, MatchTheToolkitsHeader) {
  GTEST_SKIP() << "cuda.h was not found when the tests were built, so nothing was compared";
}

#endif
