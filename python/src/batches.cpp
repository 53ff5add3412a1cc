#include "batches.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tilewise::python {
namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

// Calls body(offset_x, offset_y) for each matrix, offsets in bytes by the two sets of strides.
template <class Body>
void for_each_matrix(std::span<const std::int64_t> batch, const std::int64_t* x,
                     const std::int64_t* y, const Body& body) {
  std::int64_t index[kMaxBatchDims] = {};
  std::int64_t offset_x = 0, offset_y = 0;
  const int num_dims = static_cast<int>(batch.size());
  if (product(batch) == 0) return;
  for (;;) {
    body(offset_x, offset_y);
    int i = num_dims - 1;
    for (; i >= 0; --i) {
      offset_x += x[i];
      offset_y += y[i];
      if (++index[i] < batch[static_cast<std::size_t>(i)]) break;
      offset_x -= index[i] * x[i];
      offset_y -= index[i] * y[i];
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

struct Layout {
  char* data;
  std::int64_t row_bytes, column_bytes;
};

template <int kBytes>
void copy_matrix(const Layout& from, const Layout& to, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const char* source = from.data + i * from.row_bytes;
    char* target = to.data + i * to.row_bytes;
    for (std::int64_t j = 0; j < columns; ++j) {
      std::memcpy(target + j * to.column_bytes, source + j * from.column_bytes, kBytes);
    }
  }
}

void copy_matrix(int bytes, const Layout& from, const Layout& to, std::int64_t rows,
                 std::int64_t columns) {
  if (bytes == 1) return copy_matrix<1>(from, to, rows, columns);
  if (bytes == 2) return copy_matrix<2>(from, to, rows, columns);
  if (bytes == 4) return copy_matrix<4>(from, to, rows, columns);
  copy_matrix<8>(from, to, rows, columns);
}

}  // namespace

void FreeBytes::operator()(char* bytes) const { std::free(bytes); }

void Stack::follow_view(int num_batch_dims_of_product) {
  data = view.data;
  if (row_dim >= 0) {
    rows = view.shape[row_dim];
    row_bytes = view.strides[row_dim];
  }
  if (column_dim >= 0) {
    columns = view.shape[column_dim];
    column_bytes = view.strides[column_dim];
  }
  num_batch_dims = num_batch_dims_of_product;
  for (int i = 1; i <= num_batch_dims; ++i) {  // from the last one
    const bool has = i <= own_batch_dims && view.shape[own_batch_dims - i] != 1;
    batch_bytes[num_batch_dims - i] = has ? view.strides[own_batch_dims - i] : 0;
  }
}

Strides Stack::strides() const {
  const std::int64_t bytes = element_bytes();
  const bool row_major = columns <= 1 || column_bytes == bytes;
  Strides s;
  s.row = rows > 1 ? row_bytes / bytes : row_major ? std::max<std::int64_t>(columns, 1) : 1;
  s.column = columns > 1 ? column_bytes / bytes : rows > 1 && row_bytes == bytes ? rows : 1;
  // A single column whose elements are adjacent is a dense row-major one.
  if (columns <= 1) s.column = 1;
  return s;
}

bool is_direct(const Stack& stack) {
  const std::int64_t bytes = stack.element_bytes();
  if (stack.rows == 0 || stack.columns == 0) return true;
  if (reinterpret_cast<std::uintptr_t>(stack.data) % static_cast<std::uintptr_t>(bytes) != 0) {
    return false;
  }
  for (int i = 0; i < stack.num_batch_dims; ++i) {
    if (stack.batch_bytes[i] % bytes != 0) return false;
  }
  const auto steps_over = [&](std::int64_t stride, std::int64_t length) {
    return stride % bytes == 0 && stride >= length * bytes;
  };
  const bool one_row = stack.rows == 1, one_column = stack.columns == 1;
  return ((one_column || stack.column_bytes == bytes) &&
          (one_row || steps_over(stack.row_bytes, stack.columns))) ||
         ((one_row || stack.row_bytes == bytes) &&
          (one_column || steps_over(stack.column_bytes, stack.rows)));
}

bool make_dense(Stack& stack, std::span<const std::int64_t> batch, bool gather) {
  const std::int64_t bytes = stack.element_bytes();
  std::int64_t dense[kMaxBatchDims] = {};
  std::int64_t own[kMaxBatchDims] = {};  // extents without the dimensions that are shared
  std::int64_t size = 0;                 // zero strides make arrays of any size
  bool too_large = __builtin_mul_overflow(stack.rows, stack.columns, &size);
  too_large = __builtin_mul_overflow(size, bytes, &size) || too_large;
  for (int i = stack.num_batch_dims - 1; i >= 0; --i) {
    const bool shared = stack.batch_bytes[i] == 0;
    own[i] = shared ? 1 : batch[static_cast<std::size_t>(i)];
    dense[i] = shared ? 0 : size;
    too_large = __builtin_mul_overflow(size, own[i], &size) || too_large;
  }
  if (too_large) return false;
  stack.copy.reset(
      static_cast<char*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(size, 1)))));
  if (stack.copy == nullptr) return false;
  const std::int64_t dense_row = stack.columns * bytes;
  if (gather) {
    for_each_matrix({own, static_cast<std::size_t>(stack.num_batch_dims)}, stack.batch_bytes, dense,
                    [&](std::int64_t from, std::int64_t to) {
                      copy_matrix(static_cast<int>(bytes),
                                  {stack.data + from, stack.row_bytes, stack.column_bytes},
                                  {stack.copy.get() + to, dense_row, bytes}, stack.rows,
                                  stack.columns);
                    });
  }
  stack.data = stack.copy.get();
  stack.row_bytes = dense_row;
  stack.column_bytes = bytes;
  std::copy_n(dense, stack.num_batch_dims, stack.batch_bytes);
  return true;
}

