#include "explorer/page.h"

#include <array>
#include <cstdint>
#include <span>

#include "io/embedded.h"
#include "io/json_writer.h"
#include "tilewise/machine.h"
#include "tilewise/schedule.h"
#include "web/machine_query.h"
#include "web/schedule_query.h"

namespace tilewise {

extern const EmbeddedFile kEmbeddedKernels[];
extern const std::size_t kEmbeddedKernels_size;
extern const EmbeddedFile kExplorerFiles[];
extern const std::size_t kExplorerFiles_size;
#ifdef TILEWISE_EXPLORER
extern const unsigned char kExplorerModule[];
extern const std::size_t kExplorerModule_size;
#endif

namespace explorer {
namespace {

constexpr std::string_view kFolder = "web/";
constexpr std::string_view kWidget = "widget.js";  // is no part of the page

std::string_view module_bytes() {
#ifdef TILEWISE_EXPLORER
  return {reinterpret_cast<const char*>(kExplorerModule), kExplorerModule_size};
#else
  return {};
#endif
}

Result<void> check_built() {
  if (!module_bytes().empty()) return {};
  return missing_capability(
      "explore: this was built without the page's WebAssembly module, which needs clang++-19 and "
      "its C++ library for wasm32-wasi; `make explore` installs them and builds it");
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < left ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= left ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  if (at != text.npos) text.replace(at, what.size(), with);
  return text;
}

// A document inside a <script>: no "<", so that nothing in it can end the element.
std::string without_tags(const std::string& json) {
  std::string text;
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

// Names, without their folder, and texts.
using Texts = std::vector<std::pair<std::string_view, std::string_view>>;
Texts web_files() {
  Texts files;
  for (const EmbeddedFile& file : std::span(kExplorerFiles, kExplorerFiles_size)) {
    files.emplace_back(file.name.substr(kFolder.size()), file.text);
  }
  return files;
}

std::string_view web_file(std::string_view wanted) {
  for (const auto& [name, text] : web_files()) {
    if (name == wanted) return text;
  }
  return {};
}

Texts page_files() {
  Texts files = web_files();
  std::erase_if(files, [](const auto& file) { return file.first == kWidget; });
  return files;
}

// Schedules and machines in the form that the module reads, kernels as they are written.
std::string data_json(std::string_view start) {
  JsonWriter w;
  w.begin_object();
  w.member("start", start);
  w.key("schedules");
  w.begin_array();
  for (const Schedule& schedule : named_schedules()) {
    w.value(web::schedule_query(schedule).text());
  }
  w.end_array();
  w.key("machines");
  w.begin_array();
  for (const Machine& machine : named_machines()) w.value(web::machine_query(machine).text());
  w.end_array();
  w.key("kernels");
  w.begin_object();
  for (const EmbeddedFile& kernel : std::span(kEmbeddedKernels, kEmbeddedKernels_size)) {
    if (kernel.name.starts_with("kernels/ladder/")) w.member(kernel.name, kernel.text);
  }
  w.end_object();
  w.end_object();
  return std::move(w).finish();
}

// Modules name each other "tilewise/NAME"; in one file an import map points each name at its text.
std::string import_map() {
  JsonWriter w;
  w.begin_object();
  w.key("imports");
  w.begin_object();
  for (const auto& [name, text] : page_files()) {
    if (!name.ends_with(".js")) continue;
    w.member("tilewise/" + std::string(name), "data:text/javascript;base64," + base64(text));
  }
  w.end_object();
  w.end_object();
  return std::move(w).finish();
}

}  // namespace

Result<std::string> page(std::string_view start) {
  if (auto built = check_built(); !built) return std::unexpected(built.error());
  std::string html(web_file("index.html"));
  html = replaced(std::move(html), R"(<link rel="stylesheet" href="style.css">)",
                  "<style>\n" + std::string(web_file("style.css")) + "</style>");
  html = replaced(
      std::move(html), R"(<script type="importmap">{"imports": {"tilewise/": "./"}}</script>)",
      "<script type=\"importmap\">" + import_map() + "</script>\n" +
          "<script type=\"application/json\" id=\"data\">" + without_tags(data_json(start)) +
          "</script>\n" + "<script type=\"text/plain\" id=\"module\">" + base64(module_bytes()) +
          "</script>");
  return replaced(std::move(html), R"(<script type="module" src="main.js"></script>)",
                  R"(<script type="module">import "tilewise/main.js";</script>)");
}

Result<std::vector<std::pair<std::string, std::string>>> files(std::string_view start) {
  if (auto built = check_built(); !built) return std::unexpected(built.error());
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, text] : page_files()) files.emplace_back(name, text);
  files.emplace_back("module.wasm", module_bytes());
  files.emplace_back("data.json", data_json(start));
  return files;
}

Result<std::string> widget() {
  auto contents = files("");
  if (!contents) return std::unexpected(contents.error());
  JsonWriter w;
  w.begin_object();
  for (const auto& [name, text] : *contents) {
    if (name == "main.js") continue;  // the page's own
    w.member(name, name.ends_with(".wasm") ? base64(text) : text);
  }
  w.end_object();
  return replaced(std::string(web_file(kWidget)), "const kFiles = {};",
                  "const kFiles = " + std::move(w).finish() + ";");
}

}  // namespace explorer
}  // namespace tilewise
