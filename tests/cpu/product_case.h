// A product in guarded memory: operands filled, run through a plan, every element of D checked.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cpu/element.h"
#include "cpu/guarded_buffer.h"
#include "tilewise/plan.h"

namespace tilewise::testing {

enum class Data { small_integers, normal };

// How a matrix lies in memory.
struct Layout {
  bool column_major = false;
  std::int64_t pad = 0;   // elements between the end of a line and the next one
  std::int64_t step = 1;  // elements between neighbours of a line
};

inline Strides make_strides(std::int64_t rows, std::int64_t columns, Layout layout) {
  const std::int64_t length = layout.column_major ? rows : columns;
  const std::int64_t lines = layout.column_major ? columns : rows;
  const std::int64_t line = std::max<std::int64_t>(length * layout.step + layout.pad, 1);
  Strides s;
  s.row = layout.column_major ? layout.step : line;
  s.column = layout.column_major ? line : layout.step;
  s.batch = lines * line;
  return s;
}

// A strided matrix (batch, rows, columns) whose elements, and nothing else, may be touched.
class TestMatrix {
 public:
  TestMatrix(Type type, std::int64_t batch, std::int64_t rows, std::int64_t columns,
             Strides strides, Side side)
      : type_(type), batch_(batch), rows_(rows), columns_(columns), strides_(strides) {
    const bool empty = batch == 0 || rows == 0 || columns == 0;
    const std::int64_t extent =
        (batch - 1) * strides.batch + (rows - 1) * strides.row + (columns - 1) * strides.column + 1;
    const std::size_t bytes = empty ? 0 : static_cast<std::size_t>(extent * size_bytes(type));
    buffer_ =
        std::make_unique<GuardedBuffer>(bytes, side, static_cast<std::size_t>(size_bytes(type)));
  }

  void fill(const std::function<double()>& next) {
    each([&](std::int64_t at, auto...) { write_element(type_, data(), at, next()); });
  }
  void fill_nan() {
    each([&](std::int64_t at, auto...) { write_element(type_, data(), at, NAN); });
  }
  // The gaps between elements must hold what was there at construction.
  [[nodiscard]] bool gaps_intact() const {
    std::vector<bool> used(buffer_->size(), false);
    each([&](std::int64_t at, auto...) {
      const auto bytes = static_cast<std::int64_t>(size_bytes(type_));
      for (std::int64_t i = 0; i < bytes; ++i)
        used[static_cast<std::size_t>(at * bytes + i)] = true;
    });
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i] && buffer_->data()[i] != static_cast<std::byte>(GuardedBuffer::kCanary)) {
        return false;
      }
    }
    return buffer_->canaries_intact();
  }

  [[nodiscard]] double at(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return read_element(type_, data(), offset(b, i, j));
  }
  [[nodiscard]] void* data() const { return buffer_->data(); }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return {buffer_->data(), buffer_->data() + buffer_->size()};
  }
  [[nodiscard]] const Strides& strides() const { return strides_; }
  GuardedBuffer& buffer() { return *buffer_; }

 private:
  [[nodiscard]] std::int64_t offset(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return b * strides_.batch + i * strides_.row + j * strides_.column;
  }
  void each(const std::function<void(std::int64_t)>& visit) const {
    for (std::int64_t b = 0; b < batch_; ++b) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t j = 0; j < columns_; ++j) visit(offset(b, i, j));
      }
    }
  }

  Type type_;
  std::int64_t batch_, rows_, columns_;
  Strides strides_;
  std::unique_ptr<GuardedBuffer> buffer_;
};

struct ProductCase {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Type a = Type::f32, b = Type::f32, d = Type::f32;
  Layout layout_a = {}, layout_b = {}, layout_d = {};
  bool share_b = false;  // one B for the whole batch
  Side side = Side::back;
  Data data = Data::small_integers;
};

