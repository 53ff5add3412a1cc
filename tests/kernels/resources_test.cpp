// Without a GPU: every named GPU schedule compiles for each architecture that its kernel names,
// spills no register, serialises no wgmma, holds the instructions that it is about, and uses no
// more registers and shared memory than resources.json says. TILEWISE_WRITE_RESOURCES=1 rewrites
// that file.
#include <gtest/gtest.h>

#include <cstdlib>

#include "disassembler.h"
#include "expected_resources.h"
#include "gpu/compile.h"
#include "gpu/embedded_cubins.h"
#include "gpu/kernel_cache.h"
#include "schedule/honours.h"
#include "tilewise/schedule.h"

namespace tilewise {
namespace {

using gpu::CompiledKernel;

// One compilation of a schedule.
struct Variant {
  Type type = Type::f32;
  std::string name;  // "nn": A and B row-major; "nt": B column-major; "unaligned": odd bases
};

std::string needs_of(const Schedule& schedule) {
  const auto files = gpu::kernel_files().value();
  const auto file = find_kernel_file(files, schedule.kernel);
  return file ? header_line(files.at(*file), "Needs") : std::string();
}

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

std::vector<Variant> variants_of(const Schedule& schedule, const std::string& needs) {
  std::vector<Variant> variants;
  for (const Type type : schedule_types(schedule, needs)) {
    // wgmma reads elements that are not of 16 bits along k alone.
    if (schedule.copy != Copy::bulk || size_bytes(type) == 2) variants.push_back({type, "nn"});
    variants.push_back({type, "nt"});
    if (schedule.copy != Copy::bulk) variants.push_back({type, "unaligned"});
  }
  return variants;
}

std::vector<std::string> architectures_of(const std::string& needs) {
  if (has(needs, "sm_90a")) return {"sm_90a"};
  return {"sm_80", "sm_90a"};
}

std::vector<std::string> expected_instructions(const Schedule& schedule, Type type) {
  std::vector<std::string> names;
  const Tile* instruction = find_tile(schedule, Level::instruction);
  constexpr int kWgmmaRows = 64;
  if (instruction == nullptr) {
    names.emplace_back("FFMA");
  } else if (instruction->m < kWgmmaRows) {
    names.emplace_back("HMMA");
  } else {
    names.emplace_back(size_bytes(type) == 1 ? "QGMMA" : "HGMMA");
  }
  if (schedule.copy == Copy::bulk) names.emplace_back("UTMALDG");
  if (schedule.copy == Copy::cp_async) names.emplace_back("LDGSTS");
  return names;
}

// The kernel that the library was built with, where it has this one: it is not compiled again.
Result<CompiledKernel> compile(const Schedule& schedule, const Variant& variant,
                               const std::string& architecture) {
  Problem problem = make_problem(4096, 4096, 4096, variant.type);
  problem.compute = schedule.compute;
  if (size_bytes(variant.type) == 1) problem.type_c = problem.type_d = Type::bf16;
  if (variant.name == "nt") problem.b = {.row = 1, .column = 4096};
  const auto constants = gpu::make_constants(problem, schedule, variant.name != "unaligned");
  const auto unit =
      gpu::write_translation_unit(gpu::kernel_files().value(), problem, schedule, constants);
  if (!unit) return std::unexpected(unit.error());
  const std::string key = gpu::source_key(*unit, architecture);
  if (auto shipped = gpu::find_embedded_cubin(key)) return *std::move(shipped);
  return gpu::compile_unit(*unit, architecture);
}

std::vector<ResourceRow>& measured_rows() {
  static std::vector<ResourceRow> rows;
  return rows;
}

class WriteResources : public testing::Environment {
 public:
  void TearDown() override {
    if (std::getenv("TILEWISE_WRITE_RESOURCES") == nullptr) return;
    write_resources(TILEWISE_RESOURCES, measured_rows());
  }
};
const auto* const kWriter = testing::AddGlobalTestEnvironment(new WriteResources);

void check_resources(const Schedule& schedule, const Variant& variant,
                     const CompiledKernel& kernel) {
  const gpu::KernelResources& used = kernel.resources;
  EXPECT_EQ(used.spill_store_bytes, 0) << "registers are spilled";
  EXPECT_EQ(used.spill_load_bytes, 0) << "registers are spilled";
  EXPECT_FALSE(used.serialised_wgmma) << "the compiler serialises wgmma";
  const ResourceRow row{
      schedule.name, kernel.architecture, std::string(to_string(variant.type)),
      variant.name,  used.registers,      used.static_shared_bytes + kernel.launch.shared_bytes};
  measured_rows().push_back(row);
  if (std::getenv("TILEWISE_WRITE_RESOURCES") != nullptr) return;
  const std::vector<ResourceRow> rows = read_resources(TILEWISE_RESOURCES);
  const ResourceRow* expected = find_row(rows, row);
  ASSERT_NE(expected, nullptr) << "resources.json has no such row; it uses " << row.registers
                               << " registers and " << row.shared_bytes << " bytes";
  EXPECT_LE(row.registers, expected->registers);
  EXPECT_LE(row.shared_bytes, expected->shared_bytes);
}

class Resources : public testing::TestWithParam<std::string> {};

TEST_P(Resources, AreWhatTheTableExpects) {
  if (const auto compiler = gpu::nvrtc(); !compiler) GTEST_SKIP() << compiler.error().message;
  const auto nvdisasm = find_nvdisasm();
  const Schedule schedule = find_schedule(GetParam()).value();
  const auto file = find_kernel_file(gpu::kernel_files().value(), schedule.kernel);
  if (!file) GTEST_SKIP() << file.error().message;
  const std::string needs = needs_of(schedule);
  for (const std::string& architecture : architectures_of(needs)) {
    for (const Variant& variant : variants_of(schedule, needs)) {
      SCOPED_TRACE(architecture + " " + std::string(to_string(variant.type)) + " " + variant.name);
      const auto kernel = compile(schedule, variant, architecture);
      ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
      check_resources(schedule, variant, *kernel);
      if (!nvdisasm || variant.name == "unaligned") continue;
      const auto listing = disassemble(*nvdisasm, kernel->cubin);
      ASSERT_TRUE(listing.has_value()) << listing.error().message;
      for (const std::string& mnemonic : expected_instructions(schedule, variant.type)) {
        EXPECT_GT(count_instructions(*listing, mnemonic), 0) << "no " << mnemonic;
      }
    }
  }
  if (!nvdisasm) GTEST_SKIP() << "instructions were not looked at: " << nvdisasm.error().message;
}

std::vector<std::string> gpu_schedules() {
  std::vector<std::string> names;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.device == Device::gpu) names.push_back(schedule.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Named, Resources, testing::ValuesIn(gpu_schedules()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Resources);

// Kernels with an epilogue hold its operands beside the accumulators.
TEST(FusedEpilogue, SpillsNoRegisterAndSerialisesNoProduct) {
  if (const auto compiler = gpu::nvrtc(); !compiler) GTEST_SKIP() << compiler.error().message;
  for (const char* name : {"mma", "wgmma", "wgmma_pipeline", "wgmma_pipeline_ping_pong"}) {
    const Schedule schedule = find_schedule(name).value();
    for (const char* text : {"gelu(acc + bias[n]) + residual[m,n]", "acc * s + x[m,n] * y[m,n]"}) {
      SCOPED_TRACE(std::string(name) + ": " + text);
      Problem problem = make_problem(4096, 4096, 4096, Type::bf16);
      problem.b = {.row = 1, .column = 4096};
      problem.epilogue = parse_epilogue(text).value();
      for (EpilogueOperand& operand : problem.epilogue.operands) operand.type = Type::bf16;
      set_contiguous_operands(problem.epilogue, problem.m, problem.n);
      const auto unit = gpu::write_translation_unit(gpu::kernel_files().value(), problem, schedule,
                                                    gpu::make_constants(problem, schedule, true));
      ASSERT_TRUE(unit.has_value()) << unit.error().message;
      const auto kernel = gpu::compile_unit(*unit, "sm_90a");
      ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
      EXPECT_EQ(kernel->resources.spill_store_bytes + kernel->resources.spill_load_bytes, 0);
      EXPECT_FALSE(kernel->resources.serialised_wgmma);
    }
  }
}

TEST(Disassembler, CountsWholeMnemonics) {
  const std::string_view text =
      "  /*0010*/ HMMA.16816.F32 R4, R8 ;\n  /*0020*/ @P0 HMMA R1 ;\n  /*0030*/ XHMMA.1 R2, HMMA2 "
      ";\n";
  EXPECT_EQ(count_instructions(text, "HMMA"), 2);
}

}  // namespace
}  // namespace tilewise
