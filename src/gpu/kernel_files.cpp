#include "gpu/kernel_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "io/embedded.h"

namespace tilewise {
extern const EmbeddedFile kEmbeddedKernels[];
extern const std::size_t kEmbeddedKernels_size;
}  // namespace tilewise

namespace tilewise::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRoot = "kernels/";

KernelFiles embedded_files() {
  KernelFiles files;
  for (std::size_t i = 0; i < kEmbeddedKernels_size; ++i) {
    const EmbeddedFile& file = kEmbeddedKernels[i];
    files.emplace(file.name.substr(kRoot.size()), file.text);
  }
  return files;
}

Result<KernelFiles> folder_files(const fs::path& folder) {
  KernelFiles files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".cuh") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return bad_request("TILEWISE_KERNELS: cannot read " + entry.path().string());
    files.emplace(entry.path().lexically_relative(folder).generic_string(), text.str());
  }
  if (error || files.empty()) {
    return bad_request(
        "TILEWISE_KERNELS is " + folder.string() +
        ", which is not a folder with .cuh files; name a copy of kernels/ or unset it");
  }
  return files;
}

// Names in `#include "..."` lines.
std::vector<std::string> included_names(std::string_view text) {
  constexpr std::string_view kInclude = "#include \"";
  std::vector<std::string> names;
  for (std::size_t at = text.find(kInclude); at != std::string_view::npos;
       at = text.find(kInclude, at + 1)) {
    const std::size_t begin = at + kInclude.size();
    const std::size_t end = text.find('"', begin);
    if (end == std::string_view::npos) break;
    if (at == 0 || text[at - 1] == '\n') names.emplace_back(text.substr(begin, end - begin));
  }
  return names;
}

}  // namespace

Result<KernelFiles> kernel_files() {
  if (const char* folder = std::getenv("TILEWISE_KERNELS"); folder != nullptr && *folder != '\0') {
    return folder_files(folder);
  }
  return embedded_files();
}

Result<std::vector<NamedText>> include_closure(const KernelFiles& files, std::string_view file) {
  std::vector<NamedText> closure;
  std::set<std::string> seen = {std::string(file)};
  std::vector<std::string> waiting = {std::string(file)};
  while (!waiting.empty()) {
    const std::string name = waiting.back();
    waiting.pop_back();
    const auto found = files.find(name);
    if (found == files.end()) {
      return bad_request("kernels: " + std::string(file) + " includes \"" + name +
                         "\", which is not under kernels/ (names are relative to that folder)");
    }
    closure.push_back({name, found->second});
    for (std::string& next : included_names(found->second)) {
      if (seen.insert(next).second) waiting.push_back(std::move(next));
    }
  }
  return closure;
}

}  // namespace tilewise::gpu
