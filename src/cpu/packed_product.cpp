#include "cpu/packed_product.h"

#include <algorithm>

#include "cpu/output.h"
#include "tilewise/count.h"

namespace tilewise::cpu {
namespace {

constexpr std::int64_t kCacheLine = 64;

std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

// Rounded up to whole cache lines, and to an odd number of them: buffers that follow each other
// then start in different cache sets. -1: too large.
std::int64_t buffer_bytes(Count elements, std::int64_t element_bytes) {
  const Count lines = ceil_div(elements * element_bytes, Count(kCacheLine));
  if (!(lines < Count(std::int64_t{1} << 56))) return -1;
  return (static_cast<std::int64_t>(lines.raw()) | 1) * kCacheLine;
}

const void* element(const void* base, Type type, std::int64_t offset) {
  return static_cast<const std::byte*>(base) + offset * size_bytes(type);
}

}  // namespace

// As they lie where the copies cost more than they save: a column of B, for which A is read once;
// and a small product, whose matrices stay in the nearest caches. They must have the accumulator's
// type, and rows of B, or of A beside a column, must be contiguous.
PackedProduct::Reading PackedProduct::choose_reading(const Problem& p, Type accumulator) {
  constexpr std::int64_t kLongest = 96;
  if (p.type_a != accumulator || p.type_b != accumulator) return Reading::packed;
  if (p.n == 1 && p.a.column == 1) return Reading::column;
  const bool small = p.m <= kLongest && p.n <= kLongest && p.k <= kLongest;
  return small && p.b.column == 1 ? Reading::in_place : Reading::packed;
}

PackedProduct::PackedProduct(const Problem& problem, const KernelTable& kernels,
                             const PackedTiles& tiles, bool columns_first, Type accumulator)
    : problem_(problem),
      kernels_(&kernels),
      tiles_(tiles),
      columns_first_(columns_first),
      accumulator_(accumulator),
      is_plain_(is_plain_output(problem, accumulator)),
      reading_(choose_reading(problem, accumulator)) {
  const bool is_f64 = accumulator == Type::f64;
  const std::int64_t mr = is_f64 ? kernels.f64.mr : kernels.f32.mr;
  const std::int64_t nr = is_f64 ? kernels.f64.nr : kernels.f32.nr;
  const std::int64_t bytes = size_bytes(accumulator);
  tasks_m_ = ceil_div(problem.m, tiles.task_m);
  tasks_n_ = ceil_div(problem.n, tiles.task_n);
  const Count tasks = Count(tasks_m_) * tasks_n_ * problem.batch;
  num_tasks_ = tasks < Count(INT64_MAX) ? static_cast<std::int64_t>(tasks.raw()) : -1;

  mc_panels_ = ceil_div(tiles.mc, mr);
  const std::int64_t task_panels = ceil_div(tiles.task_m, tiles.mc) * mc_panels_;
  const Count columns = Count(ceil_div(tiles.task_n, nr)) * nr;
  panel_b_bytes_ = buffer_bytes(columns * tiles.kc, bytes);
  partial_bytes_ = tiles.kc < problem.k ? buffer_bytes(columns * mr * task_panels, bytes) : 0;
  const std::int64_t block_a_bytes = buffer_bytes(Count(mc_panels_) * mr * tiles.kc, bytes);
  const bool too_large =
      num_tasks_ < 0 || panel_b_bytes_ < 0 || partial_bytes_ < 0 || block_a_bytes < 0;
  workspace_bytes_ = too_large ? -1 : panel_b_bytes_ + partial_bytes_ + block_a_bytes;
}

PackedProduct::Place PackedProduct::place_of(std::int64_t task) const {
  const std::int64_t batch = task / (tasks_m_ * tasks_n_);
  const std::int64_t tile = task % (tasks_m_ * tasks_n_);
  const std::int64_t i = columns_first_ ? tile % tasks_m_ : tile / tasks_n_;
  const std::int64_t j = columns_first_ ? tile / tasks_m_ : tile % tasks_n_;
  const std::int64_t m = i * tiles_.task_m;
  const std::int64_t n = j * tiles_.task_n;
  return {.batch = batch,
          .m = {m, std::min(tiles_.task_m, problem_.m - m)},
          .n = {n, std::min(tiles_.task_n, problem_.n - n)}};
}

void PackedProduct::run(std::int64_t task, const RunArguments& arguments,
                        std::byte* workspace) const {
  if (accumulator_ == Type::f64) {
    run_task(kernels_->f64, task, arguments, workspace);
  } else {
    run_task(kernels_->f32, task, arguments, workspace);
  }
}

// B's rows of this block of k, n columns from `source`: packed into panels, or as they lie but for
// the last columns that fill no register tile.
template <class T>
void PackedProduct::place_b(const Kernels<T>& kernels, const void* source, std::int64_t n,
                            T* panels, BlockArguments<T>& block) const {
  const std::int64_t whole = reading_ == Reading::in_place ? n / kernels.nr * kernels.nr : 0;
  if (reading_ != Reading::packed) block.b = static_cast<const T*>(source);
  if (reading_ == Reading::column || whole == n) return;
  kernels.pack_b[static_cast<int>(problem_.type_b)](
      {.source = element(source, problem_.type_b, whole * problem_.b.column),
       .across_stride = problem_.b.column,
       .along_stride = problem_.b.row,
       .across = n - whole,
       .along = block.k,
       .panels = panels});
}

template <class T>
void PackedProduct::run_task(const Kernels<T>& kernels, std::int64_t task,
                             const RunArguments& arguments, std::byte* workspace) const {
  const Problem& p = problem_;
  const auto [batch, m, n] = place_of(task);
  T* const panel_b = reinterpret_cast<T*>(workspace);                   // (kc, n)
  T* const partial = reinterpret_cast<T*>(workspace + panel_b_bytes_);  // (m, n) in tiles
  T* const block_a = reinterpret_cast<T*>(workspace + panel_b_bytes_ + partial_bytes_);  // (mc, kc)

  Output output{.problem = &p,
                .kernels = kernels_,
                .c = arguments.c,
                .d = arguments.d,
                .operands = arguments.operands.data(),
                .b = batch,
                .n0 = n.begin,
                .row_stride = kernels.nr};
  BlockArguments<T> block{
      .n = n.length, .a = block_a, .b = panel_b, .finish = &finish_tile<T>, .context = &output};
  const bool packed = reading_ == Reading::packed;
  const auto multiply = packed                          ? kernels.multiply
                        : reading_ == Reading::in_place ? kernels.multiply_in_place
                                                        : kernels.multiply_column;
  if (!packed) {
    block.a_row_stride = p.a.row;
    block.a_step = p.a.column;
    block.b_step = p.b.row;
    block.b_edge = panel_b;
  }
  block.partial_panel = ceil_div(m.length, tiles_.mc) * mc_panels_ * kernels.mr * kernels.nr;

  // K = 0 is one empty block: the sums are zero and the epilogue still runs.
  std::int64_t k0 = 0;
  do {
    block.k = std::min(tiles_.kc, p.k - k0);
    block.first = k0 == 0;
    block.last = k0 + block.k == p.k;
    if (block.k > 0) {
      place_b(kernels, element(arguments.b, p.type_b, offset_of(p.b, batch, k0, n.begin)), n.length,
              panel_b, block);
    }
    T* partial_block = partial;
    for (std::int64_t i = 0; i < m.length; i += tiles_.mc) {
      block.m = std::min(tiles_.mc, m.length - i);
      output.m0 = m.begin + i;
      if (block.k > 0 && !packed) {
        block.a = static_cast<const T*>(arguments.a) + offset_of(p.a, batch, m.begin + i, k0);
      } else if (block.k > 0) {
        kernels.pack_a[static_cast<int>(p.type_a)](
            {.source = element(arguments.a, p.type_a, offset_of(p.a, batch, m.begin + i, k0)),
             .across_stride = p.a.row,
             .along_stride = p.a.column,
             .across = block.m,
             .along = block.k,
             .panels = block_a});
      }
      block.partial = partial_block;
      if (is_plain_ && block.last) {
        block.d = static_cast<T*>(arguments.d) + offset_of(p.d, batch, output.m0, n.begin);
        block.d_row_stride = p.d.row;
      }
      multiply(block);
      partial_block += mc_panels_ * kernels.mr * kernels.nr;
    }
    k0 += block.k;
  } while (k0 < p.k);
}

}  // namespace tilewise::cpu
