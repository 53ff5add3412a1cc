// What the model says of a block, against the compiled kernels: resources.json holds what the
// compiler reports.
#include <gtest/gtest.h>

#include "expected_resources.h"
#include "tilewise/estimate.h"
#include "tilewise/machine.h"
#include "tilewise/occupancy.h"

namespace tilewise {
namespace {

Problem problem_of(const ResourceRow& row, const Schedule& schedule) {
  Problem p = make_problem(4096, 4096, 4096, parse_type(row.type).value());
  p.compute = schedule.compute;
  if (row.variant == "nt") p.b = {.row = 1, .column = 4096};
  return p;
}

TEST(Footprint, SharedMemoryIsTheCompiledKernels) {
  const auto rows = read_resources(TILEWISE_RESOURCES);
  ASSERT_FALSE(rows.empty());
  for (const ResourceRow& row : rows) {
    const Schedule schedule = find_schedule(row.schedule).value();
    const auto f = footprint(problem_of(row, schedule), schedule);
    ASSERT_TRUE(f.has_value()) << f.error().message;
    EXPECT_EQ(f->block.shared_bytes, row.shared_bytes) << row.schedule << " " << row.variant;
  }
}

// Registers are an estimate, and docs/explain.md says how good: within 45 % of what the compiler
// gives.
TEST(Footprint, RegistersAreNearTheCompiledKernels) {
  for (const ResourceRow& row : read_resources(TILEWISE_RESOURCES)) {
    const Schedule schedule = find_schedule(row.schedule).value();
    const auto f = footprint(problem_of(row, schedule), schedule);
    const auto estimated = static_cast<double>(f->block.registers_per_thread);
    const double compiled = row.registers;
    EXPECT_NEAR(estimated / compiled, 1, 0.45)
        << row.schedule << " " << row.architecture << " " << row.type << " " << row.variant << ": "
        << estimated << ", compiled " << compiled;
  }
}

}  // namespace
}  // namespace tilewise
