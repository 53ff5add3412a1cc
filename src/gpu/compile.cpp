#include "gpu/compile.h"

#include <charconv>
#include <cstring>

#include "gpu/elf.h"

namespace tilewise::gpu {
namespace {

// The integer that stands before `text` in a line, e.g. 40 of "Used 40 registers" for " registers".
int number_before(std::string_view line, std::string_view text) {
  const std::size_t end = line.find(text);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

}  // namespace

std::vector<std::string> compile_options(std::string_view architecture) {
  return {"--gpu-architecture=" + std::string(architecture), "--std=c++20", "--ptxas-options=-v"};
}

KernelResources parse_resources(std::string_view log) {
  KernelResources resources;
  resources.serialised_wgmma = log.find("Potential Performance Loss") != std::string_view::npos;
  bool inside = false;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
    if (line.find("Compiling entry function") != std::string_view::npos) {
      inside = line.find("'tilewise_kernel'") != std::string_view::npos;
    }
    if (!inside) continue;
    if (line.find("bytes stack frame") != std::string_view::npos) {
      resources.stack_bytes = number_before(line, " bytes stack frame");
      resources.spill_store_bytes = number_before(line, " bytes spill stores");
      resources.spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find("Used ") != std::string_view::npos) {
      resources.registers = number_before(line, " registers");
      resources.barriers = number_before(line, " barriers");
      resources.static_shared_bytes = number_before(line, " bytes smem");
    }
  }
  return resources;
}

Result<LaunchInfo> read_launch_info(std::string_view cubin) {
  const auto bytes = elf_variable(cubin, "tilewise_launch");
  if (!bytes || bytes->size() != sizeof(LaunchInfo)) {
    return std::unexpected(
        Error{ErrorCode::internal, "a kernel's machine code holds no tilewise_launch of " +
                                       std::to_string(sizeof(LaunchInfo)) + " bytes"});
  }
  LaunchInfo info;
  std::memcpy(&info, bytes->data(), sizeof(info));
  return info;
}

Result<CompiledKernel> compile_unit(const TranslationUnit& unit, std::string_view architecture) {
  const auto compiler = nvrtc();
  if (!compiler) return std::unexpected(compiler.error());
  auto output = compile_cuda(**compiler, unit.source, unit.headers, compile_options(architecture));
  if (!output) return std::unexpected(output.error());
  auto launch = read_launch_info(output->cubin);
  if (!launch) return std::unexpected(launch.error());
  return CompiledKernel{std::move(output->cubin), std::string(architecture),
                        parse_resources(output->log), *launch};
}

}  // namespace tilewise::gpu
