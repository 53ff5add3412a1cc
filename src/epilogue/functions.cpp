#include "epilogue/functions.h"

#include <algorithm>
#include <array>

namespace tilewise {
namespace {

constexpr std::array<EpilogueFunction, 11> kFunctions{{
    {"relu", 1, EpilogueOp::relu},
    {"gelu", 1, EpilogueOp::gelu_erf},
    {"gelu_tanh", 1, EpilogueOp::gelu_tanh},
    {"silu", 1, EpilogueOp::silu},
    {"sigmoid", 1, EpilogueOp::sigmoid},
    {"tanh", 1, EpilogueOp::tanh},
    {"exp", 1, EpilogueOp::exp},
    {"abs", 1, EpilogueOp::abs},
    {"min", 2, EpilogueOp::minimum},
    {"max", 2, EpilogueOp::maximum},
    {"clamp", 3, EpilogueOp::minimum},
}};

constexpr std::array<std::string_view, 10> kReserved{"acc", "c", "a", "b",   "d",
                                                     "m",   "n", "k", "inf", "nan"};

// Insertions, deletions, substitutions and swaps of neighbours; both names at most kLongest.
constexpr std::size_t kLongest = 24;
int edit_distance(std::string_view x, std::string_view y) {
  std::array<std::array<int, kLongest + 1>, kLongest + 1> cost{};
  for (std::size_t i = 0; i <= x.size(); ++i) {
    for (std::size_t j = 0; j <= y.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int change = cost[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[x.size()][y.size()];
}

}  // namespace

std::span<const EpilogueFunction> epilogue_functions() { return kFunctions; }

const EpilogueFunction* find_function(std::string_view name) {
  const auto it = std::ranges::find(kFunctions, name, &EpilogueFunction::name);
  return it == kFunctions.end() ? nullptr : &*it;
}

const EpilogueFunction* find_function(EpilogueOp op) {
  const auto it = std::ranges::find(kFunctions, op, &EpilogueFunction::op);
  return it == kFunctions.end() ? nullptr : &*it;
}

bool is_reserved(std::string_view name) {
  return std::ranges::find(kReserved, name) != kReserved.end() || find_function(name) != nullptr;
}

std::string_view nearest_function(std::string_view name) {
  if (name.size() > kLongest) return "";
  std::string_view nearest;
  int best = 3;  // farther than this is no likely slip
  for (const EpilogueFunction& function : kFunctions) {
    const int distance = edit_distance(name, function.name);
    if (distance < best && distance < static_cast<int>(name.size())) {
      best = distance;
      nearest = function.name;
    }
  }
  return nearest;
}

std::string function_names() {
  std::string names;
  for (const EpilogueFunction& function : kFunctions) {
    if (!names.empty()) names += ", ";
    names += function.name;
  }
  return names;
}

int num_inputs(EpilogueOp op) {
  switch (op) {
    case EpilogueOp::acc:
    case EpilogueOp::constant:
    case EpilogueOp::operand:
    case EpilogueOp::source:
      return 0;
    case EpilogueOp::add:
    case EpilogueOp::subtract:
    case EpilogueOp::multiply:
    case EpilogueOp::divide:
    case EpilogueOp::minimum:
    case EpilogueOp::maximum:
      return 2;
    case EpilogueOp::negate:
    case EpilogueOp::relu:
    case EpilogueOp::gelu_erf:
    case EpilogueOp::gelu_tanh:
    case EpilogueOp::silu:
    case EpilogueOp::sigmoid:
    case EpilogueOp::tanh:
    case EpilogueOp::exp:
    case EpilogueOp::abs:
      return 1;
  }
  return 0;
}

}  // namespace tilewise
