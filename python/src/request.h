// What decides a plan, as bytes that are compared and hashed at once: cheaper than a Problem.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "tilewise/problem.h"
#include "tilewise/schedule.h"

namespace tilewise::python {

// Epilogues and schedules stand here as numbers that PlanStore gives them. Every byte is set by the
// constructor, padding too.
struct Request {
  std::int64_t m, n, k, batch;
  Strides a, b, c, d;
  Strides operands[Epilogue::kMaxOperands];
  std::uint32_t epilogue;  // 0: none
  std::uint32_t schedule;  // 0: chosen
  Type type_a, type_b, type_c, type_d;
  Type operand_types[Epilogue::kMaxOperands];
  Compute compute;
  Device device;

  Request() { std::memset(static_cast<void*>(this), 0, sizeof(Request)); }
  bool operator==(const Request& other) const {
    return std::memcmp(this, &other, sizeof(Request)) == 0;
  }
};

struct RequestHash {
  std::size_t operator()(const Request& request) const {
    const std::string_view bytes(reinterpret_cast<const char*>(&request), sizeof(Request));
    return std::hash<std::string_view>()(bytes);
  }
};

// The library's description of the same; the epilogue's operands get the request's types and
// strides.
[[nodiscard]] Problem problem_of(const Request& request, const Epilogue& epilogue);

}  // namespace tilewise::python
