#include "disassembler.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gpu/dynamic_library.h"

namespace tilewise {

Result<std::string> find_nvdisasm() {
  for (const std::string& path : gpu::find_toolkit_files("bin", "nvdisasm")) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return missing_capability(
      "nvdisasm was not found in the toolkit's folders or a Python wheel (nvidia-cuda-nvdisasm)");
}

Result<std::string> disassemble(const std::string& nvdisasm, std::string_view cubin) {
  std::string file = "/tmp/tilewise_cubin_XXXXXX";
  const int descriptor = mkstemp(file.data());
  if (descriptor < 0) return missing_capability("no temporary file can be made in /tmp");
  close(descriptor);
  std::ofstream(file, std::ios::binary) << cubin;
  std::FILE* pipe = popen(("'" + nvdisasm + "' -c '" + file + "' 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  while (pipe != nullptr) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe);
    text.append(buffer.data(), got);
    if (got == 0) break;
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  unlink(file.c_str());
  if (status != 0) return std::unexpected(Error{ErrorCode::internal, "nvdisasm: " + text});
  return text;
}

// Lines are `/*0040*/  @P0 HMMA.16816.F32 R4, ... ;`: a mnemonic stands before a dot or a space.
int count_instructions(std::string_view listing, std::string_view mnemonic) {
  int count = 0;
  for (std::size_t at = listing.find(mnemonic); at != std::string_view::npos;
       at = listing.find(mnemonic, at + 1)) {
    const char before = at == 0 ? ' ' : listing[at - 1];
    const std::size_t end = at + mnemonic.size();
    const char after = end < listing.size() ? listing[end] : ' ';
    if (before == ' ' && (after == ' ' || after == '.')) ++count;
  }
  return count;
}

}  // namespace tilewise
