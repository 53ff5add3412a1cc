#include "gpu/generated_epilogue.h"

#include "gpu/translation_unit.h"

namespace tilewise::gpu {

std::string generated_epilogue(const Problem& problem) {
  return "struct GeneratedEpilogue {\n"
         "  using Output = " +
         std::string(device_type(problem.type_d)) +
         ";\n"
         "  template <class T>\n"
         "  static __device__ T apply(T accumulator, const KernelArguments&, int64, int64, int64) "
         "{\n"
         "    return accumulator;\n"
         "  }\n"
         "};\n";
}

}  // namespace tilewise::gpu
