// On a GPU: products with an epilogue that reads a row and a matrix, against exact results, for
// every way in which a kernel may read that matrix: in bulk or not, in place, shared by a batch, as
// C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/product_case.h"
#include "tilewise/epilogue.h"

namespace tilewise::gpu {
namespace {

constexpr Shape kShapes[] = {{1, 1, 1},       {129, 127, 31},  {128, 256, 64}, {300, 520, 0},
                             {257, 264, 129}, {384, 768, 640}, {520, 258, 72}};

// How the matrix that the epilogue reads lies in memory.
struct Source {
  const char* name;
  std::int64_t pad, offset;  // elements added to its pitch, and to its base
  bool in_place = false;     // it is D
  bool is_c = false;         // it is C, not a named operand
  std::int64_t batch = 1;
  bool shared = false;    // one matrix for the whole batch
  bool repeated = false;  // one row for all rows
};
constexpr Source kSources[] = {
    {.name = "aligned", .pad = 0, .offset = 0},
    {.name = "odd pitch", .pad = 1, .offset = 0},
    {.name = "odd base", .pad = 0, .offset = 1},
    {.name = "in place", .pad = 0, .offset = 0, .in_place = true},
    {.name = "one row", .pad = 0, .offset = 0, .repeated = true},
    {.name = "C", .pad = 0, .offset = 0, .is_c = true},
    {.name = "batch", .pad = 0, .offset = 0, .batch = 2},
    {.name = "shared", .pad = 8, .offset = 8, .batch = 2, .shared = true},
};

int bias_at(std::int64_t n) { return static_cast<int>(n % 5) - 2; }
int source_at(std::int64_t b, std::int64_t m, std::int64_t n) {
  return static_cast<int>((3 * b + 5 * m + 7 * n) % 9) - 4;
}

std::int64_t place(const Strides& s, std::int64_t b, std::int64_t m, std::int64_t n) {
  return b * s.batch + m * s.row + n * s.column;
}

DeviceBuffer upload(const HostMatrix& matrix) {
  DeviceBuffer buffer = DeviceBuffer::allocate(matrix.bytes.size()).value();
  EXPECT_TRUE(buffer.copy_from_host(matrix.bytes.data(), matrix.bytes.size()));
  return buffer;
}

void* address(const DeviceBuffer& buffer, const HostMatrix& matrix) {
  return static_cast<char*>(buffer.data()) + matrix.first;
}

void set_epilogue(Problem& p, const Source& source) {
  p.epilogue = parse_epilogue(source.is_c     ? "relu(acc + bias[n]) + c[m,n]"
                              : source.shared ? "relu(acc + bias[n]) + x[m,n]"
                                              : "relu(acc + bias[n]) + x[b,m,n]")
                   .value();
  const std::int64_t pitch = p.n + source.pad + (source.pad % 8 == 0 ? (8 - p.n % 8) % 8 : 0);
  const Strides strides{source.repeated ? 0 : pitch, 1,
                        source.shared || p.batch == 1 ? 0 : (p.m + 1) * pitch};
  p.c = source.is_c ? strides : p.c;
  if (source.in_place) p.d = strides;
  for (int i = 0; i < p.epilogue.num_operands; ++i) {
    EpilogueOperand& operand = p.epilogue.operands[static_cast<std::size_t>(i)];
    operand.type = p.type_d;
    operand.strides = operand.index_m ? strides : Strides{0, 1, 0};
  }
}

// Empty where D is right, to the byte.
std::string mistakes_of(const Problem& p, const Schedule& schedule, const Layout& layout,
                        const Source& source) {
  const Type type = p.type_d;
  const Strides strides = source.is_c ? p.c : p.epilogue.operands[1].strides;
  const auto operands = CaseOperands::create(p, layout).value();
  HostMatrix bias(Strides{0, 1, 0}, 1, p.n, 1, type, 0);
  for (std::int64_t n = 0; n < p.n; ++n) bias.set(n, type, bias_at(n));
  const std::int64_t batch = source.shared ? 1 : p.batch;
  HostMatrix matrix(strides, p.m, p.n, batch, type, source.offset * size_bytes(type));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t m = 0; m < (source.repeated ? 1 : p.m); ++m) {
      for (std::int64_t n = 0; n < p.n; ++n) {
        matrix.set(place(strides, b, m, n), type, source_at(b, m, n));
      }
    }
  }
  HostMatrix expected = source.in_place ? matrix : HostMatrix(p.d, p.m, p.n, p.batch, type, 0);
  const DeviceBuffer device_bias = upload(bias), device_matrix = upload(matrix);
  const DeviceBuffer device_d = upload(expected);
  const std::vector<std::int64_t> sums = integer_product(p);
  std::size_t i = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t m = 0; m < p.m; ++m) {
      for (std::int64_t n = 0; n < p.n; ++n, ++i) {
        const auto sum = static_cast<double>(sums[i] + bias_at(n));
        const double value =
            std::max(sum, 0.0) + source_at(source.shared ? 0 : b, source.repeated ? 0 : m, n);
        expected.set(place(p.d, b, m, n), type, value);
      }
    }
  }
  RunArguments arguments = operands.arguments();
  arguments.d = address(device_d, expected);
  const void* other = source.in_place ? arguments.d : address(device_matrix, matrix);
  const void* named[] = {address(device_bias, bias), other};
  arguments.operands = named;
  arguments.c = source.is_c ? other : nullptr;
  const auto plan = make_plan(p, &schedule);
  if (!plan) return plan.error().message;
  if (auto ok = (*plan)->run(arguments); !ok) return ok.error().message;
  HostMatrix got = expected;
  if (auto ok = device_d.copy_to_host(got.bytes.data(), got.bytes.size()); !ok) {
    return ok.error().message;
  }
  if (got.bytes == expected.bytes) return {};
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t m = 0; m < p.m; ++m) {
      for (std::int64_t n = 0; n < p.n; ++n) {
        const std::int64_t at = place(p.d, b, m, n);
        if (got.get(at, type) == expected.get(at, type)) continue;
        return "d[" + std::to_string(b) + ", " + std::to_string(m) + ", " + std::to_string(n) +
               "] has bits " + std::to_string(got.get(at, type)) + ", expected " +
               std::to_string(expected.get(at, type));
      }
    }
  }
  return "bytes outside D were written";
}