inline std::string describe(const ProductCase& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k) + " batch " +
         std::to_string(p.batch) + " " + std::string(to_string(p.a)) + "x" +
         std::string(to_string(p.b)) + "->" + std::string(to_string(p.d)) + " column-major " +
         std::to_string(p.layout_a.column_major) + std::to_string(p.layout_b.column_major) +
         std::to_string(p.layout_d.column_major) + (p.side == Side::front ? " front" : " back");
}

// The operands of a case; D starts as NaN.
struct ProductData {
  explicit ProductData(const ProductCase& p)
      : problem(make_problem(p.m, p.n, p.k)),
        a(p.a, p.batch, p.m, p.k, make_strides(p.m, p.k, p.layout_a), p.side),
        b(p.b, p.share_b ? 1 : p.batch, p.k, p.n, make_strides(p.k, p.n, p.layout_b), p.side),
        d(p.d, p.batch, p.m, p.n, make_strides(p.m, p.n, p.layout_d), p.side) {
    problem.batch = p.batch;
    problem.type_a = p.a;
    problem.type_b = p.b;
    problem.type_c = problem.type_d = p.d;
    problem.a = a.strides();
    problem.b = b.strides();
    if (p.share_b) problem.b.batch = 0;
    problem.c = problem.d = d.strides();
    problem.compute = p.a == Type::f64 ? Compute::f64 : Compute::f32;
    std::mt19937 generator(static_cast<unsigned>(p.m * 7919 + p.n * 31 + p.k));
    std::uniform_int_distribution<int> integers(-4, 4);
    std::normal_distribution<double> normal;
    const std::function<double()> next = [&] {
      return p.data == Data::normal ? normal(generator) : integers(generator);
    };
    a.fill(next);
    b.fill(next);
    d.fill_nan();
  }

  Problem problem;
  TestMatrix a, b, d;
};

// What the epilogue should give for an accumulator at (b, m, n), and how much its operands can add
// to the magnitude of intermediate values.
using Expected = std::function<double(double acc, std::int64_t b, std::int64_t m, std::int64_t n)>;

// Every element against a sum in long double: equal for small integers, otherwise within
// gamma_K of sum |a||b| (facts of rounding: any order of K terms), plus one rounding of D and two
// of a simple epilogue. A NaN fails.
inline void check_product(const ProductCase& p, const ProductData& data,
                          const Expected& expected = nullptr, double operand_magnitude = 0) {
  const double u = data.problem.compute == Compute::f64 ? 0x1p-53 : 0x1p-24;
  const double terms = static_cast<double>(p.k) + 2;
  const double gamma = terms * u / (1 - terms * u);
  const double u_d = std::ldexp(1.0, -significand_bits(p.d));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          const long double term =
              static_cast<long double>(data.a.at(b, i, k)) * data.b.at(p.share_b ? 0 : b, k, j);
          sum += term;
          magnitude += std::fabs(term);
        }
        const auto exact = static_cast<double>(sum);
        const double wanted = expected ? expected(exact, b, i, j) : exact;
        const double got = data.d.at(b, i, j);
        const double bound = p.data == Data::small_integers
                                 ? 0
                                 : gamma * (static_cast<double>(magnitude) + operand_magnitude) +
                                       u_d * std::fabs(wanted) + 0x1p-24;
        if (!(std::fabs(got - wanted) <= bound)) {
          FAIL() << describe(p) << ": D[" << b << "][" << i << "][" << j << "] is " << got
                 << ", should be " << wanted << " within " << bound;
        }
      }
    }
  }
  EXPECT_TRUE(data.d.gaps_intact()) << describe(p) << ": written between or beside D's elements";
  EXPECT_TRUE(data.a.gaps_intact() && data.b.gaps_intact()) << describe(p);
}

inline Result<Plan> prepare_cpu(const Problem& problem, std::string_view target = "",
                                int threads = 1, const Schedule* schedule = nullptr) {
  static const Machine machine = host_machine();
  return prepare(problem, schedule, machine,
                 {.threads = threads, .target = target, .device = Device::cpu});
}

}  // namespace tilewise::testing
