#include "schedule/kernel_header.h"

namespace tilewise {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The first line of a text, which is taken off it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string kernel_name(std::string_view file) {
  if (file.starts_with("parts/")) return {};
  std::string_view name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
  name = name.substr(0, name.rfind('.'));
  if (name.size() > 3 && is_digit(name[0]) && is_digit(name[1]) && name[2] == '_') {
    name.remove_prefix(3);
  }
  return std::string(name);
}

Result<std::string> find_kernel_file(const KernelFiles& files, std::string_view kernel) {
  std::string known;
  for (const auto& [file, text] : files) {
    const std::string name = kernel_name(file);
    if (name.empty()) continue;
    if (name == kernel) return file;
    known += (known.empty() ? "" : ", ") + name;
  }
  return bad_request("schedule: kernel is \"" + std::string(kernel) +
                     "\", which has no file under kernels/; there are " + known);
}

std::string header_line(std::string_view text, std::string_view word) {
  const std::string start = "// " + std::string(word) + " ";
  std::string result;
  bool inside = false;
  while (text.starts_with("//")) {
    const std::string_view line = take_line(text);
    if (inside && line.starts_with("//     ")) {  // continued under the first column of text
      result += ' ' + std::string(line.substr(line.find_first_not_of(' ', 2)));
      continue;
    }
    if (inside) break;
    if (!line.starts_with(start)) continue;
    const std::size_t begin = line.find_first_not_of(' ', start.size());
    if (begin != line.npos) result = line.substr(begin);
    inside = true;
  }
  return result;
}

}  // namespace tilewise
