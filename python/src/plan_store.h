// Plans by request, and the epilogues and schedules that requests name by number. Every member is
// called with the GIL held, which is its lock: a forked child finds it whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "request.h"
#include "tilewise/plan.h"

namespace tilewise::python {

class PlanStore {
 public:
  static PlanStore& instance();

  // Called at the start of each product: a program that makes up ever new texts starts over here.
  // Numbers are never given twice.
  void make_room() {
    if (epilogues_.size() + schedules_.size() > kMaxTexts) forget();
  }

  // The number of a parsed expression; errors are the parser's.
  [[nodiscard]] Result<std::uint32_t> epilogue(std::string_view text);
  // The number of a schedule: a name, or JSON (it begins with '{').
  [[nodiscard]] Result<std::uint32_t> schedule(std::string_view text);
  [[nodiscard]] const Epilogue& epilogue_of(std::uint32_t number) const {
    return epilogues_.at(number);
  }

  // The plan of a request, or null; valid until the next insert.
  [[nodiscard]] const Plan* find(const Request& request);
  // Prepares and keeps it. Releases the GIL while the library works.
  [[nodiscard]] Result<Plan> prepare(const Request& request);

 private:
  PlanStore();
  void insert(const Request& request, const Plan& plan);
  void forget();

  static constexpr std::size_t kMaxTexts = 1024;
  static constexpr std::size_t kMaxPlans = 128;

  struct Entry {
    Plan plan;
    std::uint64_t last_used;
  };
  std::unordered_map<std::string, std::uint32_t> epilogue_numbers_, schedule_numbers_;
  std::unordered_map<std::uint32_t, Epilogue> epilogues_;
  std::unordered_map<std::uint32_t, Schedule> schedules_;
  std::uint32_t next_number_ = 1;
  std::string last_text_;
  std::uint32_t last_number_ = 0;
  std::unordered_map<Request, Entry, RequestHash> plans_;
  Request last_request_;
  Entry* last_entry_ = nullptr;
  std::uint64_t clock_ = 0;
};

}  // namespace tilewise::python
