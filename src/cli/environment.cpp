#include "cli/environment.h"

#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include "tilewise/machine.h"
#include "version.h"

namespace tilewise::cli {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return "unknown";
}

constexpr std::string_view compiler_name() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, sizeof("2026-01-31T12:00:00Z")> text{};
  if (gmtime_r(&now, &parts) == nullptr) return "unknown";
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), size);
}

}  // namespace

void begin_document(JsonWriter& w, std::string_view schema, const Console& console,
                    std::string_view data, const std::vector<ExtraMember>& more) {
  w.begin_object();
  w.member("schema", schema);
  w.key("environment");
  w.begin_object();
  w.member("version", kVersion);
  w.member("commit", kCommit);
  w.member("compiler", compiler_name());
  w.member("machine", host_machine().name);
  w.member("cpu", cpu_name());
  w.member("date", utc_now());
  w.member("command", console.command);
  w.member("data", data);
  for (const ExtraMember& member : more) {
    std::visit([&](const auto& value) { w.member(member.first, value); }, member.second);
  }
  w.end_object();
}

}  // namespace tilewise::cli
