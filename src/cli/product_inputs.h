// The matrices of `tilewise run`: read from files or made, checked against each other, bound to the
// operands of the epilogue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/matrix.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise::cli {

// As given on the command line.
struct ProductArguments {
  std::vector<std::string> sources;  // A.npy B.npy, or M N K
  std::optional<std::string> dtype;
  bool transpose_a = false;
  bool transpose_b = false;
  std::optional<std::string> bias;
  std::optional<std::string> activation;
  std::optional<std::string> epilogue;
  std::vector<std::string> bindings;  // name=FILE
  std::uint64_t seed = 1;
};

struct ProductInputs {
  Problem problem;
  Matrix a, b, c;
  std::vector<Matrix> operands;  // in the order of the epilogue's
  std::string epilogue;          // canonical text
  std::string data;              // what the inputs were, for documents
};

// Errors: anything unreadable, shapes that do not fit, an operand without a matrix, a type that
// this product does not take. Everything is read and made here; nothing is computed.
[[nodiscard]] Result<ProductInputs> load_inputs(const ProductArguments& arguments);

}  // namespace tilewise::cli
