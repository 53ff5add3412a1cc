// Matrices as .npy files.
#pragma once

#include <string>

#include "io/matrix.h"
#include "tilewise/result.h"

namespace tilewise {

// Reads a one- or two-dimensional array: f2, f4, f8 and bfloat16 as they are, i4 and i8 as float64.
// C and Fortran order become strides; a file in this machine's byte order is mapped and not copied.
// path: "-" is standard input. A one-dimensional array becomes one column.
// Errors: what parse_npy_header refuses, data shorter or longer than the shape says, an integer
// beyond 2^53, more than the memory that is free.
[[nodiscard]] Result<Matrix> read_npy(const std::string& path);

// Writes version 1, C order, little-endian; bfloat16 as V2. path: "-" is standard output. FP8 has
// no .npy type and is an error. On error no file is left and one that was there is unchanged.
[[nodiscard]] Result<void> write_npy(const std::string& path, const Matrix& matrix);

}  // namespace tilewise
