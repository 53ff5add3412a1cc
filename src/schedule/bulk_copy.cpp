#include "schedule/bulk_copy.h"

#include <cstdint>
#include <string>
#include <utility>

namespace tilewise {
namespace {

constexpr std::int64_t kBulkBytes = 16;  // bases and pitches
// The device hands coordinates to the bulk copy as 32-bit signed integers, those of a tile that
// ends past the matrix too.
constexpr std::int64_t kMaxExtent = (std::int64_t{1} << 31) - 1024;

// The schedule that copies element by element where it has to; none multiplies 8 bits.
std::string otherwise(Type type) {
  if (size_bytes(type) == 1) return {};
  return std::string(", or take schedule \"") + (type == Type::f32 ? "mma_tf32" : "mma") + "\"";
}

Result<void> check_strides(std::string_view verb, const std::string& operand, Type type,
                           const Strides& strides, std::int64_t rows, std::int64_t columns) {
  const std::string start = std::string(verb) + ": ";
  if (strides.column != 1 && strides.row != 1) {
    return bad_request(start + "neither rows nor columns of " + operand +
                       " are contiguous (strides " + std::to_string(strides.row) + " and " +
                       std::to_string(strides.column) + "), which the bulk copy needs; copy it" +
                       otherwise(type));
  }
  if (rows > kMaxExtent || columns > kMaxExtent) {
    return bad_request(start + operand + " is " + std::to_string(rows) + " x " +
                       std::to_string(columns) + ", and the bulk copy addresses at most " +
                       std::to_string(kMaxExtent) + " a dimension; split it" + otherwise(type));
  }
  const bool row_major = strides.column == 1;
  for (const auto& [what, stride] :
       {std::pair{row_major ? "row" : "column", row_major ? strides.row : strides.column},
        std::pair{"batch", strides.batch}}) {
    const std::int64_t whole = kBulkBytes / size_bytes(type);
    if (stride % whole == 0) continue;
    return bad_request(start + what + " stride of " + operand + " is " + std::to_string(stride) +
                       " " + std::string(to_string(type)) + " elements (" +
                       std::to_string(stride * size_bytes(type)) +
                       " bytes), not a multiple of 16 bytes, which the bulk copy needs; pad to " +
                       std::to_string((stride + whole - 1) / whole * whole) + otherwise(type));
  }
  return {};
}

// Tensor cores read shared tiles along either dimension for 16-bit elements alone.
Result<void> check_along_k(std::string_view verb, const Problem& p) {
  constexpr int kEitherWayBytes = 2;
  if (size_bytes(p.type_a) == kEitherWayBytes) return {};
  const bool a = p.a.column == 1, b = p.b.row == 1;
  if (a && b) return {};
  return bad_request(std::string(verb) + ": " + (a ? "B" : "A") + " is " +
                     std::string(to_string(p.type_a)) +
                     " and not contiguous along k, which wgmma needs for elements that are not of "
                     "16 bits; pass A row-major and B column-major (layout nt)" +
                     otherwise(p.type_a));
}

}  // namespace

Result<void> check_bulk_copy(const Problem& p, std::string_view verb) {
  if (auto ok = check_along_k(verb, p); !ok) return ok;
  if (auto ok = check_strides(verb, "A", p.type_a, p.a, p.m, p.k); !ok) return ok;
  return check_strides(verb, "B", p.type_b, p.b, p.k, p.n);
}

bool reads_along_k(const Schedule& schedule, Type type) {
  constexpr int kEitherWayBytes = 2;
  return schedule.copy == Copy::bulk && size_bytes(type) != kEitherWayBytes;
}

bool is_operand_layout(std::string_view text) {
  return text.size() == 2 && text.find_first_not_of("nt") == text.npos;
}

std::string_view default_operand_layout(const Schedule& schedule, Type type) {
  return reads_along_k(schedule, type) ? "nt" : "nn";
}

void set_operand_layout(Problem& p, std::string_view text) {
  if (text[0] == 't') p.a.row = 1, p.a.column = p.m;
  if (text[1] == 't') p.b.row = 1, p.b.column = p.k;
}

}  // namespace tilewise
