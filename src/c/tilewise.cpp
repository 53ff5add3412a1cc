#include "tilewise/tilewise.h"

#include <cstring>
#include <new>
#include <string>

#include "tilewise/matmul.h"
#include "tilewise/traffic.h"

struct tilewise_plan {
  tilewise::Plan plan;
};

namespace {

using tilewise::Error;
using tilewise::ErrorCode;
using tilewise::Problem;
using tilewise::Result;

std::string& last_error() {
  thread_local std::string message;
  return message;
}

tilewise_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_request:
      return TILEWISE_BAD_REQUEST;
    case ErrorCode::missing_capability:
      return TILEWISE_MISSING_CAPABILITY;
    case ErrorCode::out_of_memory:
      return TILEWISE_OUT_OF_MEMORY;
    case ErrorCode::verification_failed:
      return TILEWISE_VERIFICATION_FAILED;
    case ErrorCode::internal:
      return TILEWISE_INTERNAL;
  }
  return TILEWISE_INTERNAL;
}

tilewise_status fail(const Error& error) {
  last_error() = error.message;
  return status_of(error.code);
}

tilewise_status fail(std::string message) {
  return fail(Error{ErrorCode::bad_request, std::move(message)});
}

// No exception crosses into C.
template <class Function>
tilewise_status guarded(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return fail(Error{ErrorCode::out_of_memory, "out of memory"});
  } catch (...) {
    return fail(Error{ErrorCode::internal, "an unexpected exception inside tilewise"});
  }
}

tilewise::Strides strides_of(const tilewise_strides& s) { return {s.row, s.column, s.batch}; }

Result<tilewise::Type> type_of(tilewise_type type, const char* matrix) {
  if (type < TILEWISE_F64 || type > TILEWISE_F8E5M2) {
    return tilewise::bad_request("type of " + std::string(matrix) + " is " + std::to_string(type) +
                                 "; valid: TILEWISE_F64 to TILEWISE_F8E5M2");
  }
  return static_cast<tilewise::Type>(type);
}

Result<void> read_operands(const tilewise_problem& source, Problem& problem) {
  set_contiguous_operands(problem.epilogue, problem.m, problem.n);
  if (source.num_operands == 0) return {};
  if (source.num_operands != problem.epilogue.num_operands) {
    return tilewise::bad_request("num_operands is " + std::to_string(source.num_operands) +
                                 "; the epilogue names " +
                                 std::to_string(problem.epilogue.num_operands));
  }
  for (std::size_t i = 0; i < problem.epilogue.num_operands; ++i) {
    auto type = type_of(source.operands[i].type, "an operand");
    if (!type) return std::unexpected(type.error());
    problem.epilogue.operands[i].type = *type;
    problem.epilogue.operands[i].strides = strides_of(source.operands[i].strides);
  }
  return {};
}

Result<Problem> read_problem(const tilewise_problem* source) {
  if (source == nullptr) return tilewise::bad_request("problem is null");
  Problem p = tilewise::make_problem(source->m, source->n, source->k);
  p.batch = source->batch;
  const struct {
    tilewise_type from;
    tilewise::Type& to;
    const char* name;
  } types[] = {{source->type_a, p.type_a, "A"},
               {source->type_b, p.type_b, "B"},
               {source->type_c, p.type_c, "C"},
               {source->type_d, p.type_d, "D"}};
  for (const auto& t : types) {
    auto type = type_of(t.from, t.name);
    if (!type) return std::unexpected(type.error());
    t.to = *type;
  }
  p.compute = p.type_a == tilewise::Type::f64 ? tilewise::Compute::f64 : tilewise::Compute::f32;
  p.a = strides_of(source->a);
  p.b = strides_of(source->b);
  p.c = strides_of(source->c);
  p.d = strides_of(source->d);
  if (source->epilogue != nullptr) {
    auto epilogue = tilewise::parse_epilogue(source->epilogue);
    if (!epilogue) return std::unexpected(epilogue.error());
    p.epilogue = *epilogue;
  }
  if (auto ok = read_operands(*source, p); !ok) return std::unexpected(ok.error());
  return p;
}

}  // namespace

tilewise_problem tilewise_make_problem(int64_t m, int64_t n, int64_t k, tilewise_type type) {
  tilewise_problem p{};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.type_a = p.type_b = p.type_c = p.type_d = type;
  p.a = {k, 1, 0};
  p.b = p.c = p.d = {n, 1, 0};
  return p;
}

tilewise_status tilewise_matmul(const tilewise_problem* problem, const void* a, const void* b,
                                const void* c, void* d, const void* const* operands,
                                size_t num_operands) {
  return guarded([&] {
    const auto p = read_problem(problem);
    if (!p) return fail(p.error());
    if (num_operands > 0 && operands == nullptr) return fail("operands is null");
    const auto done = tilewise::matmul(*p, a, b, c, d, {operands, num_operands});
    return done ? TILEWISE_OK : fail(done.error());
  });
}

tilewise_status tilewise_prepare(const tilewise_problem* problem, const char* schedule, int threads,
                                 tilewise_plan** plan) {
  if (plan == nullptr) return fail("plan is null");
  *plan = nullptr;
  return guarded([&] {
    const auto p = read_problem(problem);
    if (!p) return fail(p.error());
    tilewise::Schedule chosen;
    if (schedule != nullptr) {
      auto found = tilewise::find_schedule(schedule);
      if (!found) return fail(found.error());
      chosen = *std::move(found);
    }
    tilewise::PrepareOptions options;
    options.threads = threads;
    options.device = tilewise::Device::cpu;
    auto prepared = tilewise::prepare(*p, schedule != nullptr ? &chosen : nullptr,
                                      tilewise::host_machine(), options);
    if (!prepared) return fail(prepared.error());
    *plan = new tilewise_plan{*std::move(prepared)};
    return TILEWISE_OK;
  });
}

tilewise_status tilewise_run(const tilewise_plan* plan, const void* a, const void* b, const void* c,
                             void* d, const void* const* operands, size_t num_operands,
                             void* workspace, size_t workspace_bytes) {
  if (plan == nullptr) return fail("plan is null");
  if (num_operands > 0 && operands == nullptr) return fail("operands is null");
  return guarded([&] {
    const std::span<std::byte> memory(static_cast<std::byte*>(workspace),
                                      workspace == nullptr ? 0 : workspace_bytes);
    const auto done = plan->plan.run(a, b, c, d, {operands, num_operands}, memory);
    return done ? TILEWISE_OK : fail(done.error());
  });
}

size_t tilewise_workspace_bytes(const tilewise_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.workspace_bytes();
}

const char* tilewise_schedule_name(const tilewise_plan* plan) {
  return plan == nullptr ? "" : plan->plan.schedule().name.c_str();
}

void tilewise_free_plan(tilewise_plan* plan) { delete plan; }

tilewise_status tilewise_matmul_traffic(int64_t m, int64_t n, int64_t k, int64_t b,
                                        tilewise_traffic* traffic) {
  if (traffic == nullptr) return fail("traffic is null");
  return guarded([&] {
    const auto counted = tilewise::matmul_traffic(m, n, k, b);
    if (!counted) return fail(counted.error());
    const auto write = [](char(&to)[40], tilewise::Count count) {
      const std::string digits = count.to_string();
      std::memcpy(to, digits.c_str(), digits.size() + 1);
    };
    write(traffic->naive, counted->naive);
    write(traffic->tiled, counted->tiled);
    write(traffic->minimum, counted->minimum);
    return TILEWISE_OK;
  });
}

const char* tilewise_last_error(void) { return last_error().c_str(); }
