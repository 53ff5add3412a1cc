// What the WebAssembly module exports. Texts pass through one buffer of the module's memory:
//   buffer(bytes)       room for so many; the page writes a text there
//   add_schedule(bytes) add_machine(bytes)   the buffer's text is a query; 1 where it was read
//   add_kernel(name, bytes)   the buffer holds `name` bytes of a file's name inside kernels/ and
//   then
//                       the comment at its head
//   ask(kind, bytes)    the buffer holds `kind` bytes of a question's name and then the request;
//                       returns the length of the answer, which result() points to
#include <cstdint>
#include <string>

#include "web/answer.h"
#include "web/machine_query.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

struct State {
  Library library;
  std::string buffer, result;
};

State& state() {
  static State* const kState = new State;  // lives as long as the module
  return *kState;
}

std::string_view text(std::uint32_t begin, std::uint32_t bytes) {
  return std::string_view(state().buffer).substr(begin, bytes);
}

}  // namespace
}  // namespace tilewise::web

#define TILEWISE_EXPORT(name) extern "C" __attribute__((export_name(#name), visibility("default")))

TILEWISE_EXPORT(buffer) char* tilewise_web_buffer(std::uint32_t bytes) {
  auto& buffer = tilewise::web::state().buffer;
  buffer.resize(bytes);
  return buffer.data();
}

TILEWISE_EXPORT(add_schedule) std::uint32_t tilewise_web_add_schedule(std::uint32_t bytes) {
  using namespace tilewise::web;
  const auto query = Query::parse(text(0, bytes));
  if (!query) return 0;
  auto schedule = apply_schedule(*query, tilewise::Schedule{});
  if (!schedule) return 0;
  state().library.schedules.push_back(std::move(*schedule));
  return 1;
}

TILEWISE_EXPORT(add_machine) std::uint32_t tilewise_web_add_machine(std::uint32_t bytes) {
  using namespace tilewise::web;
  const auto query = Query::parse(text(0, bytes));
  if (!query) return 0;
  auto machine = parse_machine_query(*query);
  if (!machine) return 0;
  state().library.machines.push_back(std::move(*machine));
  return 1;
}

TILEWISE_EXPORT(add_kernel)
std::uint32_t tilewise_web_add_kernel(std::uint32_t name, std::uint32_t bytes) {
  using namespace tilewise::web;
  auto& kernels = state().library.kernels;
  return kernels.emplace(text(0, name), text(name, bytes - name)).second ? 1 : 0;
}

TILEWISE_EXPORT(ask) std::uint32_t tilewise_web_ask(std::uint32_t kind, std::uint32_t bytes) {
  using namespace tilewise::web;
  const std::string request(text(kind, bytes - kind));
  state().result = ask(text(0, kind), request, state().library);
  return static_cast<std::uint32_t>(state().result.size());
}

TILEWISE_EXPORT(result) const char* tilewise_web_result() {
  return tilewise::web::state().result.data();
}
