// Evaluates an epilogue on a tile of accumulators while it is still in cache, in the tile's own
// type.
//
// The postfix program runs over chunks of outputs: each instruction is one loop over a whole chunk,
// which compilers vectorise, so that decoding costs little an output. An output's value does not
// depend on the tile or the chunk it stands in.
#pragma once

#include <cstdint>

#include "epilogue/approximations.h"
#include "epilogue/element.h"
#include "epilogue/target.h"
#include "tilewise/epilogue.h"

namespace tilewise {

// A tile of the output: tile[i * row_stride + j] is element (m0 + i, n0 + j) of batch matrix b.
// operands, c: pointers to element (0, 0) of batch 0, read with the strides of the epilogue's
// operands and c_strides. Null where the expression does not read them.
struct TileContext {
  std::int64_t b = 0, m0 = 0, n0 = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0;
  const void* const* operands = nullptr;
  const void* c = nullptr;
  Strides c_strides{};
  Type c_type = Type::f32;
};

// The program as plain pointers into an Epilogue, which must outlive it: objects that are compiled
// for one instruction set then call none of the Epilogue's inline functions.
struct EpilogueProgram {
  const Epilogue::Instruction* instructions = nullptr;
  const double* constants = nullptr;
  const EpilogueOperand* operands = nullptr;
  int num_instructions = 0;
};
[[nodiscard]] EpilogueProgram program_of(const Epilogue& epilogue);

inline namespace TILEWISE_TARGET {

// A chunk: `rows` rows of `width` neighbours each, together at most kChunk elements.
struct ChunkPlace {
  std::int64_t row = 0, column = 0;  // in the tile
  int rows = 0, width = 0;
};

// Long enough that decoding an instruction costs little an output, short enough that the stack
// stays in the first-level cache. A longer row is cut; shorter rows share a chunk.
inline constexpr int kChunk = 256;

// Instructions work on groups of so many elements: a fixed length, which compilers turn into whole
// vectors of any instruction set. The last group of a chunk is filled up with zeros.
inline constexpr int kGroup = 16;

[[gnu::always_inline]] constexpr int num_groups(int elements) {
  return (elements + kGroup - 1) / kGroup;
}

// NOLINTBEGIN(clang-analyzer-core.*): the analyzer follows only the first rounds of each loop, and
// then takes the elements of the later ones for uninitialised.
template <class T>
[[gnu::always_inline]] inline void fill_last_group(const ChunkPlace& place, T* out) {
  const int size = place.rows * place.width;
  for (int i = size; i < num_groups(size) * kGroup; ++i) out[i] = T(0);
}

template <class T>
[[gnu::always_inline]] inline void copy_row(const T* from, int count, T* __restrict to) {
  int i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    for (int j = 0; j < kGroup; ++j) to[i + j] = from[i + j];
  }
  for (; i < count; ++i) to[i] = from[i];
}

template <class T>
[[gnu::always_inline]] inline void load_chunk(Type type, const void* data, const Strides& strides,
                                              const TileContext& tile, const ChunkPlace& place,
                                              T* __restrict out) {
  const std::int64_t first = tile.b * strides.batch + (tile.m0 + place.row) * strides.row +
                             (tile.n0 + place.column) * strides.column;
  const bool repeats = strides.row == 0;  // indexed by [n] or by nothing: one row for all
  for (int i = 0; i < place.rows; ++i) {
    T* row = out + i * place.width;
    if (repeats && i > 0) {
      copy_row(out, place.width, row);
    } else {
      load_elements<T>(type, data, first + i * strides.row, strides.column, place.width, row);
    }
  }
  fill_last_group(place, out);
}

template <class T>
[[gnu::always_inline]] inline void load_tile(const T* tile, std::int64_t row_stride,
                                             const ChunkPlace& place, T* __restrict out) {
  for (int i = 0; i < place.rows; ++i) {
    copy_row(tile + (place.row + i) * row_stride + place.column, place.width,
             out + i * place.width);
  }
  fill_last_group(place, out);
}

template <class T>
[[gnu::always_inline]] inline void store_tile(const T* in, const ChunkPlace& place,
                                              std::int64_t row_stride, T* __restrict tile) {
  for (int i = 0; i < place.rows; ++i) {
    copy_row(in + i * place.width, place.width, tile + (place.row + i) * row_stride + place.column);
  }
}

template <class T, class F>
[[gnu::always_inline]] inline void each(int groups, T* x, F f) {
  for (int i = 0; i < groups * kGroup; i += kGroup) {
    for (int j = 0; j < kGroup; ++j) x[i + j] = f(x[i + j]);
  }
}
template <class T, class F>
[[gnu::always_inline]] inline void each(int groups, T* __restrict x, const T* __restrict y, F f) {
  for (int i = 0; i < groups * kGroup; i += kGroup) {
    for (int j = 0; j < kGroup; ++j) x[i + j] = f(x[i + j], y[i + j]);
  }
}

// NOLINTEND(clang-analyzer-core.*)

// One comparison that vectorises; std::isnan is a call where floating-point traps are kept.
template <class T>
[[gnu::always_inline]] inline bool is_nan(T x) {
  return x != x;  // NOLINT(misc-redundant-expression): true for a NaN alone
}

// NaN on either side gives NaN; of two zeros, either.
template <class T>
[[gnu::always_inline]] inline T minimum(T x, T y) {
  return select(is_nan(x), x, select(x < y, x, y));
}
template <class T>
[[gnu::always_inline]] inline T maximum(T x, T y) {
  return select(is_nan(x), x, select(x > y, x, y));
}

// One arithmetic instruction on the values at the top of the stack; x is the result's place.
template <class T>
[[gnu::always_inline]] inline void apply(EpilogueOp op, int groups, T* x, const T* y) {
  switch (op) {
    case EpilogueOp::add:
      return each(groups, x, y, [](T a, T b) { return a + b; });
    case EpilogueOp::subtract:
      return each(groups, x, y, [](T a, T b) { return a - b; });
    case EpilogueOp::multiply:
      return each(groups, x, y, [](T a, T b) { return a * b; });
    case EpilogueOp::divide:
      return each(groups, x, y, [](T a, T b) { return a / b; });
    case EpilogueOp::minimum:
      return each(groups, x, y, [](T a, T b) { return minimum(a, b); });
    case EpilogueOp::maximum:
      return each(groups, x, y, [](T a, T b) { return maximum(a, b); });
    case EpilogueOp::negate:
      return each(groups, x, [](T a) { return -a; });
    case EpilogueOp::relu:
      return each(groups, x, [](T a) { return at_least(T(0), a); });
    case EpilogueOp::abs:
      return each(groups, x, [](T a) { return absolute(a); });
    case EpilogueOp::gelu_erf:
      return each(groups, x, [](T a) { return gelu_by_erf(a); });
    case EpilogueOp::gelu_tanh:
      return each(groups, x, [](T a) { return gelu_by_tanh(a); });
    case EpilogueOp::silu:
      return each(groups, x, [](T a) { return sigmoid_linear(a); });
    case EpilogueOp::sigmoid:
      return each(groups, x, [](T a) { return logistic(a); });
    case EpilogueOp::tanh:
      return each(groups, x, [](T a) { return hyperbolic_tangent(a); });
    case EpilogueOp::exp:
      return each(groups, x, [](T a) { return exponential(a); });
    case EpilogueOp::acc:
    case EpilogueOp::constant:
    case EpilogueOp::operand:
    case EpilogueOp::source:
      return;
  }
}

[[gnu::always_inline]] inline bool is_binary(EpilogueOp op) {
  return (op >= EpilogueOp::add && op <= EpilogueOp::divide) || op == EpilogueOp::minimum ||
         op == EpilogueOp::maximum;
}

template <class T>
void evaluate_chunk(const EpilogueProgram& program, const TileContext& context,
                    const ChunkPlace& place, T* tile) {
  alignas(64) T stack[Epilogue::kMaxDepth][kChunk];
  const int groups = num_groups(place.rows * place.width);
  int depth = 0;
  for (int i = 0; i < program.num_instructions; ++i) {
    const Epilogue::Instruction instruction = program.instructions[i];
    switch (instruction.op) {
      case EpilogueOp::acc:
        load_tile(tile, context.row_stride, place, stack[depth++]);
        break;
      case EpilogueOp::constant: {
        const T value = static_cast<T>(program.constants[instruction.argument]);
        T* top = stack[depth++];
        for (int j = 0; j < groups * kGroup; ++j) top[j] = value;
        break;
      }
      case EpilogueOp::operand: {
        const EpilogueOperand& operand = program.operands[instruction.argument];
        load_chunk(operand.type, context.operands[instruction.argument], operand.strides, context,
                   place, stack[depth++]);
        break;
      }
      case EpilogueOp::source:
        load_chunk(context.c_type, context.c, context.c_strides, context, place, stack[depth++]);
        break;
      default: {
        const bool binary = is_binary(instruction.op);
        const T* right = binary ? stack[--depth] : nullptr;
        apply(instruction.op, groups, stack[depth - 1], right);
      }
    }
  }
  store_tile(stack[0], place, context.row_stride, tile);
}

// Replaces the accumulators in `tile` by the epilogue's values. The epilogue must be valid
// (tilewise::validate). A [m,n] operand or C may be the tile itself: an element is read before it
// is written. Cost: each operand is read once an output; no allocation.
template <class T>
void evaluate_tile(const EpilogueProgram& program, const TileContext& context, T* tile) {
  const bool is_identity =
      program.num_instructions == 1 && program.instructions[0].op == EpilogueOp::acc;
  if (is_identity || context.columns <= 0) return;
  const auto limit = [](std::int64_t value, std::int64_t most) {
    return static_cast<int>(value < most ? value : most);
  };
  const int shared_rows = limit(kChunk / limit(context.columns, kChunk), context.rows);
  for (std::int64_t row = 0; row < context.rows; row += shared_rows) {
    ChunkPlace place{.row = row, .rows = limit(context.rows - row, shared_rows)};
    for (; place.column < context.columns; place.column += place.width) {
      place.width = limit(context.columns - place.column, kChunk);
      evaluate_chunk(program, context, place, tile);
    }
  }
}

template <class T>
void evaluate_tile(const Epilogue& epilogue, const TileContext& context, T* tile) {
  evaluate_tile(program_of(epilogue), context, tile);
}

}  // namespace TILEWISE_TARGET

// The same, compiled in the library for its baseline instruction set.
void evaluate_portable(const Epilogue& epilogue, const TileContext& context, float* tile);
void evaluate_portable(const Epilogue& epilogue, const TileContext& context, double* tile);

}  // namespace tilewise
