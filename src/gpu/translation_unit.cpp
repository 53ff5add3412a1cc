#include "gpu/translation_unit.h"

#include "gpu/generated_epilogue.h"

namespace tilewise::gpu {
namespace {

constexpr int kAlignedBytes = 16;

// One dimension is contiguous, and its rows start on multiples of 16 bytes.
bool is_aligned(const Strides& strides, Type type) {
  if (strides.column != 1 && strides.row != 1) return false;
  const std::int64_t across = strides.column == 1 ? strides.row : strides.column;
  const std::int64_t size = size_bytes(type);
  return across * size % kAlignedBytes == 0 && strides.batch * size % kAlignedBytes == 0;
}

void set_tile(int& m, int& n, int& k, const Schedule& schedule, Level level) {
  const Tile* tile = find_tile(schedule, level);
  if (tile == nullptr) return;
  m = static_cast<int>(tile->m);
  n = static_cast<int>(tile->n);
  k = static_cast<int>(tile->k);
}

void set_tiles(Constants& c, const Schedule& schedule) {
  set_tile(c.block_m, c.block_n, c.block_k, schedule, Level::block);
  set_tile(c.warp_m, c.warp_n, c.warp_k, schedule, Level::warp);
  set_tile(c.instruction_m, c.instruction_n, c.instruction_k, schedule, Level::instruction);
  int thread_k = 0;  // a thread's tile has no width along k
  set_tile(c.thread_m, c.thread_n, thread_k, schedule, Level::thread);
  if (const Tile* thread = find_tile(schedule, Level::thread)) {
    c.repeat_m = static_cast<int>(thread->repeat_m);
    c.repeat_n = static_cast<int>(thread->repeat_n);
  }
}

}  // namespace

bool has_aligned_strides(const Problem& problem) {
  return is_aligned(problem.a, problem.type_a) && is_aligned(problem.b, problem.type_b) &&
         is_aligned(problem.d, problem.type_d);
}

Constants make_constants(const Problem& problem, const Schedule& schedule, bool aligned_16) {
  Constants c;
  set_tiles(c, schedule);
  c.cluster_m = schedule.cluster.m;
  c.cluster_n = schedule.cluster.n;
  c.stages = schedule.stages;
  c.vector_global_bytes = schedule.vector_bytes.global;
  c.vector_shared_a_bytes = schedule.vector_bytes.shared_a;
  c.vector_shared_b_bytes = schedule.vector_bytes.shared_b;
  if (schedule.shared_layout.kind == SharedLayout::Kind::pad) {
    c.pad_elements = schedule.shared_layout.amount;
  } else if (schedule.shared_layout.kind == SharedLayout::Kind::swizzle) {
    c.swizzle_bytes = schedule.shared_layout.amount;
  }
  c.order = static_cast<int>(schedule.order.kind);
  c.order_group = schedule.order.group;
  c.order_axis = static_cast<int>(schedule.order.axis);
  c.split_k = schedule.split_k.ways;
  c.split_atomic = schedule.split_k.ways > 1 && schedule.split_k.reduce == SplitK::Reduce::atomic;
  c.stream_k = schedule.stream_k;
  c.persistent = schedule.persistent;
  c.ping_pong = schedule.consumers == Consumers::ping_pong;
  c.swap_ab = schedule.swap_ab;
  c.promote_every = schedule.promote_every;
  c.a_k_major = problem.a.column == 1;
  c.b_k_major = problem.b.column != 1 && problem.b.row == 1;
  c.aligned_16 = aligned_16 && has_aligned_strides(problem);
  c.d_bytes = size_bytes(problem.type_d);
  return c;
}

std::string print_constants(const Constants& constants) {
  const Constants defaults;
  std::string text;
  const auto add = [&](const char* name, auto value, auto default_value) {
    if (value == default_value) return;
    text += text.empty() ? "." : ", .";
    text += name;
    text += " = ";
    if constexpr (std::is_same_v<decltype(value), bool>) {
      text += value ? "true" : "false";
    } else {
      text += std::to_string(value);
    }
  };
#define TILEWISE_ADD(field) add(#field, constants.field, defaults.field)
  TILEWISE_ADD(cluster_m);
  TILEWISE_ADD(cluster_n);
  TILEWISE_ADD(block_m);
  TILEWISE_ADD(block_n);
  TILEWISE_ADD(block_k);
  TILEWISE_ADD(warp_m);
  TILEWISE_ADD(warp_n);
  TILEWISE_ADD(warp_k);
  TILEWISE_ADD(thread_m);
  TILEWISE_ADD(thread_n);
  TILEWISE_ADD(repeat_m);
  TILEWISE_ADD(repeat_n);
  TILEWISE_ADD(instruction_m);
  TILEWISE_ADD(instruction_n);
  TILEWISE_ADD(instruction_k);
  TILEWISE_ADD(stages);
  TILEWISE_ADD(vector_global_bytes);
  TILEWISE_ADD(vector_shared_a_bytes);
  TILEWISE_ADD(vector_shared_b_bytes);
  TILEWISE_ADD(pad_elements);
  TILEWISE_ADD(swizzle_bytes);
  TILEWISE_ADD(order);
  TILEWISE_ADD(order_group);
  TILEWISE_ADD(order_axis);
  TILEWISE_ADD(split_k);
  TILEWISE_ADD(split_atomic);
  TILEWISE_ADD(stream_k);
  TILEWISE_ADD(persistent);
  TILEWISE_ADD(ping_pong);
  TILEWISE_ADD(swap_ab);
  TILEWISE_ADD(promote_every);
  TILEWISE_ADD(a_k_major);
  TILEWISE_ADD(b_k_major);
  TILEWISE_ADD(aligned_16);
  TILEWISE_ADD(d_bytes);
#undef TILEWISE_ADD
  return "{" + text + "}";
}

std::string_view device_type(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
      return "float";
    case Type::bf16:
      return "bf16";
    case Type::f16:
      return "f16";
    case Type::f8e4m3:
      return "f8e4m3";
    case Type::f8e5m2:
      return "f8e5m2";
  }
  return "";
}

