// A file that appears whole or not at all: written beside its place and renamed into it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tilewise/result.h"

namespace tilewise {

// Whether open() would work now, without writing: for a check before a long computation.
[[nodiscard]] Result<void> check_output_path(const std::string& path);

class OutputFile {
 public:
  // The path "-" is standard output; a path that is neither absent nor a regular file (a pipe, a
  // terminal, /dev/null) is written directly. A symbolic link is followed.
  [[nodiscard]] static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes what was written unless commit() succeeded

  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> commit();

 private:
  OutputFile(int descriptor, std::string path, std::string temporary_path)
      : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary_path)) {}
  [[nodiscard]] std::unexpected<Error> failure() const;

  int descriptor_;
  std::string path_;
  std::string temporary_;  // "": written directly, nothing to rename
};

}  // namespace tilewise
