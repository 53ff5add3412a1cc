// The epilogue as CUDA C++, printed from the same tree that is evaluated on the CPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tilewise/epilogue.h"
#include "tilewise/types.h"

namespace tilewise {

// `struct GeneratedEpilogue` as kernels/README.md describes it, for a source that is inside
// namespace tilewise and includes parts/epilogue.cuh. Types of operands are fixed here; addresses
// and strides come from KernelArguments, in the order of epilogue.operands. The epilogue must be
// valid.
[[nodiscard]] std::string print_device_code(const Epilogue& epilogue, Type type_c, Type type_d);

// The type's name in device code: "float", "bf16", "f8e4m3", ...
[[nodiscard]] std::string_view device_type_name(Type type);

// The matrix of an epilogue that the printed code lets a kernel bring through shared memory in
// tiles like D's, if there is one.
struct StagedMatrix {
  int operand = -1;  // -1: C
  Type type = Type::bf16;
};
[[nodiscard]] std::optional<StagedMatrix> staged_matrix(const Epilogue& epilogue, Type type_c,
                                                        Type type_d);

}  // namespace tilewise
