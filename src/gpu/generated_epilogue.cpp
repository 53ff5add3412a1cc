#include "gpu/generated_epilogue.h"

#include "epilogue/device_code.h"

namespace tilewise::gpu {

std::string generated_epilogue(const Problem& problem) {
  return print_device_code(problem.epilogue, problem.type_c, problem.type_d);
}

}  // namespace tilewise::gpu
