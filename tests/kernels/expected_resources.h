// tests/kernels/resources.json: what each compiled kernel may use.
#pragma once

#include <string>
#include <vector>

namespace tilewise {

struct ResourceRow {
  std::string schedule;
  std::string architecture;
  std::string type;
  std::string variant;  // "nn", "nt", "unaligned"
  int registers = 0;
  int shared_bytes = 0;  // static and dynamic
  bool operator==(const ResourceRow&) const = default;
};

[[nodiscard]] std::vector<ResourceRow> read_resources(const std::string& path);
void write_resources(const std::string& path, const std::vector<ResourceRow>& rows);

// The row of the same kernel, or null.
[[nodiscard]] const ResourceRow* find_row(const std::vector<ResourceRow>& rows,
                                          const ResourceRow& kernel);

}  // namespace tilewise
