// Errors are values: every fallible function of the library returns Result<T>.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace tilewise {

// What kind of failure it is; the command line maps each to an exit code (see docs/cli.md).
enum class ErrorCode : std::uint8_t {
  bad_request,          // an argument is wrong: the message names it, its value and what is valid
  missing_capability,   // no GPU, no profiler, no such instruction set here
  out_of_memory,        // found before anything was allocated or written
  verification_failed,  // a result was computed and is wrong
  internal,             // a defect of tilewise itself
};

// message: the argument, its value, the rule and the way out, in one sentence.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

// `return bad_request("count: m is -1; sizes are 0 or more");`
[[nodiscard]] inline std::unexpected<Error> bad_request(std::string message) {
  return std::unexpected(Error{ErrorCode::bad_request, std::move(message)});
}
[[nodiscard]] inline std::unexpected<Error> missing_capability(std::string message) {
  return std::unexpected(Error{ErrorCode::missing_capability, std::move(message)});
}
[[nodiscard]] inline std::unexpected<Error> out_of_memory(std::string message) {
  return std::unexpected(Error{ErrorCode::out_of_memory, std::move(message)});
}

}  // namespace tilewise
