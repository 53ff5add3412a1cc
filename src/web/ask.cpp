#include <utility>

#include "schedule/nearest.h"
#include "web/answer.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

using Function = Answer (*)(const Request&);
constexpr std::pair<std::string_view, Function> kQuestions[] = {
    {"count", answer_count},       {"step", answer_step},         {"inside", answer_inside},
    {"barriers", answer_barriers}, {"simulate", answer_simulate}, {"estimate", answer_estimate},
    {"order", answer_order},       {"banks", answer_banks},       {"fragment", answer_fragment},
    {"kernel", answer_kernel},
};

Answer answer(std::string_view kind, std::string_view text, const Library& library) {
  std::vector<std::string_view> names;
  for (const auto& [name, function] : kQuestions) {
    names.push_back(name);
    if (name != kind) continue;
    const auto request = parse_request(text, library);
    if (!request) return std::unexpected(request.error());
    return function(*request);
  }
  return bad_request(unknown_name("question", kind.substr(0, 40), names));
}

}  // namespace

Answer answer_names(const Library& library) {
  JsonWriter w;
  w.begin_object();
  w.key("schedules");
  w.begin_array();
  for (const Schedule& s : library.schedules) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("name", s.name);
    w.member("kernel", s.kernel);
    w.member("device", to_string(s.device));
    w.member("note", s.note);
    w.member("query", schedule_query(s).text());
    w.end_object();
  }
  w.end_array();
  w.key("choices");
  write_schedule_choices(w);
  w.key("machines");
  w.begin_array();
  for (const Machine& m : library.machines) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("name", m.name);
    w.member("title", m.title);
    w.member("device", to_string(m.device));
    w.end_object();
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

std::string ask(std::string_view kind, std::string_view request, const Library& library) {
  const Answer answered = kind == "names" ? answer_names(library) : answer(kind, request, library);
  if (answered) return *answered;
  JsonWriter w;
  w.begin_object(JsonWriter::Layout::line);
  w.member("error", answered.error().message);
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
