#include "gpu/nvrtc.h"

#include <cstdlib>
#include <filesystem>

#include "gpu/dynamic_library.h"

namespace tilewise::gpu {
namespace {

constexpr const char* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

std::vector<std::string> candidates() {
  std::vector<std::string> files;
  if (const char* named = std::getenv("TILEWISE_NVRTC"); named != nullptr && *named != '\0') {
    return {named};
  }
  for (const char* name : kFileNames) files.emplace_back(name);
  for (const char* name : kFileNames) {
    for (std::string& path : find_toolkit_files("lib", name)) files.push_back(std::move(path));
  }
  return files;
}

// NVRTC looks its builtins up by name alone, which fails where it lies in no folder of the loader
// (a Python wheel): one that is loaded already is found.
void preload_builtins(const std::string& nvrtc_path) {
  std::error_code error;
  const auto folder = std::filesystem::path(nvrtc_path).parent_path();
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (!file.path().filename().string().starts_with("libnvrtc-builtins.so")) continue;
    const std::string path = file.path().string();
    (void)DynamicLibrary::open("NVRTC's builtins", std::span(&path, 1));
  }
}

Result<Nvrtc> open_nvrtc() {
  auto library = DynamicLibrary::open("NVRTC", candidates());
  if (!library) {
    return missing_capability(library.error().message +
                              "; install the Python wheel nvidia-cuda-nvrtc, or name the file in "
                              "TILEWISE_NVRTC");
  }
  Nvrtc nvrtc;
  nvrtc.path = library->path();
  preload_builtins(nvrtc.path);
#define TILEWISE_LOAD(member, symbol, ...)                                                        \
  nvrtc.call.member = reinterpret_cast<int (*)(__VA_ARGS__)>(library->find(#symbol));             \
  if (nvrtc.call.member == nullptr) {                                                             \
    return missing_capability(nvrtc.path + " has no " #symbol "; NVRTC 12.0 or later is needed"); \
  }
  TILEWISE_NVRTC_FUNCTIONS(TILEWISE_LOAD)
#undef TILEWISE_LOAD
  nvrtc.call.version(&nvrtc.major, &nvrtc.minor);
  return nvrtc;
}

// Owns a program of NVRTC for the time of one compilation.
struct Program {
  const NvrtcFunctions& call;
  NvrtcProgramHandle* handle = nullptr;
  ~Program() {
    if (handle != nullptr) call.destroy_program(&handle);
  }
};

std::string read_log(const Program& program) {
  std::size_t size = 0;
  if (program.call.get_log_size(program.handle, &size) != 0 || size <= 1) return {};
  std::string log(size, '\0');
  program.call.get_log(program.handle, log.data());
  log.pop_back();  // the terminating zero
  return log;
}

std::unexpected<Error> failed(std::string_view step, const std::string& source_name,
                              const std::string& log) {
  return std::unexpected(Error{ErrorCode::internal, "NVRTC: " + std::string(step) + " of " +
                                                        source_name + " failed:\n" + log});
}

}  // namespace

std::string Nvrtc::version() const { return std::to_string(major) + "." + std::to_string(minor); }

Result<const Nvrtc*> nvrtc() {
  static const Result<Nvrtc> opened = open_nvrtc();
  if (!opened) return std::unexpected(opened.error());
  return &*opened;
}

Result<NvrtcOutput> compile_cuda(const Nvrtc& nvrtc, const NamedText& source,
                                 std::span<const NamedText> headers,
                                 std::span<const std::string> options) {
  std::vector<const char*> texts, names, arguments;
  for (const NamedText& header : headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  for (const std::string& option : options) arguments.push_back(option.c_str());

  Program program{nvrtc.call};
  if (nvrtc.call.create_program(&program.handle, source.text.c_str(), source.name.c_str(),
                                static_cast<int>(texts.size()), texts.data(), names.data()) != 0) {
    return failed("creation", source.name, "");
  }
  const int compiled = nvrtc.call.compile_program(
      program.handle, static_cast<int>(arguments.size()), arguments.data());
  NvrtcOutput output;
  output.log = read_log(program);
  if (compiled != 0) return failed("compilation", source.name, output.log);

  std::size_t size = 0;
  if (nvrtc.call.get_cubin_size(program.handle, &size) != 0 || size == 0) {
    return failed("machine code", source.name, output.log);
  }
  output.cubin.resize(size);
  if (nvrtc.call.get_cubin(program.handle, output.cubin.data()) != 0) {
    return failed("machine code", source.name, output.log);
  }
  return output;
}

}  // namespace tilewise::gpu
