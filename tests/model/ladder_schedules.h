// The named schedules that the model's tests speak of, written out, so that a change of a JSON file
// does not change what a test means.
#pragma once

#include "tilewise/machine.h"
#include "tilewise/schedule.h"

namespace tilewise {

inline Schedule naive_schedule(const char* kernel) {
  Schedule s;
  s.name = s.kernel = kernel;
  s.tiles = {{Level::thread, 1, 1, 0, 1, 1}};
  return s;
}

inline Schedule lanes_schedule(const char* kernel, std::int64_t block, std::int64_t k,
                               std::int64_t thread_m, std::int64_t thread_n, int vector_bytes = 4) {
  Schedule s;
  s.name = s.kernel = kernel;
  s.tiles = {{Level::block, block, block, k, 1, 1}, {Level::thread, thread_m, thread_n, 0, 1, 1}};
  s.vector_bytes = {vector_bytes, vector_bytes, vector_bytes};
  return s;
}

inline Schedule mma_schedule() {
  Schedule s;
  s.name = s.kernel = "mma";
  s.tiles = {{Level::block, 128, 256, 32, 1, 1},
             {Level::warp, 64, 64, 0, 1, 1},
             {Level::instruction, 16, 8, 16, 1, 1}};
  s.stages = 4;
  s.copy = Copy::cp_async;
  s.vector_bytes = {16, 16, 16};
  s.shared_layout = {SharedLayout::Kind::swizzle, 64};
  return s;
}

inline Schedule wgmma_pipeline_schedule() {
  Schedule s;
  s.name = s.kernel = "wgmma_pipeline";
  s.tiles = {{Level::block, 128, 256, 64, 1, 1}, {Level::instruction, 64, 256, 16, 1, 1}};
  s.cluster = {2, 1};
  s.stages = 4;
  s.copy = Copy::bulk;
  s.shared_layout = {SharedLayout::Kind::swizzle, 128};
  s.order = {Order::Kind::grouped, 8, Order::Axis::m};
  s.persistent = true;
  return s;
}

// Round figures of one H200, so that expected values can be worked out by hand.
inline Machine test_h200() {
  Machine machine;
  machine.name = "h200";
  machine.device = Device::gpu;
  machine.architecture = "sm_90a";
  machine.num_units = 132;
  machine.boost_mhz = {1980, "test"};
  machine.memory = {{"dram", {141e9, "test"}, {4800, "test"}, {}, "device"},
                    {"l2", {62914560, "test"}, {8300, "test"}, {}, "device"},
                    {"l2_partition", {31457280, "test"}, {}, {}, "device"},
                    {"shared", {233472, "test"}, {33454.08, "test"}, {}, "sm"},
                    {"registers", {262144, "test"}, {}, {}, "sm"}};
  machine.peaks = {{"f32", {66.9, "test"}, {}},
                   {"tf32", {494.7, "test"}, {}},
                   {"bf16", {989.4, "test"}, {}},
                   {"f8", {1978.9, "test"}, {}}};
  machine.limits = {233472, 232448, 1024, 65536, 255, 1024, 64, 32};
  return machine;
}

}  // namespace tilewise
