// A shared library that is opened when first needed and never closed: the same binary runs on
// machines that have it and on machines that do not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::gpu {

class DynamicLibrary {
 public:
  // Tries each candidate (a file name, looked up by the loader, or a path) in turn. The error names
  // what was searched for and every place that was tried.
  [[nodiscard]] static Result<DynamicLibrary> open(std::string_view title,
                                                   std::span<const std::string> candidates);

  // Null where the library has no such symbol.
  [[nodiscard]] void* find(const char* name) const;

  [[nodiscard]] const std::string& path() const { return path_; }  // of the file that was opened

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// A path inside the toolkit's folders (CUDA_HOME, CUDA_PATH, /usr/local/cuda*), inside the Python
// wheels' folders (of VIRTUAL_ENV, build/venv, the system's Python), for a library or a tool of
// NVIDIA's wheels, e.g. ("lib", "libnvrtc.so.13") or ("bin", "nvdisasm"). Only files that exist.
[[nodiscard]] std::vector<std::string> find_toolkit_files(std::string_view folder,
                                                          std::string_view file);

}  // namespace tilewise::gpu
