#include "plan_store.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <optional>

#include "tilewise/machine.h"

namespace nb = nanobind;

namespace tilewise::python {

PlanStore::PlanStore() { forget(); }

PlanStore& PlanStore::instance() {
  static auto* const store = new PlanStore;  // never destroyed: plans may outlive the interpreter
  return *store;
}

void PlanStore::forget() {
  epilogue_numbers_.clear();
  schedule_numbers_.clear();
  epilogues_ = {{0, Epilogue()}};
  schedules_.clear();
  plans_.clear();
  last_entry_ = nullptr;
  last_number_ = 0;
  last_text_.clear();
}

Result<std::uint32_t> PlanStore::epilogue(std::string_view text) {
  if (last_number_ != 0 && text == last_text_) return last_number_;
  std::uint32_t& number = epilogue_numbers_[std::string(text)];
  if (number == 0) {
    const Result<Epilogue> parsed = parse_epilogue(text);
    if (!parsed) return std::unexpected(parsed.error());
    number = next_number_++;
    epilogues_.emplace(number, *parsed);
  }
  last_text_ = text;
  return last_number_ = number;
}

Result<std::uint32_t> PlanStore::schedule(std::string_view text) {
  std::uint32_t& number = schedule_numbers_[std::string(text)];
  if (number == 0) {
    Result<Schedule> read = text.starts_with('{') ? parse_schedule(text) : find_schedule(text);
    if (!read) return std::unexpected(read.error());
    number = next_number_++;
    schedules_.emplace(number, *std::move(read));
  }
  return number;
}

const Plan* PlanStore::find(const Request& request) {
  if (last_entry_ == nullptr || !(last_request_ == request)) {
    const auto found = plans_.find(request);
    if (found == plans_.end()) return nullptr;
    last_request_ = request;
    last_entry_ = &found->second;
  }
  last_entry_->last_used = ++clock_;
  return &last_entry_->plan;
}

Result<Plan> PlanStore::prepare(const Request& request) {
  const Problem problem = problem_of(request, epilogue_of(request.epilogue));
  std::optional<Schedule> schedule;
  if (request.schedule != 0) schedule = schedules_.at(request.schedule);
  Result<Plan> plan = [&] {
    const nb::gil_scoped_release unlocked;
    static const Machine machine = host_machine();
    return tilewise::prepare(problem, schedule ? &*schedule : nullptr, machine,
                             {.device = request.device});
  }();
  if (plan) insert(request, *plan);
  return plan;
}

void PlanStore::insert(const Request& request, const Plan& plan) {
  last_entry_ = nullptr;
  if (plans_.size() >= kMaxPlans) {
    plans_.erase(std::ranges::min_element(
        plans_, {}, [](const auto& entry) { return entry.second.last_used; }));
  }
  plans_.insert_or_assign(request, Entry{plan, ++clock_});
}

}  // namespace tilewise::python
