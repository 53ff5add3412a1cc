#include "gpu/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

namespace tilewise::gpu {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string path_of(void* handle, const std::string& fallback) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return fallback;
  return map->l_name;
}

void add_if_file(std::vector<std::string>& found, const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) found.push_back(path.string());
}

// Python's folders hold .../site-packages/nvidia/<package>/{lib,bin,include}.
void add_from_python(std::vector<std::string>& found, const fs::path& prefix,
                     std::string_view folder, std::string_view file) {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(prefix / "lib", error)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      std::error_code inner;
      for (const auto& package :
           fs::directory_iterator(python.path() / packages / "nvidia", inner)) {
        add_if_file(found, package.path() / folder / file);
      }
    }
  }
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::open(std::string_view title,
                                            std::span<const std::string> candidates) {
  std::string tried;
  for (const std::string& candidate : candidates) {
    DynamicLibrary library;
    library.handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) {
      library.path_ = path_of(library.handle_, candidate);
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + candidate;
  }
  return missing_capability(std::string(title) + " was not found (tried " + tried + ")");
}

void* DynamicLibrary::find(const char* name) const { return dlsym(handle_, name); }

std::vector<std::string> find_toolkit_files(std::string_view folder, std::string_view file) {
  std::vector<std::string> found;
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = environment(variable); !home.empty()) toolkits.emplace_back(home);
  }
  toolkits.emplace_back("/usr/local/cuda");
  toolkits.emplace_back("/usr/local/cuda-13.0");
  for (const fs::path& toolkit : toolkits) {
    add_if_file(found, toolkit / folder / file);
    if (folder == "lib") add_if_file(found, toolkit / "lib64" / file);
  }
  std::vector<fs::path> prefixes;
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    prefixes.emplace_back(venv);
  prefixes.emplace_back("build/venv");
#ifdef TILEWISE_VENV
  prefixes.emplace_back(TILEWISE_VENV);  // the build's own, so that tests need no environment
#endif
  prefixes.emplace_back("/usr");
  prefixes.emplace_back("/usr/local");
  for (const fs::path& prefix : prefixes) add_from_python(found, prefix, folder, file);
  return found;
}

}  // namespace tilewise::gpu
