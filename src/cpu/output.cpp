#include "cpu/output.h"

#include <cstring>

#include "epilogue/evaluate.h"

namespace tilewise::cpu {
namespace {

void evaluate(const KernelTable& kernels, const Epilogue& epilogue, const TileContext& context,
              float* tile) {
  kernels.f32.evaluate(epilogue, context, tile);
}
void evaluate(const KernelTable& kernels, const Epilogue& epilogue, const TileContext& context,
              double* tile) {
  kernels.f64.evaluate(epilogue, context, tile);
}

template <class To, class T>
void store_row(const T* from, To* to, std::int64_t stride, int columns) {
  for (int j = 0; j < columns; ++j) to[j * stride] = static_cast<To>(from[j]);
}

template <class T>
void store_row(const T* from, T* to, std::int64_t stride, int columns) {
  if (stride == 1) {
    constexpr int kWhole = 16;  // a fixed length is copied in registers, without a call
    int j = 0;
    for (; j + kWhole <= columns; j += kWhole) std::memcpy(to + j, from + j, kWhole * sizeof(T));
    for (; j < columns; ++j) to[j] = from[j];
  } else {
    for (int j = 0; j < columns; ++j) to[j * stride] = from[j];
  }
}

// Longest piece of a row that is converted at a time.
constexpr int kPiece = 64;

// 16-bit formats are made from float32; a double is rounded to float32 first only where float32
// holds it better than the target could tell (prepare refuses 16-bit D with f64 sums).
void store_row_16(void (*convert)(const float*, std::uint16_t*, std::int64_t), const float* from,
                  std::uint16_t* to, std::int64_t stride, int columns) {
  if (stride == 1) return convert(from, to, columns);
  std::uint16_t piece[kPiece];
  for (int j = 0; j < columns; j += kPiece) {
    const int width = columns - j < kPiece ? columns - j : kPiece;
    convert(from + j, piece, width);
    for (int i = 0; i < width; ++i) to[(j + i) * stride] = piece[i];
  }
}

template <class T>
void store_tile(const Output& out, const T* tile, std::int64_t offset, int rows, int columns) {
  const Problem& p = *out.problem;
  for (int i = 0; i < rows; ++i) {
    const T* row = tile + i * out.row_stride;
    const std::int64_t at = offset + i * p.d.row;
    switch (p.type_d) {
      case Type::f64:
        store_row(row, static_cast<double*>(out.d) + at, p.d.column, columns);
        break;
      case Type::f32:
        store_row(row, static_cast<float*>(out.d) + at, p.d.column, columns);
        break;
      case Type::bf16:
      case Type::f16:
        if constexpr (sizeof(T) == sizeof(float)) {
          const Conversions& to = out.kernels->conversions;
          store_row_16(p.type_d == Type::bf16 ? to.f32_to_bf16 : to.f32_to_f16, row,
                       static_cast<std::uint16_t*>(out.d) + at, p.d.column, columns);
        }
        break;
      case Type::f8e4m3:
      case Type::f8e5m2:
        break;  // refused by prepare
    }
  }
}

}  // namespace

bool is_plain_output(const Problem& p, Type accumulator) {
  return p.epilogue.is_identity() && p.type_d == accumulator && (p.d.column == 1 || p.n == 1);
}

template <class T>
void finish_tile(void* output, T* tile, std::int64_t i, std::int64_t j, int rows, int columns) {
  const Output& out = *static_cast<const Output*>(output);
  const Problem& p = *out.problem;
  if (!p.epilogue.is_identity()) {
    const TileContext context{.b = out.b,
                              .m0 = out.m0 + i,
                              .n0 = out.n0 + j,
                              .rows = rows,
                              .columns = columns,
                              .row_stride = out.row_stride,
                              .operands = out.operands,
                              .c = out.c,
                              .c_strides = p.c,
                              .c_type = p.type_c};
    evaluate(*out.kernels, p.epilogue, context, tile);
  }
  store_tile(out, tile, offset_of(p.d, out.b, out.m0 + i, out.n0 + j), rows, columns);
}

template void finish_tile(void*, float*, std::int64_t, std::int64_t, int, int);
template void finish_tile(void*, double*, std::int64_t, std::int64_t, int, int);

}  // namespace tilewise::cpu
