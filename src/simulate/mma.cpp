// A product decomposed into tensor-core instructions, each operand through its threads' registers.
#include "tilewise/mma.h"

#include <algorithm>
#include <string>

namespace tilewise {
namespace {

// One operand of one instruction as its threads hold it: (threads, elements_per_thread).
class Registers {
 public:
  explicit Registers(const FragmentLayout* layout, int rows, int columns)
      : layout_(layout),
        columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  [[nodiscard]] float& at(int row, int column) {
    if (layout_ == nullptr) return value(std::int64_t{row} * columns_ + column);
    const FragmentHolder holder = layout_->at(row, column);
    return value(std::int64_t{holder.thread} * layout_->elements_per_thread + holder.element);
  }

 private:
  [[nodiscard]] float& value(std::int64_t index) {
    return values_[static_cast<std::size_t>(index)];
  }

  const FragmentLayout* layout_;  // null: plain storage
  int columns_;
  std::vector<float> values_;
};

const FragmentLayout* find_fragment(const Result<MmaLayout>& layout, std::string_view operand) {
  if (!layout) return nullptr;
  for (const FragmentLayout& fragment : layout->fragments) {
    if (fragment.operand == operand) return &fragment;
  }
  return nullptr;
}

class MmaProduct {
 public:
  MmaProduct(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const double> a,
             std::span<const double> b, MmaShape shape)
      : m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        shape_(shape),
        layout_(mma_layout(shape)),
        reg_a_(find_fragment(layout_, "a"), shape.m, shape.k),
        reg_b_(find_fragment(layout_, "b"), shape.k, shape.n),
        reg_c_(find_fragment(layout_, "c"), shape.m, shape.n) {
    result_.d.resize(static_cast<std::size_t>(m * n));
  }

  MmaSimulation run() {
    for (std::int64_t i0 = 0; i0 < m_; i0 += shape_.m) {
      for (std::int64_t j0 = 0; j0 < n_; j0 += shape_.n) output_tile(i0, j0);
    }
    return std::move(result_);
  }

 private:
  void output_tile(std::int64_t i0, std::int64_t j0) {
    each(shape_.m, shape_.n, [&](int i, int j) { reg_c_.at(i, j) = 0; });
    for (std::int64_t l0 = 0; l0 < k_; l0 += shape_.k) {
      each(shape_.m, shape_.k,
           [&](int i, int l) { reg_a_.at(i, l) = value(a_, i0 + i, l0 + l, m_, k_); });
      each(shape_.k, shape_.n,
           [&](int l, int j) { reg_b_.at(l, j) = value(b_, l0 + l, j0 + j, k_, n_); });
      each(shape_.m, shape_.n, [&](int i, int j) { multiply_accumulate(i, j); });
      ++result_.instructions;
      result_.products_useful += static_cast<std::uint64_t>(
          std::min<std::int64_t>(shape_.m, m_ - i0) * std::min<std::int64_t>(shape_.n, n_ - j0) *
          std::min<std::int64_t>(shape_.k, k_ - l0));
    }
    each(shape_.m, shape_.n, [&](int i, int j) {
      if (i0 + i < m_ && j0 + j < n_) {
        result_.d[static_cast<std::size_t>((i0 + i) * n_ + j0 + j)] = reg_c_.at(i, j);
      }
    });
  }

  void multiply_accumulate(int i, int j) {
    float sum = reg_c_.at(i, j);
    for (int l = 0; l < shape_.k; ++l) sum += reg_a_.at(i, l) * reg_b_.at(l, j);
    reg_c_.at(i, j) = sum;
    result_.products_formed += static_cast<std::uint64_t>(shape_.k);
  }

  // An element, or zero outside the matrix.
  static float value(std::span<const double> matrix, std::int64_t row, std::int64_t column,
                     std::int64_t rows, std::int64_t columns) {
    if (row >= rows || column >= columns) return 0;
    return static_cast<float>(matrix[static_cast<std::size_t>(row * columns + column)]);
  }

  template <class F>
  static void each(int rows, int columns, F f) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) f(row, column);
    }
  }

  std::int64_t m_, n_, k_;
  std::span<const double> a_, b_;
  MmaShape shape_;
  Result<MmaLayout> layout_;
  Registers reg_a_, reg_b_, reg_c_;
  MmaSimulation result_;
};

}  // namespace

Result<MmaSimulation> simulate_mma(std::int64_t m, std::int64_t n, std::int64_t k,
                                   std::span<const double> a, std::span<const double> b,
                                   MmaShape shape) {
  auto counted = mma_count(m, n, k, shape);
  if (!counted) return std::unexpected(counted.error());
  const Count limit(std::int64_t{1} << 32);
  if (!(counted->padded_m * counted->padded_n * counted->padded_k <= limit) ||
      !(Count(m) * Count(n) <= limit)) {
    return bad_request("simulate: " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                       std::to_string(k) + " is over 2^32 products; simulate a smaller one");
  }
  if (Count(a.size()) != Count(m) * Count(k) || Count(b.size()) != Count(k) * Count(n)) {
    return bad_request("simulate: A has " + std::to_string(a.size()) + " elements and B " +
                       std::to_string(b.size()) + "; M K and K N are needed");
  }
  return MmaProduct(m, n, k, a, b, shape).run();
}

}  // namespace tilewise
