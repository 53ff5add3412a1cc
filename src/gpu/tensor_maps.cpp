#include "gpu/tensor_maps.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "epilogue/device_code.h"
#include "gpu/driver.h"
#include "schedule/bulk_copy.h"

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kBulkBytes = 16;  // bases and pitches
constexpr const char* kWayOut = "or take schedule \"mma\"";

// A matrix as the bulk copy sees it: the contiguous dimension, the other one, the batch.
struct BulkView {
  const char* name;
  Type type;
  void* data;
  std::int64_t inner, outer, batch;  // extents
  std::int64_t pitch, batch_stride;  // elements
};

BulkView view(const char* name, Type type, const MatrixArgument& matrix, std::int64_t rows,
              std::int64_t columns, std::int64_t batch) {
  const bool row_major = matrix.column == 1;
  return {name,
          type,
          matrix.data,
          row_major ? columns : rows,
          row_major ? rows : columns,
          matrix.batch == 0 ? 1 : batch,
          row_major ? matrix.row : matrix.column,
          matrix.batch};
}

CuTensorMapType map_type(Type type) {
  switch (type) {
    case Type::f64:
      return CuTensorMapType::f64;
    case Type::f32:
      return CuTensorMapType::f32;
    case Type::bf16:
      return CuTensorMapType::bf16;
    case Type::f16:
      return CuTensorMapType::f16;
    case Type::f8e4m3:
    case Type::f8e5m2:
      return CuTensorMapType::u8;
  }
  return CuTensorMapType::u8;
}

CuTensorMapSwizzle map_swizzle(int bytes) {
  switch (bytes) {
    case 32:
      return CuTensorMapSwizzle::b32;
    case 64:
      return CuTensorMapSwizzle::b64;
    case 128:
      return CuTensorMapSwizzle::b128;
    default:
      return CuTensorMapSwizzle::none;
  }
}

Result<void> encode(const BulkView& v, int box_inner, int box_outer, int swizzle, TensorMap& map) {
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  const auto extent = [](std::int64_t x) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(x, 1));
  };
  const std::int64_t size = size_bytes(v.type);
  // The stride of a dimension of one is never used, but has to be valid.
  const std::int64_t pitch = std::max<std::int64_t>(v.pitch * size, kBulkBytes);
  const std::int64_t batch = v.batch > 1 ? v.batch_stride * size : pitch;
  const std::uint64_t extents[3] = {extent(v.inner), extent(v.outer), extent(v.batch)};
  const std::uint64_t strides[2] = {static_cast<std::uint64_t>(pitch),
                                    static_cast<std::uint64_t>(batch)};
  const unsigned box[3] = {static_cast<unsigned>(box_inner), static_cast<unsigned>(box_outer), 1};
  const unsigned steps[3] = {1, 1, 1};
  CuTensorMap encoded;
  const CuResult result = (*opened)->call.tensor_map_encode_tiled(
      &encoded, map_type(v.type), 3, v.data, extents, strides, box, steps,
      kCuTensorMapInterleaveNone, map_swizzle(swizzle), kCuTensorMapPromoteL2_256,
      kCuTensorMapFillZero);
  static_assert(sizeof(encoded) == sizeof(map));
  std::memcpy(&map, &encoded, sizeof(map));
  if (result == kCuSuccess) return {};
  return check(result, "cuTensorMapEncodeTiled",
               std::string("operand ") + v.name + ", " + std::to_string(v.outer) + " x " +
                   std::to_string(v.inner) + ", pitch " + std::to_string(pitch) + " bytes, box " +
                   std::to_string(box_outer) + " x " + std::to_string(box_inner));
}

// Rows that are contiguous and start on multiples of 16 bytes.
bool is_bulk(const MatrixArgument& matrix, Type type) {
  const std::int64_t size = size_bytes(type);
  return matrix.column == 1 && matrix.row * size % kBulkBytes == 0 &&
         matrix.batch * size % kBulkBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(matrix.data) % kBulkBytes == 0;
}

}  // namespace

Result<void> check_bulk_strides(const Problem& p) { return check_bulk_copy(p, "matmul"); }

Result<void> check_bulk_address(const char* name, const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % kBulkBytes == 0) return {};
  return bad_request(
      std::string("run: the address of ") + name + " is " + std::to_string(address % kBulkBytes) +
      " bytes past a multiple of 16, which the bulk copy needs; align it, " + kWayOut);
}

Result<TensorMaps> encode_tensor_maps(const Problem& p, const LaunchInfo& info,
                                      const KernelArguments& arguments) {
  TensorMaps maps = {};
  const BulkView a = view("A", p.type_a, arguments.a, p.m, p.k, arguments.batch);
  const BulkView b = view("B", p.type_b, arguments.b, p.k, p.n, arguments.batch);
  const BulkView d = view("D", p.type_d, arguments.d, p.m, p.n, arguments.batch);
  // Where k is 0 the kernels read neither, and A and B may be null.
  if (p.k > 0) {
    if (auto ok = encode(a, info.a_box_inner, info.a_box_outer, info.a_swizzle, maps.a); !ok) {
      return std::unexpected(ok.error());
    }
    if (auto ok = encode(b, info.b_box_inner, info.b_box_outer, info.b_swizzle, maps.b); !ok) {
      return std::unexpected(ok.error());
    }
  }
  if (info.d_box_inner == 0) return maps;
  const auto encode_like_d = [&](const BulkView& v, const MatrixArgument& matrix,
                                 TensorMap& map) -> Result<void> {
    if (!is_bulk(matrix, v.type)) return {};
    return encode(v, info.d_box_inner, info.d_box_outer, info.d_swizzle, map);
  };
  if (auto ok = encode_like_d(d, arguments.d, maps.d); !ok) return std::unexpected(ok.error());
  if (const auto staged = staged_matrix(p.epilogue, p.type_c, p.type_d)) {
    const MatrixArgument& matrix =
        staged->operand < 0 ? arguments.c : arguments.operands[staged->operand];
    // Strides of named operands are the caller's: rows may repeat or overlap.
    const bool apart = matrix.row >= p.n && matrix.batch >= 0;
    const BulkView source = view("the epilogue", staged->type, matrix, p.m, p.n, arguments.batch);
    if (!apart) return maps;
    if (auto ok = encode_like_d(source, matrix, maps.source); !ok) {
      return std::unexpected(ok.error());
    }
  }
  return maps;
}

}  // namespace tilewise::gpu
