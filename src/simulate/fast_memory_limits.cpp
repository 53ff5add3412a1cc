#include "simulate/fast_memory_limits.h"

#include <string>

namespace tilewise {

Result<void> check_fast_memory_run(const char* who, const BoundQuestion& q, std::int64_t rows,
                                   std::int64_t columns) {
  if (auto floor = floor_elements(q); !floor) return std::unexpected(floor.error());
  if (rows < 1 || columns < 1) {
    return bad_request(std::string(who) + ": the tile is " + std::to_string(rows) + " x " +
                       std::to_string(columns) + "; extents are 1 or more");
  }
  const Count m(q.m), n(q.n), k(q.k);
  if (!(m * n * k <= Count(std::int64_t{1} << 32)) ||
      !(m * k + k * n + m * n <= Count(std::int64_t{1} << 28))) {
    return bad_request(std::string(who) + ": " + m.to_string() + " x " + n.to_string() + " x " +
                       k.to_string() +
                       " is over 2^32 products or 2^28 elements; simulate a smaller product");
  }
  return {};
}

}  // namespace tilewise
