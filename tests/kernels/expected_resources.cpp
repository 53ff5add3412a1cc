#include "expected_resources.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tilewise {

std::vector<ResourceRow> read_resources(const std::string& path) {
  std::vector<ResourceRow> rows;
  std::ifstream file(path);
  if (!file) return rows;
  for (const auto& row : nlohmann::json::parse(file)) {
    rows.push_back({row.at("schedule"), row.at("architecture"), row.at("type"), row.at("variant"),
                    row.at("registers"), row.at("shared_bytes")});
  }
  return rows;
}

void write_resources(const std::string& path, const std::vector<ResourceRow>& rows) {
  std::ofstream file(path);
  const char* separator = "[\n  ";
  for (const ResourceRow& row : rows) {
    file << separator << R"({"schedule": ")" << row.schedule << R"(", "architecture": ")"
         << row.architecture << R"(", "type": ")" << row.type << R"(", "variant": ")" << row.variant
         << R"(", "registers": )" << row.registers << R"(, "shared_bytes": )" << row.shared_bytes
         << "}";
    separator = ",\n  ";
  }
  file << "\n]\n";
}

const ResourceRow* find_row(const std::vector<ResourceRow>& rows, const ResourceRow& kernel) {
  for (const ResourceRow& row : rows) {
    if (row.schedule == kernel.schedule && row.architecture == kernel.architecture &&
        row.type == kernel.type && row.variant == kernel.variant) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace tilewise
