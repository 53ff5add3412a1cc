// An array as a stack of matrices, and stacks as the products of one batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "array_view.h"
#include "tilewise/epilogue.h"

namespace tilewise::python {

constexpr int kMaxBatchDims = ArrayView::kMaxDims;

struct FreeBytes {
  void operator()(char* bytes) const;
};

// rows x columns matrices over the batch dimensions of the whole product; strides in bytes, 0 along
// a batch dimension that it is shared over.
struct Stack {
  ArrayView view;
  std::string_view name;              // "a", "out", an operand's
  int row_dim = -1, column_dim = -1;  // of the view; -1: one row, one column
  int own_batch_dims = 0;             // the view's first ones
  char* data = nullptr;
  std::int64_t rows = 1, columns = 1;
  std::int64_t row_bytes = 0, column_bytes = 0;
  std::int64_t batch_bytes[kMaxBatchDims];
  int num_batch_dims = 0;
  std::unique_ptr<char, FreeBytes> copy;  // what data points to, where the array could not be used

  // Sets what is above from the view, for a product of so many batch dimensions.
  void follow_view(int num_batch_dims_of_product);
  [[nodiscard]] std::int64_t element_bytes() const { return size_bytes(view.type); }
  // In elements; of dimensions of one element, whatever a dense matrix would have.
  [[nodiscard]] Strides strides() const;
};

// The library reads a matrix whose rows or columns are contiguous and do not overlap. Anything else
// (negative or zero strides, two strides above 1, odd byte strides) is copied here, once.
[[nodiscard]] bool is_direct(const Stack& stack);

// Dense and row-major, in memory of the stack's own; dimensions that are shared stay shared.
// gather: with the array's values (an output is only given room). False: out of memory.
[[nodiscard]] bool make_dense(Stack& stack, std::span<const std::int64_t> batch, bool gather);

// Writes a dense copy back to its array.
void scatter(const Stack& stack, std::span<const std::int64_t> batch);

// Whether no two elements share memory, by nested strides: rows within columns within batches in
// some order.
[[nodiscard]] bool elements_apart(const Stack& stack, std::span<const std::int64_t> batch);

// The same memory, element for element.
[[nodiscard]] bool is_same_view(const Stack& x, const Stack& y);

// Batch dimensions of one element dropped, neighbours merged where every stack allows it.
// Changes the stacks' batch_bytes; returns how many dimensions are left in `batch`.
int merge_batch(std::span<Stack* const> stacks, std::int64_t* batch, int num_dims);

}  // namespace tilewise::python
