// On a GPU: every named schedule against exact products, for shapes around its tiles, in every
// layout that its kernel takes; nothing outside D is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"
#include "gpu/honours.h"
#include "gpu/integer_product.h"

namespace tilewise::gpu {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

constexpr Shape kShapes[] = {{0, 5, 7},      {5, 0, 7},      {5, 7, 0},      {1, 1, 1},
                             {1, 257, 33},   {257, 1, 129},  {31, 33, 127},  {129, 127, 31},
                             {128, 128, 64}, {256, 256, 96}, {257, 263, 129}};

// How the operands lie in memory.
struct Layout {
  const char* name;
  bool transpose_a, transpose_b;
  std::int64_t pad_bytes;     // added to the pitch of A, B and D, rounded up to whole elements
  std::int64_t offset_bytes;  // of the bases, likewise
  std::int64_t batch;
};

constexpr Layout kAligned[] = {{"nn", false, false, 0, 0, 1},
                               {"nt", false, true, 16, 16, 1},
                               {"tn", true, false, 16, 0, 2},
                               {"tt", true, true, 0, 16, 1}};
constexpr Layout kAny[] = {{"nn odd", false, false, 1, 1, 1},
                           {"nt odd", false, true, 2, 2, 2},
                           {"tt odd", true, true, 1, 2, 1}};

std::int64_t whole(std::int64_t bytes, int size) { return (bytes + size - 1) / size; }

Strides strides_of(std::int64_t rows, std::int64_t columns, std::int64_t batch, bool transposed,
                   const Layout& layout, Type type, std::int64_t alignment_bytes) {
  const int size = size_bytes(type);
  const std::int64_t inner = transposed ? rows : columns, outer = transposed ? columns : rows;
  std::int64_t pitch = std::max<std::int64_t>(inner, 1) + whole(layout.pad_bytes, size);
  if (alignment_bytes > 0) {
    const std::int64_t multiple = alignment_bytes / size;
    pitch = (pitch + multiple - 1) / multiple * multiple;
  }
  Strides strides{pitch, 1, 0};
  if (transposed) std::swap(strides.row, strides.column);
  if (batch > 1) strides.batch = pitch * std::max<std::int64_t>(outer, 1);
  return strides;
}

Problem make(const Shape& shape, const Layout& layout, Type type, Type output, Compute compute,
             bool aligned) {
  const std::int64_t alignment = aligned ? 16 : 0;
  Problem p = make_problem(shape.m, shape.n, shape.k, type);
  p.type_c = p.type_d = output;
  p.compute = compute;
  p.batch = layout.batch;
  p.a = strides_of(p.m, p.k, p.batch, layout.transpose_a, layout, type, alignment);
  p.b = strides_of(p.k, p.n, p.batch, layout.transpose_b, layout, type, alignment);
  p.d = strides_of(p.m, p.n, p.batch, false, layout, output, 0);
  p.c = p.d;
  return p;
}

std::int64_t at(const Strides& s, std::int64_t b, std::int64_t row, std::int64_t column) {
  return b * s.batch + row * s.row + column * s.column;
}

const std::vector<std::int64_t>& expected_of(const Problem& p) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
                  std::vector<std::int64_t>>
      cache;
  auto& sums = cache[{p.m, p.n, p.k, p.batch}];
  if (sums.empty() && p.m * p.n > 0) sums = integer_product(p);
  return sums;
}

struct Operands {
  HostMatrix a, b, d;
};

Operands fill(const Problem& p, const Layout& layout) {
  const auto offset = [&](Type type) {
    return whole(layout.offset_bytes, size_bytes(type)) * size_bytes(type);
  };
  Operands o{{p.a, p.m, p.k, p.batch, p.type_a, offset(p.type_a)},
             {p.b, p.k, p.n, p.batch, p.type_b, offset(p.type_b)},
             {p.d, p.m, p.n, p.batch, p.type_d, offset(p.type_d)}};
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t m = 0; m < p.m; ++m)
        o.a.set(at(p.a, b, m, k), p.type_a, integer_a(b, m, k));
      for (std::int64_t n = 0; n < p.n; ++n)
        o.b.set(at(p.b, b, k, n), p.type_b, integer_b(b, k, n));
    }
  }
  return o;
}

