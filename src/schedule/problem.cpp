#include "tilewise/problem.h"

#include <string>

#include "tilewise/count.h"

namespace tilewise {
namespace {

constexpr std::int64_t kMaxExtent = INT64_MAX;

Error error(std::string message) { return Error{ErrorCode::bad_request, std::move(message)}; }

Result<void> check_size(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value >= least) return {};
  return std::unexpected(error(std::string(name) + " is " + std::to_string(value) +
                               "; it must be " + std::to_string(least) + " or more"));
}

// One of the two strides steps inside a row (or column), the other steps over it: it must be no
// shorter, or two elements would share an address.
Result<void> check_strides(std::string_view name, const Strides& s, std::int64_t rows,
                           std::int64_t columns, std::int64_t batch, Type type) {
  const std::string matrix(name);
  if (rows == 0 || columns == 0) return {};
  const auto stride_text = [&] {
    return "strides of " + matrix + " are (" + std::to_string(s.row) + ", " +
           std::to_string(s.column) + ", batch " + std::to_string(s.batch) + ") elements";
  };
  if (s.row < 0 || s.column < 0 || s.batch < 0) {
    return std::unexpected(error(stride_text() + "; they must be 0 or more"));
  }
  const Count row_span = Count(columns - 1) * s.column + 1;  // elements a row reaches over
  const Count column_span = Count(rows - 1) * s.row + 1;
  const bool rows_apart = rows == 1 || Count(s.row) >= row_span;
  const bool columns_apart = columns == 1 || Count(s.column) >= column_span;
  const bool steps = (columns == 1 || s.column > 0) && (rows == 1 || s.row > 0);
  if (!steps || !(rows_apart || columns_apart)) {
    return std::unexpected(error(stride_text() + " but the matrix is " + std::to_string(rows) +
                                 " x " + std::to_string(columns) +
                                 "; a row stride must be at least the row's length (or, for a "
                                 "column-major matrix, a column stride the column's)"));
  }
  const Count extent = Count(rows - 1) * s.row + Count(columns - 1) * s.column +
                       Count(batch > 0 ? batch - 1 : 0) * s.batch + 1;
  const Count bytes = extent * size_bytes(type);
  if (!(bytes <= Count(kMaxExtent))) {
    return std::unexpected(
        error(stride_text() + "; the matrix would reach over more than 2^63 - 1 bytes"));
  }
  return {};
}

std::size_t mix(std::size_t seed, std::uint64_t value) {
  std::uint64_t x =
      seed ^ (value + 0x9e3779b97f4a7c15ULL + (static_cast<std::uint64_t>(seed) << 6));
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  return static_cast<std::size_t>(x);
}

}  // namespace

Problem make_problem(std::int64_t m, std::int64_t n, std::int64_t k, Type type) {
  Problem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.type_a = p.type_b = p.type_c = p.type_d = type;
  p.a = {k, 1, 0};
  p.b = {n, 1, 0};
  p.c = p.d = {n, 1, 0};
  p.compute = type == Type::f64 ? Compute::f64 : Compute::f32;
  return p;
}

Result<void> validate(const Problem& p) {
  const struct {
    std::string_view name;
    std::int64_t value, least;
  } sizes[] = {
      {"m", p.m, 0}, {"n", p.n, 0}, {"k", p.k, 0}, {"batch", p.batch, 0}, {"groups", p.groups, 0}};
  for (const auto& s : sizes) {
    if (auto ok = check_size(s.name, s.value, s.least); !ok) return ok;
  }
  if ((p.type_a == Type::f64) != (p.type_b == Type::f64)) {
    return bad_request("types of A and B are " + std::string(to_string(p.type_a)) + " and " +
                       std::string(to_string(p.type_b)) + "; f64 goes with f64 only");
  }
  if (auto ok = validate(p.epilogue); !ok) return ok;
  if (auto ok = check_strides("A", p.a, p.m, p.k, p.batch, p.type_a); !ok) return ok;
  if (auto ok = check_strides("B", p.b, p.k, p.n, p.batch, p.type_b); !ok) return ok;
  if (p.epilogue.reads_c()) {
    if (auto ok = check_strides("C", p.c, p.m, p.n, p.batch, p.type_c); !ok) return ok;
  }
  if (auto ok = check_strides("D", p.d, p.m, p.n, p.batch, p.type_d); !ok) return ok;
  const Count d_matrix = Count(p.m - 1 > 0 ? p.m - 1 : 0) * p.d.row +
                         Count(p.n - 1 > 0 ? p.n - 1 : 0) * p.d.column + 1;
  if (p.batch > 1 && p.m > 0 && p.n > 0 && !(Count(p.d.batch) >= d_matrix)) {
    return bad_request("batch stride of D is " + std::to_string(p.d.batch) +
                       " elements, but a matrix of it reaches over " + d_matrix.to_string() +
                       "; the products of a batch must not overlap");
  }
  return {};
}

double num_flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

std::size_t hash_value(const Problem& p) {
  std::size_t h = 0;
  for (const std::int64_t v : {p.m, p.n, p.k, p.batch, p.groups})
    h = mix(h, static_cast<std::uint64_t>(v));
  for (const Strides& s : {p.a, p.b, p.c, p.d}) {
    for (const std::int64_t v : {s.row, s.column, s.batch})
      h = mix(h, static_cast<std::uint64_t>(v));
  }
  h = mix(h, static_cast<std::uint64_t>(p.type_a) << 24 |
                 static_cast<std::uint64_t>(p.type_b) << 16 |
                 static_cast<std::uint64_t>(p.type_c) << 8 | static_cast<std::uint64_t>(p.type_d));
  h = mix(h, static_cast<std::uint64_t>(p.compute) << 16 |
                 static_cast<std::uint64_t>(p.scale) << 8 |
                 static_cast<std::uint64_t>(p.batch_invariant));
  const Epilogue& e = p.epilogue;
  for (int i = 0; i < e.num_instructions; ++i) {
    const auto& instruction = e.instructions[static_cast<std::size_t>(i)];
    h = mix(h, static_cast<std::uint64_t>(instruction.op) << 8 | instruction.argument);
  }
  return h;
}

}  // namespace tilewise
