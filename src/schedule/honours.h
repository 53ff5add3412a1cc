// Which schedule fields a kernel reads: its `// Honours` line. A schedule that sets any other is
// refused, so that no field is silently ignored. Also compiled to WebAssembly: the explorer refuses
// what a run refuses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/kernel_header.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// A field that a schedule sets: its name in JSON, and the words by which an Honours line may name
// it.
struct SetField {
  std::string name;   // "split_k"
  std::string value;  // "4 ways"
  std::vector<std::string> words;
};

// The fields of a schedule that are not at their defaults.
[[nodiscard]] std::vector<SetField> set_fields(const Schedule& schedule);

// Whether an Honours line names a field by one of its words.
[[nodiscard]] bool honours(std::string_view line, const SetField& field);

// The element types that a kernel multiplies, by its `// Needs` line: those it names (float32 or
// f32, bf16, f16, e4m3, e5m2, float64), bf16 and f16 where it names none.
[[nodiscard]] std::vector<Type> kernel_types(std::string_view needs_line);

// Of those, the types that a schedule of that kernel multiplies: on tensor cores float32 is
// multiplied as tf32 alone, and by a schedule whose compute is tf32, which multiplies nothing else.
[[nodiscard]] std::vector<Type> schedule_types(const Schedule& schedule,
                                               std::string_view needs_line);

// A kernel that multiplies the problem's types and takes its strides, on an architecture that has
// its instructions. Error: the type or the architecture, and the kernels that take it; the stride,
// and a schedule that takes any.
[[nodiscard]] Result<void> check_needs(const KernelFiles& files, const Problem& problem,
                                       const Schedule& schedule, std::string_view architecture);

// Bytes that the bases of A and B must be multiples of, by a kernel's Needs line ("bases of 32
// bytes"); 1 where it says nothing (what bulk copies need is in tensor_maps.h).
[[nodiscard]] int needed_base_bytes(std::string_view needs_line);

// A field is accepted if the kernel's file honours it, or if one of `named` schedules of the same
// kernel sets it to the same value (what the kernel always does); the line's conditions hold
// ("stages (2 or more)"), its levels have tiles, and these are whole. Error: the field, its value,
// and the kernels that have it.
[[nodiscard]] Result<void> check_honoured(const KernelFiles& files, const Schedule& schedule,
                                          std::span<const Schedule> named);

// Each of these levels has a tile of m x n, those of a block and an instruction of m x n x k, none
// of them 0. Error: the level, its tile and the kernel.
[[nodiscard]] Result<void> check_has_tiles(const Schedule& schedule, std::span<const Level> levels);

// Tiles divide those around them, and 32 thread tiles fill a warp tile. Counting elements clips
// tiles at every level and needs none of it; kernels do.
[[nodiscard]] Result<void> check_whole_tiles(const Schedule& schedule);

// The first kernel, in the order of the ladder, that takes the problem and every field, whatever
// kernel the schedule names. Error: the refusal of the kernel that comes nearest.
[[nodiscard]] Result<std::string> kernel_that_runs(const KernelFiles& files, const Problem& problem,
                                                   const Schedule& schedule,
                                                   std::string_view architecture,
                                                   std::span<const Schedule> named);

}  // namespace tilewise
