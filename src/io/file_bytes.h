// The bytes of a file: mapped where the file can be mapped, read in order where it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tilewise/result.h"

namespace tilewise {

// Mapped read-only, with its owner. The file must not be shortened while it is in use.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// An open file, or standard input for the path "-".
class InputFile {
 public:
  [[nodiscard]] static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // "standard input", or the path as given: for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_regular() const { return is_regular_; }

  // The whole of a regular file.
  [[nodiscard]] Result<FileBytes> map() const;
  // The next bytes.size() bytes, or fewer at the end of the file; says how many.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> bytes) const;

 private:
  InputFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_;
  std::string name_;
  bool is_regular_ = false;
  std::int64_t size_bytes_ = 0;
};

// All the text of a small file. Errors: unreadable, a directory, more than limit_bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t limit_bytes);

}  // namespace tilewise
