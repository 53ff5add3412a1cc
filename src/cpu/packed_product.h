// The packed product of GotoBLAS: five loops around a register tile, panels of A and B packed for
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernel_table.h"
#include "cpu/packed_schedule.h"
#include "plan/plan_implementation.h"
#include "tilewise/problem.h"

namespace tilewise::cpu {

// A task is one tile of the outermost level: a thread computes it from its own panels, waits for no
// other thread, and writes no element that another writes. So bits depend neither on the number of
// threads nor on which thread takes which task.
class PackedProduct {
 public:
  PackedProduct(const Problem& problem, const KernelTable& kernels, const PackedTiles& tiles,
                bool columns_first, Type accumulator);

  [[nodiscard]] std::int64_t num_tasks() const { return num_tasks_; }

  // Memory that one thread works in, a multiple of 64. -1: more than 2^62 bytes.
  [[nodiscard]] std::int64_t workspace_bytes() const { return workspace_bytes_; }

  // task in [0, num_tasks()). workspace: 64-byte aligned, used by this thread alone.
  void run(std::int64_t task, const RunArguments& arguments, std::byte* workspace) const;

 private:
  template <class T>
  void run_task(const Kernels<T>& kernels, std::int64_t task, const RunArguments& arguments,
                std::byte* workspace) const;

  // How A and B are read: copied into panels, or as they lie; a column of B by a tile of its own.
  enum class Reading { packed, in_place, column };
  [[nodiscard]] static Reading choose_reading(const Problem& problem, Type accumulator);

  template <class T>
  void place_b(const Kernels<T>& kernels, const void* source, std::int64_t n, T* panels,
               BlockArguments<T>& block) const;

  struct Range {
    std::int64_t begin, length;
  };
  struct Place {
    std::int64_t batch;
    Range m, n;
  };
  [[nodiscard]] Place place_of(std::int64_t task) const;

  Problem problem_;
  const KernelTable* kernels_;
  PackedTiles tiles_;
  bool columns_first_;
  Type accumulator_;
  bool is_plain_;
  Reading reading_;
  std::int64_t tasks_m_, tasks_n_, num_tasks_;
  std::int64_t mc_panels_;  // of a whole mc block
  std::int64_t panel_b_bytes_, partial_bytes_, workspace_bytes_;
};

}  // namespace tilewise::cpu
