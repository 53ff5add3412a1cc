// No access outside any operand: A, B, C, D, the workspace and epilogue operands of every index
// stand against pages that may not be touched, once with the page before and once with the page
// after them, over sizes around the register tile, strides, types and instruction sets.
#include <gtest/gtest.h>

#include <vector>

#include "cpu/compiled_names.h"
#include "cpu/product_case.h"
#include "cpu/targets.h"
#include "tilewise/epilogue.h"

namespace tilewise::testing {
namespace {

constexpr const char* kEpilogue =
    "acc * scale + row[m] + column[n] + whole[m,n] + each[b,m,n] + c[m,n]";

double rounded(Type type, double value) {
  double storage = 0;
  write_element(type, &storage, 0, value);
  return read_element(type, &storage, 0);
}

// The operands of kEpilogue in guarded memory, their strides as padded as D's.
class GuardedOperands {
 public:
  GuardedOperands(Problem& problem, const ProductCase& p)
      : scale_(p.d, 1, 1, 1, {0, 0, 0}, p.side),
        row_(p.d, 1, p.m, 1, {p.layout_d.step, 0, 0}, p.side),
        column_(p.d, 1, 1, p.n, {0, p.layout_d.step, 0}, p.side),
        whole_(p.d, 1, p.m, p.n, make_strides(p.m, p.n, p.layout_d), p.side),
        each_(p.d, p.batch, p.m, p.n, make_strides(p.m, p.n, p.layout_a), p.side),
        c_(p.d, p.batch, p.m, p.n, problem.c, p.side) {
    problem.epilogue = parse_epilogue(kEpilogue).value();
    TestMatrix* const all[] = {&scale_, &row_, &column_, &whole_, &each_};
    int at = 0;
    const auto next = [&] { return at++ % 5 - 2; };
    for (std::size_t i = 0; i < std::size(all); ++i) {
      problem.epilogue.operands[i].type = p.d;
      problem.epilogue.operands[i].strides = all[i]->strides();
      if (!problem.epilogue.operands[i].index_b) problem.epilogue.operands[i].strides.batch = 0;
      all[i]->fill(next);
      pointers_[i] = all[i]->data();
    }
    c_.fill(next);
  }

  [[nodiscard]] const void* c() const { return c_.data(); }
  [[nodiscard]] std::span<const void* const> pointers() const { return pointers_; }
  [[nodiscard]] double apply(double acc, std::int64_t b, std::int64_t m, std::int64_t n) const {
    return acc * scale_.at(0, 0, 0) + row_.at(0, m, 0) + column_.at(0, 0, n) + whole_.at(0, m, n) +
           each_.at(b, m, n) + c_.at(b, m, n);
  }
  [[nodiscard]] bool intact() const {
    return scale_.gaps_intact() && row_.gaps_intact() && column_.gaps_intact() &&
           whole_.gaps_intact() && each_.gaps_intact() && c_.gaps_intact();
  }

 private:
  TestMatrix scale_, row_, column_, whole_, each_, c_;
  const void* pointers_[5] = {};
};

class GuardPagesOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cpu::is_supported(GetParam())) GTEST_SKIP() << "this CPU has no " << GetParam();
    kernels_ = *cpu::choose_target(GetParam());
  }

  void expect_inside(const ProductCase& p, bool with_epilogue, const Schedule* schedule) const {
    ProductData data(p);
    std::optional<GuardedOperands> operands;
    if (with_epilogue) operands.emplace(data.problem, p);
    const auto plan = prepare_cpu(data.problem, GetParam(), 1, schedule);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(plan->target(), GetParam());
    GuardedBuffer workspace(plan->workspace_bytes(), p.side);
    const auto done = plan->run(data.a.data(), data.b.data(), operands ? operands->c() : nullptr,
                                data.d.data(), operands ? operands->pointers() : no_operands_,
                                {workspace.data(), workspace.size()});
    ASSERT_TRUE(done) << done.error().message;
    check_product(p, data, [&](double acc, std::int64_t b, std::int64_t m, std::int64_t n) {
      return rounded(p.d, operands ? operands->apply(acc, b, m, n) : acc);
    });
    EXPECT_TRUE(workspace.canaries_intact()) << describe(p);
    EXPECT_TRUE(!operands || operands->intact()) << describe(p);
  }

  // Blocks of one register tile and a few steps of K, so that each level has edges.
  [[nodiscard]] Schedule small_blocks(std::int64_t mr, std::int64_t nr, Type type) const {
    Schedule s;
    s.name = "small";
    s.kernel = "packed";
    s.device = Device::cpu;
    s.compute = type == Type::f64 ? Compute::f64 : Compute::f32;
    s.tiles = {{.level = Level::nc, .m = 2 * mr, .n = nr},
               {.level = Level::kc, .k = 5},
               {.level = Level::mc, .m = mr},
               {.level = Level::register_tile, .m = mr, .n = nr}};
    return s;
  }

  void cover(Type inputs, Type output) const {
    const bool is_f64 = inputs == Type::f64;
    const std::int64_t mr = is_f64 ? kernels_->f64.mr : kernels_->f32.mr;
    const std::int64_t nr = is_f64 ? kernels_->f64.nr : kernels_->f32.nr;
    const Schedule small = small_blocks(mr, nr, inputs);
    const Layout layouts[] = {{}, {.column_major = true, .pad = 1}, {.pad = 3, .step = 2}};
    const std::int64_t sizes_k[] = {0, 1, 4, 17};
    std::size_t turn = 0;  // goes through the layouts, sizes of K and schedules
    for (const std::int64_t m :
         {std::int64_t{0}, std::int64_t{1}, mr - 1, mr, mr + 1, 2 * mr + 5}) {
      for (const std::int64_t n :
           {std::int64_t{0}, std::int64_t{1}, nr - 1, nr, nr + 1, std::int64_t{67}}) {
        for (std::size_t round = 0; round < 3; ++round, ++turn) {
          ProductCase p{.m = m, .n = n, .k = sizes_k[turn % 4], .batch = turn % 5 == 0 ? 2 : 1};
          p.a = p.b = inputs;
          p.d = output;
          p.layout_a = layouts[round];
          p.layout_b = layouts[(turn / 3) % 3];
          p.layout_d = layouts[(turn / 9) % 3];
          for (const Side side : {Side::front, Side::back}) {
            p.side = side;
            expect_inside(p, turn % 2 == 0, nullptr);
            expect_inside(p, turn % 2 == 1, &small);
            if (HasFatalFailure() || HasNonfatalFailure()) return;
          }
        }
      }
    }
  }

  const cpu::KernelTable* kernels_ = nullptr;
  static constexpr std::span<const void* const> no_operands_ = {};
};

TEST_P(GuardPagesOn, Float32) { cover(Type::f32, Type::f32); }
TEST_P(GuardPagesOn, Float64) { cover(Type::f64, Type::f64); }
TEST_P(GuardPagesOn, Bfloat16) { cover(Type::bf16, Type::bf16); }
TEST_P(GuardPagesOn, Float16) { cover(Type::f16, Type::f16); }
TEST_P(GuardPagesOn, Bfloat16ToFloat32) { cover(Type::bf16, Type::f32); }
TEST_P(GuardPagesOn, Float32ToFloat16) { cover(Type::f32, Type::f16); }
TEST_P(GuardPagesOn, Float64ToFloat32) { cover(Type::f64, Type::f32); }

INSTANTIATE_TEST_SUITE_P(Targets, GuardPagesOn, ::testing::ValuesIn(compiled_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tilewise::testing
