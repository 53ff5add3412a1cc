#include "cli/product_inputs.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "cli/arguments.h"
#include "cli/epilogue_bindings.h"
#include "io/npy.h"
#include "io/wording.h"
#include "report/normal_values.h"

namespace tilewise::cli {
namespace {

constexpr std::array kTypes = {Type::f32, Type::f64, Type::bf16, Type::f16};

Result<Type> parse_dtype(const std::string& text) {
  std::vector<std::string_view> names;
  for (const Type type : kTypes) {
    if (to_string(type) == text) return type;
    names.push_back(to_string(type));
  }
  return bad_request(fmt::format("--dtype is {}; valid are {}{}", in_quotes(text),
                                 join_names(names), did_you_mean(text, names)));
}

// The type asked for, or that of the files, which then must be the same.
Result<Type> product_type(const ProductArguments& arguments, const Matrix& a, const Matrix& b) {
  if (arguments.dtype) return parse_dtype(*arguments.dtype);
  if (a.type == b.type) return a.type;
  return bad_request(
      fmt::format("A is {} and B is {}; say with --dtype which the product shall use",
                  to_string(a.type), to_string(b.type)));
}

Result<void> load_files(const ProductArguments& arguments, ProductInputs& inputs) {
  const std::string& path_a = arguments.sources[0];
  const std::string& path_b = arguments.sources[1];
  if (path_a == "-" && path_b == "-") {
    return bad_request("A and B are both -; standard input holds one matrix");
  }
  Result<Matrix> a = read_npy(path_a);
  if (!a) return bad_request(fmt::format("A: {}", a.error().message));
  Result<Matrix> b = read_npy(path_b);
  if (!b) return bad_request(fmt::format("B: {}", b.error().message));
  const Result<Type> type = product_type(arguments, *a, *b);
  if (!type) return std::unexpected(type.error());
  a = converted(*a, *type, "A");
  if (!a) return std::unexpected(a.error());
  b = converted(*b, *type, "B");
  if (!b) return std::unexpected(b.error());
  inputs.a = std::move(*a);
  inputs.b = std::move(*b);
  inputs.data = fmt::format("{}, {}", path_a, path_b);
  return {};
}

Result<void> make_random(const ProductArguments& arguments, ProductInputs& inputs) {
  const Result<Sizes> sizes = parse_sizes(arguments.sources);
  if (!sizes) return std::unexpected(sizes.error());
  const Result<Type> type = parse_dtype(arguments.dtype.value_or("f32"));
  if (!type) return std::unexpected(type.error());
  auto [rows_a, columns_a] = std::pair(sizes->m, sizes->k);
  auto [rows_b, columns_b] = std::pair(sizes->k, sizes->n);
  if (arguments.transpose_a) std::swap(rows_a, columns_a);
  if (arguments.transpose_b) std::swap(rows_b, columns_b);
  // Before the first allocation, so that no time goes into matrices that will not fit together.
  std::int64_t total = 0;
  for (const auto& [rows, columns] : {std::pair(rows_a, columns_a), std::pair(rows_b, columns_b),
                                      std::pair(sizes->m, sizes->n)}) {
    const Result<std::int64_t> bytes = matrix_bytes(rows, columns, *type, "a matrix");
    if (!bytes) return std::unexpected(bytes.error());
    if (__builtin_add_overflow(total, *bytes, &total))
      total = std::numeric_limits<std::int64_t>::max();
  }
  if (total > available_memory_bytes()) {
    return out_of_memory(
        fmt::format("A, B and the result take {} bytes, and {} bytes of memory are "
                    "free here",
                    total, available_memory_bytes()));
  }
  Result<Matrix> a = normal_matrix(rows_a, columns_a, *type, arguments.seed, 0, "A");
  if (!a) return std::unexpected(a.error());
  Result<Matrix> b = normal_matrix(rows_b, columns_b, *type, arguments.seed, 1, "B");
  if (!b) return std::unexpected(b.error());
  inputs.a = std::move(*a);
  inputs.b = std::move(*b);
  inputs.data = fmt::format("normal, seed {}", arguments.seed);
  return {};
}

std::string shape(const Matrix& matrix, bool is_transposed) {
  return fmt::format("{} x {}{}", matrix.rows, matrix.columns,
                     is_transposed ? " (transposed)" : "");
}

Result<void> make_problem_of(const ProductArguments& arguments, ProductInputs& inputs) {
  if (arguments.transpose_a) inputs.a = transposed(inputs.a);
  if (arguments.transpose_b) inputs.b = transposed(inputs.b);
  const Matrix& a = inputs.a;
  const Matrix& b = inputs.b;
  if (a.columns != b.rows) {
    return bad_request(fmt::format(
        "A is {} and B is {}: A has {} columns and B {} rows, and both are K",
        shape(a, arguments.transpose_a), shape(b, arguments.transpose_b), a.columns, b.rows));
  }
  inputs.problem = make_problem(a.rows, b.columns, a.columns, a.type);
  inputs.problem.a = a.strides;
  inputs.problem.b = b.strides;
  return {};
}

}  // namespace

Result<ProductInputs> load_inputs(const ProductArguments& arguments) {
  ProductInputs inputs;
  const std::size_t count = arguments.sources.size();
  if (count != 2 && count != 3) {
    return bad_request(
        fmt::format("{} argument{} given; give two files A.npy B.npy, or three sizes M N K", count,
                    count == 1 ? " is" : "s are"));
  }
  const Result<EpilogueText> text = epilogue_text(arguments);
  if (!text) return std::unexpected(text.error());
  const bool random = count == 3;
  Result<void> done = random ? make_random(arguments, inputs) : load_files(arguments, inputs);
  if (done) done = make_problem_of(arguments, inputs);
  if (done) done = bind_epilogue(*text, random ? &arguments.seed : nullptr, inputs);
  if (!done) return std::unexpected(done.error());
  return inputs;
}

}  // namespace tilewise::cli