Result<TranslationUnit> write_translation_unit(const KernelFiles& files, const Problem& problem,
                                               const Schedule& schedule,
                                               const Constants& constants) {
  if (problem.type_a != problem.type_b) {
    return bad_request("problem: A is " + std::string(to_string(problem.type_a)) + " and B is " +
                       std::string(to_string(problem.type_b)) +
                       "; the GPU's kernels take one type for both");
  }
  auto file = find_kernel_file(files, schedule.kernel);
  if (!file) return std::unexpected(file.error());
  auto headers = include_closure(files, *file);
  if (!headers) return std::unexpected(headers.error());

  // The epilogue converts operands, and the unit names element types, whatever the kernel includes.
  for (const char* needed : {"parts/arguments.cuh", "parts/element.cuh", "parts/epilogue.cuh"}) {
    auto more = include_closure(files, needed);
    if (!more) return std::unexpected(more.error());
    for (NamedText& header : *more) {
      bool present = false;
      for (const NamedText& known : *headers) present |= known.name == header.name;
      if (!present) headers->push_back(std::move(header));
    }
  }

  const std::string& name = schedule.kernel;
  const bool bulk = schedule.copy == Copy::bulk;
  TranslationUnit unit;
  unit.source.name = name + ".cu";
  unit.source.text =
      "#include \"parts/arguments.cuh\"\n"
      "#include \"parts/element.cuh\"\n"
      "#include \"parts/epilogue.cuh\"\n"
      "#include \"" +
      *file +
      "\"\n\n"
      "namespace tilewise {\n\n"
      "constexpr Constants kSchedule" +
      print_constants(constants) + ";\n\n" + generated_epilogue(problem) +
      "\n"
      "extern \"C\" __device__ const LaunchInfo tilewise_launch = " +
      name +
      "_launch(kSchedule);\n\n"
      "extern \"C\" __global__ void __launch_bounds__(" +
      name +
      "_launch(kSchedule).threads,\n"
      "                                             " +
      name +
      "_launch(kSchedule).blocks_per_sm)\n"
      "tilewise_kernel(const __grid_constant__ KernelArguments arguments" +
      (bulk ? ",\n                const __grid_constant__ TensorMaps maps" : "") +
      ") {\n"
      "  " +
      name + "<kSchedule, " + std::string(device_type(problem.type_a)) +
      ", GeneratedEpilogue>(arguments" + (bulk ? ", maps" : "") +
      ");\n"
      "}\n\n"
      "}  // namespace tilewise\n";
  unit.headers = std::move(*headers);
  return unit;
}

}  // namespace tilewise::gpu