DeviceBuffer upload(const HostMatrix& matrix) {
  DeviceBuffer buffer = DeviceBuffer::allocate(matrix.bytes.size()).value();
  EXPECT_TRUE(buffer.copy_from_host(matrix.bytes.data(), matrix.bytes.size()).has_value());
  return buffer;
}

// Runs and compares every byte of D's memory with what should be there.
void check_product(const Problem& p, const Schedule& schedule, const Layout& layout) {
  const auto plan = make_plan(p, &schedule);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  ASSERT_EQ((*plan)->description().schedule.name, schedule.name);
  Operands operands = fill(p, layout);
  const DeviceBuffer a = upload(operands.a), b = upload(operands.b), d = upload(operands.d);
  RunArguments arguments;
  arguments.a = static_cast<char*>(a.data()) + operands.a.first;
  arguments.b = static_cast<char*>(b.data()) + operands.b.first;
  arguments.d = static_cast<char*>(d.data()) + operands.d.first;
  if (p.m > 0 && p.n > 0) {
    const auto run = (*plan)->run(arguments);
    ASSERT_TRUE(run.has_value()) << run.error().message;
  }
  std::vector<unsigned char> result(operands.d.bytes.size());
  const auto copied = d.copy_to_host(result.data(), result.size());
  ASSERT_TRUE(copied.has_value()) << copied.error().message;

  const std::vector<std::int64_t>& sums = expected_of(p);
  for (std::int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    operands.d.set(at(p.d, i / (p.m * p.n), i / p.n % p.m, i % p.n), p.type_d,
                   static_cast<double>(sums[static_cast<std::size_t>(i)]));
  }
  if (result == operands.d.bytes) return;
  HostMatrix got = operands.d;
  got.bytes = result;
  int shown = 0;
  for (std::int64_t i = 0; i < p.batch * p.m * p.n && shown < 4; ++i) {
    const std::int64_t b_index = i / (p.m * p.n), m = i / p.n % p.m, n = i % p.n;
    const std::int64_t place = at(p.d, b_index, m, n);
    if (got.get(place, p.type_d) == operands.d.get(place, p.type_d)) continue;
    ADD_FAILURE() << "d[" << b_index << ", " << m << ", " << n << "] has bits " << std::hex
                  << got.get(place, p.type_d) << ", expected " << operands.d.get(place, p.type_d);
    ++shown;
  }
  if (shown == 0) ADD_FAILURE() << "bytes outside D were written";
}

class Product : public testing::TestWithParam<std::string> {};

TEST_P(Product, IsExactForEveryShapeAndLayout) {
  if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Schedule schedule = find_schedule(GetParam()).value();
  const KernelFiles files = kernel_files().value();
  const auto file = find_kernel_file(files, schedule.kernel);
  if (!file) GTEST_SKIP() << file.error().message;
  const std::string needs = header_line(files.at(*file), "Needs");
  if (needs.find("sm_90a") != std::string::npos && context->device->architecture != "sm_90a") {
    GTEST_SKIP() << "needs sm_90a";
  }
  std::vector<std::pair<Layout, bool>> layouts;
  for (const Layout& layout : kAligned) layouts.emplace_back(layout, true);
  if (needs.find("any strides") != std::string::npos) {
    for (const Layout& layout : kAny) layouts.emplace_back(layout, false);
  }
  for (const Type type : schedule_types(schedule, needs)) {
    const bool is_f8 = size_bytes(type) == 1;
    // wgmma reads elements that are not of 16 bits along k alone.
    const bool along_k = schedule.copy == Copy::bulk && size_bytes(type) != 2;
    for (const auto& [layout, aligned] : layouts) {
      if (along_k && (layout.transpose_a || !layout.transpose_b)) continue;
      for (const Shape& shape : kShapes) {
        const Problem p =
            make(shape, layout, type, is_f8 ? Type::bf16 : type, schedule.compute, aligned);
        SCOPED_TRACE(std::string(to_string(type)) + " " + layout.name + " " + std::to_string(p.m) +
                     " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
        check_product(p, schedule, layout);
        if (HasFailure()) return;
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
