// On a GPU: every named schedule against exact products, for shapes around its tiles, in every
// layout that its kernel takes; nothing outside D is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/product_case.h"
#include "schedule/bulk_copy.h"

namespace tilewise::gpu {
namespace {

constexpr Shape kShapes[] = {{0, 5, 7},      {5, 0, 7},      {5, 7, 0},      {1, 1, 1},
                             {1, 257, 33},   {257, 1, 129},  {31, 33, 127},  {129, 127, 31},
                             {128, 128, 64}, {256, 256, 96}, {257, 263, 129}};

constexpr Layout kAligned[] = {{"nn", false, false, 0, 0, 1},
                               {"nt", false, true, 16, 16, 1},
                               {"nt 32", false, true, 16, 32, 1},
                               {"tn", true, false, 16, 0, 2},
                               {"tt", true, true, 0, 16, 1}};
constexpr Layout kAny[] = {{"nn odd", false, false, 1, 1, 1},
                           {"nt odd", false, true, 2, 2, 2},
                           {"tt odd", true, true, 1, 2, 1}};

class Product : public testing::TestWithParam<std::string> {};

TEST_P(Product, IsExactForEveryShapeAndLayout) {
  if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Schedule schedule = find_schedule(GetParam()).value();
  const auto needs = rung_needs(schedule);
  if (!needs) GTEST_SKIP() << needs.error().message;
  if (needs->hopper && context->device->architecture != "sm_90a") GTEST_SKIP() << "needs sm_90a";
  std::vector<std::pair<Layout, bool>> layouts;
  for (const Layout& layout : kAligned) {
    if (layout.offset_bytes % needs->base_bytes == 0) layouts.emplace_back(layout, true);
  }
  if (needs->any_strides) {
    for (const Layout& layout : kAny) layouts.emplace_back(layout, false);
  }
  for (const Type type : needs->types) {
    for (const auto& [layout, aligned] : layouts) {
      if (reads_along_k(schedule, type) && (layout.transpose_a || !layout.transpose_b)) continue;
      for (const Shape& shape : kShapes) {
        const Problem p = make_case(shape, layout, type, schedule, aligned);
        SCOPED_TRACE(std::string(to_string(type)) + " " + layout.name + " " + std::to_string(p.m) +
                     " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
        const auto mistakes = run_case(p, schedule, layout);
        ASSERT_TRUE(mistakes.has_value()) << mistakes.error().message;
        ASSERT_EQ(*mistakes, "");
      }
    }
  }
}

std::vector<std::string> gpu_schedules() {
  std::vector<std::string> names;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.device == Device::gpu) names.push_back(schedule.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Named, Product, testing::ValuesIn(gpu_schedules()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Product);

}  // namespace
}  // namespace tilewise::gpu
