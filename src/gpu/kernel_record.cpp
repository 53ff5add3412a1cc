#include "gpu/kernel_record.h"

#include <sstream>

namespace tilewise::gpu {

std::string pack_kernel(std::string_view key, const CompiledKernel& kernel) {
  const KernelResources& r = kernel.resources;
  std::ostringstream text;
  text << key << '\n'
       << kernel.architecture << ' ' << r.registers << ' ' << r.spill_store_bytes << ' '
       << r.spill_load_bytes << ' ' << r.stack_bytes << ' ' << r.static_shared_bytes << ' '
       << r.barriers << ' ' << r.serialised_wgmma << '\n'
       << kernel.cubin;
  return text.str();
}

std::optional<CompiledKernel> unpack_kernel(std::string_view key, std::string_view content) {
  if (content.substr(0, content.find('\n')) != key) return {};
  content.remove_prefix(key.size() + 1);
  const std::size_t end = content.find('\n');
  if (end == std::string_view::npos) return {};
  std::istringstream line{std::string(content.substr(0, end))};
  CompiledKernel kernel;
  KernelResources& r = kernel.resources;
  line >> kernel.architecture >> r.registers >> r.spill_store_bytes >> r.spill_load_bytes >>
      r.stack_bytes >> r.static_shared_bytes >> r.barriers >> r.serialised_wgmma;
  if (!line) return {};
  kernel.cubin = content.substr(end + 1);
  auto launch = read_launch_info(kernel.cubin);
  if (!launch) return {};
  kernel.launch = *launch;
  return kernel;
}

}  // namespace tilewise::gpu
