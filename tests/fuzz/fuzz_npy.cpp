// The reader of .npy files, from a mapped file and from a pipe. Both refuse with a message, or both
// return the same matrix, whose every element can be read.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/npy.h"

namespace {

using namespace tilewise;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

Result<Matrix> read_mapped(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("npy", MFD_CLOEXEC);
  require(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size));
  Result<Matrix> matrix = read_npy(path_of(file));
  ::close(file);
  return matrix;
}

// The pipe holds all of the data before it is read, and its writing end is closed.
Result<Matrix> read_piped(const std::uint8_t* data, std::size_t size) {
  int ends[2];
  require(::pipe(ends) == 0);
  require(::write(ends[1], data, size) == static_cast<ssize_t>(size));
  const int reader = ::open(path_of(ends[0]).c_str(), O_RDONLY | O_CLOEXEC);
  ::close(ends[1]);
  Result<Matrix> matrix = read_npy(path_of(reader));
  ::close(reader);
  ::close(ends[0]);
  return matrix;
}

void require_message(const Result<Matrix>& matrix) {
  require(matrix.error().code != ErrorCode::internal);
  require(!matrix.error().message.empty() && matrix.error().message.size() < 1000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPipeBytes = 1 << 16;
  if (size > kPipeBytes) return 0;
  const Result<Matrix> mapped = read_mapped(data, size);
  const Result<Matrix> piped = read_piped(data, size);
  require(mapped.has_value() == piped.has_value());
  if (!mapped) {
    require_message(mapped);
    require_message(piped);
    return 0;
  }
  require(mapped->rows == piped->rows && mapped->columns == piped->columns);
  if (mapped->rows == 0 || mapped->columns == 0) return 0;  // either may be huge
  for (std::int64_t i = 0; i < mapped->rows; ++i) {
    for (std::int64_t j = 0; j < mapped->columns; ++j) {
      const double x = element(*mapped, i, j), y = element(*piped, i, j);
      require(x == y || (std::isnan(x) && std::isnan(y)));
    }
  }
  return 0;
}