// Named schedules, and the pipeline with a tile that several blocks share.
std::vector<Schedule> schedules() {
  std::vector<Schedule> all;
  for (const char* name : {"tuned_f32", "mma", "wgmma", "wgmma_pipeline",
                           "wgmma_pipeline_ping_pong", "wgmma_pipeline_tf32", "wgmma_fp8"}) {
    all.push_back(find_schedule(name).value());
  }
  Schedule split = find_schedule("wgmma_pipeline").value();
  split.name = "wgmma_pipeline_split";
  split.persistent = false;
  split.split_k.ways = 2;
  split.cluster = {.m = 2, .n = 1};
  all.push_back(split);
  Schedule stream = find_schedule("wgmma_pipeline").value();
  stream.name = "wgmma_pipeline_stream";
  stream.stream_k = true;
  stream.cluster = {.m = 2, .n = 1};
  all.push_back(stream);
  Schedule one = find_schedule("wgmma_pipeline").value();
  one.name = "wgmma_pipeline_one_block";
  one.persistent = false;
  all.push_back(one);
  Schedule shared_b = find_schedule("wgmma_pipeline").value();
  shared_b.name = "wgmma_pipeline_cluster_2x1";
  shared_b.cluster = {.m = 2, .n = 1};
  all.push_back(shared_b);
  Schedule shared_a = find_schedule("wgmma_pipeline").value();
  shared_a.name = "wgmma_pipeline_cluster_1x2";
  shared_a.cluster = {.m = 1, .n = 2};
  all.push_back(shared_a);
  return all;
}

class EpilogueProduct : public testing::TestWithParam<Schedule> {};

TEST_P(EpilogueProduct, IsExactHoweverItsMatrixIsRead) {
  if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Schedule& schedule = GetParam();
  const auto needs = rung_needs(schedule);
  ASSERT_TRUE(needs.has_value()) << needs.error().message;
  if (needs->hopper && context->device->architecture != "sm_90a") GTEST_SKIP() << "needs sm_90a";
  for (const Type type : needs->types) {
    for (const Source& source : kSources) {
      const Layout layout{"nt", false, true, 0, 0, source.batch};
      for (const Shape& shape : kShapes) {
        Problem p = make_case(shape, layout, type, schedule, true);
        set_epilogue(p, source);
        SCOPED_TRACE(std::string(to_string(type)) + " " + source.name + " " + std::to_string(p.m) +
                     " x " + std::to_string(p.n) + " x " + std::to_string(p.k));
        ASSERT_EQ(mistakes_of(p, schedule, layout, source), "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pipelines, EpilogueProduct, testing::ValuesIn(schedules()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tilewise::gpu
