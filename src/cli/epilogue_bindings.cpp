#include "cli/epilogue_bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/npy.h"
#include "io/wording.h"
#include "report/normal_values.h"
#include "tilewise/epilogue.h"

namespace tilewise::cli {
namespace {

constexpr std::uint64_t kFirstOperandStream = 16;  // of random values; A and B have 0 and 1
constexpr std::uint64_t kSourceStream = 2;

Result<EpilogueText> text_of_bias(const ProductArguments& arguments) {
  EpilogueText text{.expression = "acc", .option = "--bias", .files = {}};
  if (arguments.bias) {
    text.expression = "acc + bias[n]";
    text.files.emplace_back("bias", *arguments.bias);
  }
  if (!arguments.activation) return text;
  const std::vector<std::string_view> names = {"relu", "gelu",    "gelu_tanh",
                                               "silu", "sigmoid", "tanh"};
  const std::string& name = *arguments.activation;
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return bad_request(fmt::format("--activation is {}; valid are {}{}", in_quotes(name),
                                   join_names(names), did_you_mean(name, names)));
  }
  text.expression = fmt::format("{}({})", name, text.expression);
  return text;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_bindings(
    const std::vector<std::string>& bindings) {
  std::vector<std::pair<std::string, std::string>> files;
  std::set<std::string> names;
  for (const std::string& binding : bindings) {
    const std::size_t equals = binding.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == binding.size()) {
      return bad_request(fmt::format("--bind is {}; it must be name=FILE", in_quotes(binding)));
    }
    const std::string name = binding.substr(0, equals);
    if (!names.insert(name).second) {
      return bad_request(fmt::format("--bind gives {} two files", in_quotes(name)));
    }
    files.emplace_back(name, binding.substr(equals + 1));
  }
  return files;
}

// What an operand looks like in the expression, and how many rows and columns that is.
struct OperandShape {
  std::string text;
  std::int64_t rows = 1, columns = 1;
};

OperandShape shape_of(const EpilogueOperand& operand, const Problem& problem) {
  const std::string name(operand.name_view());
  if (operand.index_m && operand.index_n) return {name + "[m,n]", problem.m, problem.n};
  if (operand.index_m) return {name + "[m]", problem.m, 1};
  if (operand.index_n) return {name + "[n]", 1, problem.n};
  return {name, 1, 1};
}

// A vector may lie in a file as a row, a column or one dimension.
Result<Matrix> fitted(Matrix matrix, const OperandShape& shape, const std::string& path) {
  const bool is_vector = shape.rows == 1 || shape.columns == 1;
  if (is_vector && matrix.rows == shape.columns && matrix.columns == shape.rows) {
    matrix = transposed(matrix);
  }
  if (matrix.rows == shape.rows && matrix.columns == shape.columns) return matrix;
  return bad_request(fmt::format("{} is {} x {}; {} needs {} x {}", in_quotes(path), matrix.rows,
                                 matrix.columns, shape.text, shape.rows, shape.columns));
}

Result<Matrix> load_operand(const std::string& path, const OperandShape& shape, Type type) {
  const Result<Matrix> matrix = read_npy(path);
  if (!matrix) return matrix;
  const Result<Matrix> right_shape = fitted(*matrix, shape, path);
  if (!right_shape) return right_shape;
  // The arithmetic is that of the product; what is narrower is widened as it is read.
  const bool too_wide = right_shape->type == Type::f64 && type != Type::f64;
  return converted(*right_shape, too_wide ? Type::f32 : right_shape->type, shape.text);
}

class Binder {
 public:
  Binder(const EpilogueText& text, const std::uint64_t* random_seed, ProductInputs& inputs)
      : text_(text), random_seed_(random_seed), inputs_(inputs) {}

  Result<void> run() {
    Result<Epilogue> epilogue = parse_epilogue(text_.expression);
    if (!epilogue) {
      return bad_request(fmt::format("{}: {}", text_.option, epilogue.error().message));
    }
    if (const Result<void> known = check_names(*epilogue); !known) return known;
    for (int i = 0; i < epilogue->num_operands; ++i) {
      EpilogueOperand& operand = epilogue->operands[static_cast<std::size_t>(i)];
      const Result<Matrix> matrix =
          matrix_for(std::string(operand.name_view()), shape_of(operand, inputs_.problem),
                     kFirstOperandStream + static_cast<std::uint64_t>(i));
      if (!matrix) return std::unexpected(matrix.error());
      operand.type = matrix->type;
      operand.strides = {operand.index_m ? matrix->strides.row : 0,
                         operand.index_n ? matrix->strides.column : 0, 0};
      inputs_.operands.push_back(*matrix);
    }
    if (epilogue->reads_c()) {
      const Problem& p = inputs_.problem;
      const Result<Matrix> c = matrix_for("c", {"c[m,n]", p.m, p.n}, kSourceStream);
      if (!c) return std::unexpected(c.error());
      inputs_.problem.type_c = c->type;
      inputs_.problem.c = c->strides;
      inputs_.c = *c;
    }
    inputs_.problem.epilogue = *epilogue;
    inputs_.epilogue = print_epilogue(*epilogue);
    return {};
  }

 private:
  // Every binding belongs to something that the expression reads.
  Result<void> check_names(const Epilogue& epilogue) const {
    std::vector<std::string_view> names;
    for (int i = 0; i < epilogue.num_operands; ++i) {
      names.push_back(epilogue.operands[static_cast<std::size_t>(i)].name_view());
    }
    if (epilogue.reads_c()) names.push_back("c");
    for (const auto& [name, path] : text_.files) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return bad_request(fmt::format(
          "--bind names {}, which the expression does not read{} (it reads: {})", in_quotes(name),
          did_you_mean(name, names), names.empty() ? "nothing" : join_names(names)));
    }
    return {};
  }

  Result<Matrix> matrix_for(const std::string& name, const OperandShape& shape,
                            std::uint64_t stream) const {
    for (const auto& [bound, path] : text_.files) {
      if (bound != name) continue;
      Result<Matrix> matrix = load_operand(path, shape, inputs_.problem.type_a);
      if (!matrix && text_.option == "--bias") {
        return bad_request(fmt::format("--bias: {}", matrix.error().message));
      }
      if (!matrix) return bad_request(fmt::format("--bind {}: {}", name, matrix.error().message));
      return matrix;
    }
    if (random_seed_ == nullptr) {
      return bad_request(
          fmt::format("--epilogue reads {}, and no file is bound to it; give --bind "
                      "{}=FILE",
                      shape.text, name));
    }
    return normal_matrix(shape.rows, shape.columns, inputs_.problem.type_a, *random_seed_, stream,
                         name);
  }

  const EpilogueText& text_;
  const std::uint64_t* random_seed_;
  ProductInputs& inputs_;
};

}  // namespace

Result<EpilogueText> epilogue_text(const ProductArguments& arguments) {
  if (!arguments.epilogue) {
    if (!arguments.bindings.empty()) {
      return bad_request("--bind needs --epilogue, the expression that reads the operand");
    }
    return text_of_bias(arguments);
  }
  if (arguments.bias || arguments.activation) {
    return bad_request(
        "--epilogue excludes --bias and --activation; write them into the expression");
  }
  auto files = parse_bindings(arguments.bindings);
  if (!files) return std::unexpected(files.error());
  return EpilogueText{
      .expression = *arguments.epilogue, .option = "--epilogue", .files = std::move(*files)};
}

Result<void> bind_epilogue(const EpilogueText& text, const std::uint64_t* random_seed,
                           ProductInputs& inputs) {
  return Binder(text, random_seed, inputs).run();
}

}  // namespace tilewise::cli
