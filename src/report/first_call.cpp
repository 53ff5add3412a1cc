#include "report/first_call.h"

#include <chrono>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"

namespace tilewise {
namespace {

constexpr std::int64_t kEdge = 256;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<FirstCall> time_one(Type type) {
  const Problem p = make_problem(kEdge, kEdge, kEdge, type);
  const auto bytes = static_cast<std::size_t>(kEdge * kEdge * size_bytes(type));
  const auto a = gpu::DeviceBuffer::allocate(bytes), b = gpu::DeviceBuffer::allocate(bytes),
             d = gpu::DeviceBuffer::allocate(bytes);
  for (const auto* buffer : {&a, &b, &d}) {
    if (!*buffer) return std::unexpected(buffer->error());
    if (auto ok = (*buffer)->fill(0); !ok) return std::unexpected(ok.error());
  }
  FirstCall call;
  call.type = to_string(type);
  auto start = Clock::now();
  const auto plan = gpu::make_plan(p, nullptr);
  if (!plan) return std::unexpected(plan.error());
  call.prepare_ms = ms_since(start);
  call.schedule = (*plan)->description().schedule.name;
  call.origin = gpu::to_string((*plan)->origin());
  RunArguments arguments;
  arguments.a = a->data();
  arguments.b = b->data();
  arguments.d = d->data();
  for (double* ms : {&call.run_ms, &call.second_run_ms}) {
    start = Clock::now();
    if (auto ok = (*plan)->run(arguments); !ok) return std::unexpected(ok.error());
    if (auto ok =
            gpu::check((*gpu::driver())->call.stream_synchronize(nullptr), "cuStreamSynchronize");
        !ok) {
      return std::unexpected(ok.error());
    }
    *ms = ms_since(start);
  }
  return call;
}

}  // namespace

Result<std::vector<FirstCall>> time_first_calls() {
  const auto start = Clock::now();
  const auto context = gpu::find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  const auto scope = gpu::ContextScope::enter(context->context);
  if (!scope) return std::unexpected(scope.error());
  const double context_ms = ms_since(start);
  std::vector<FirstCall> calls;
  for (const Type type : {Type::f32, Type::bf16}) {
    auto call = time_one(type);
    if (!call) return std::unexpected(call.error());
    call->context_ms = context_ms;
    calls.push_back(std::move(*call));
  }
  return calls;
}

}  // namespace tilewise