void scatter(const Stack& stack, std::span<const std::int64_t> batch) {
  const ArrayView& view = stack.view;  // still has the array's own strides
  const std::int64_t bytes = stack.element_bytes();
  const std::int64_t row = stack.row_dim >= 0 ? view.strides[stack.row_dim] : 0;
  const std::int64_t column = stack.column_dim >= 0 ? view.strides[stack.column_dim] : 0;
  std::int64_t dense[kMaxBatchDims] = {};
  std::int64_t size = stack.rows * stack.columns * bytes;
  for (int i = static_cast<int>(batch.size()) - 1; i >= 0; --i) {
    dense[i] = size;
    size *= batch[static_cast<std::size_t>(i)];
  }
  for_each_matrix(batch, dense, view.strides, [&](std::int64_t from, std::int64_t to) {
    copy_matrix(static_cast<int>(bytes), {stack.copy.get() + from, stack.columns * bytes, bytes},
                {view.data + to, row, column}, stack.rows, stack.columns);
  });
}

bool elements_apart(const Stack& stack, std::span<const std::int64_t> batch) {
  if (stack.rows == 0 || stack.columns == 0 || product(batch) == 0) return true;
  std::pair<std::int64_t, std::int64_t> steps[kMaxBatchDims + 2];  // stride, extent
  int count = 0;
  const auto add = [&](std::int64_t stride, std::int64_t extent) {
    if (extent > 1) steps[count++] = {std::abs(stride), extent};
  };
  add(stack.column_bytes, stack.columns);
  add(stack.row_bytes, stack.rows);
  for (int i = 0; i < stack.num_batch_dims; ++i) {
    add(stack.batch_bytes[i], batch[static_cast<std::size_t>(i)]);
  }
  std::sort(steps, steps + count);
  std::int64_t reach = stack.element_bytes();
  for (int i = 0; i < count; ++i) {
    if (steps[i].first < reach) return false;
    reach += steps[i].first * (steps[i].second - 1);
  }
  return true;
}

bool is_same_view(const Stack& x, const Stack& y) {
  if (x.view.data != y.view.data || x.view.type != y.view.type || x.rows != y.rows ||
      x.columns != y.columns || x.view.num_dims != y.view.num_dims) {
    return false;
  }
  for (int i = 0; i < x.view.num_dims; ++i) {
    if (x.view.shape[i] != y.view.shape[i]) return false;
    if (x.view.shape[i] > 1 && x.view.strides[i] != y.view.strides[i]) return false;
  }
  return true;
}

int merge_batch(std::span<Stack* const> stacks, std::int64_t* batch, int num_dims) {
  int kept = 0;
  for (int i = 0; i < num_dims; ++i) {
    if (batch[i] == 1) continue;
    const bool merges = kept > 0 && std::ranges::all_of(stacks, [&](const Stack* s) {
                          return s->batch_bytes[kept - 1] == s->batch_bytes[i] * batch[i];
                        });
    const int at = merges ? kept - 1 : kept++;
    batch[at] = merges ? batch[at] * batch[i] : batch[i];
    for (Stack* s : stacks) s->batch_bytes[at] = s->batch_bytes[i];
  }
  for (Stack* s : stacks) s->num_batch_dims = kept;
  return kept;
}

}  // namespace tilewise::python
