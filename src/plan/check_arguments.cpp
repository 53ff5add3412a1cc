#include "plan/check_arguments.h"

#include <array>
#include <cstdint>
#include <string>

#include "tilewise/epilogue.h"

namespace tilewise {
namespace {

Region make_region(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t batch,
                   const Strides& strides, Type type) {
  const std::int64_t bytes = size_bytes(type);
  Region region{.data = data, .rows = rows, .columns = columns, .batch = batch};
  // The stride of a dimension of one element says nothing.
  region.row_bytes = rows > 1 ? strides.row * bytes : 0;
  region.column_bytes = columns > 1 ? strides.column * bytes : 0;
  region.batch_bytes = batch > 1 ? strides.batch * bytes : 0;
  region.element_bytes = bytes;
  return region;
}

bool is_empty(const Region& r) { return r.rows == 0 || r.columns == 0 || r.batch == 0; }

std::uintptr_t begin_of(const Region& r) { return reinterpret_cast<std::uintptr_t>(r.data); }

std::uintptr_t end_of(const Region& r) {
  return begin_of(r) +
         static_cast<std::uintptr_t>((r.rows - 1) * r.row_bytes + (r.columns - 1) * r.column_bytes +
                                     (r.batch - 1) * r.batch_bytes + r.element_bytes);
}

// A matrix of the region as lines of `width` adjacent bytes, `pitch` apart (0: one line); width 0
// where it is not of that form.
struct Lines {
  std::int64_t pitch = 0;
  std::int64_t width = 0;
};

Lines lines_of(const Region& r) {
  Lines lines;
  if (r.columns == 1 || r.column_bytes == r.element_bytes) {
    lines = {r.row_bytes, r.columns * r.element_bytes};
  } else if (r.rows == 1 || r.row_bytes == r.element_bytes) {
    lines = {r.column_bytes, r.rows * r.element_bytes};
  }
  return lines;
}

// Three ways to see a region as such lines: batches a whole number of pitches apart; all batches
// beside each other inside the pitch, gaps included; a line a batch, and rows whole lines apart.
std::array<Lines, 3> views_of(const Region& r) {
  const Lines lines = lines_of(r);
  std::array<Lines, 3> views = {};
  if (lines.width == 0) return views;
  if (lines.pitch > 0 && r.batch_bytes % lines.pitch == 0) views[0] = lines;
  const std::int64_t all = (r.batch - 1) * r.batch_bytes + lines.width;
  if (lines.pitch > 0 && all <= lines.pitch) views[1] = {lines.pitch, all};
  if (r.batch_bytes > 0 && lines.pitch % r.batch_bytes == 0 && lines.width <= r.batch_bytes) {
    views[2] = {r.batch_bytes, lines.width};
  }
  return views;
}

bool are_apart(const Region& x, Lines lx, const Region& y, Lines ly) {
  if (lx.pitch <= 0 || lx.pitch != ly.pitch) return false;
  const auto pitch = static_cast<std::uintptr_t>(lx.pitch);
  // Where a line of y starts inside the pitch, counted from a line of x.
  const std::uintptr_t offset = (begin_of(y) % pitch + pitch - begin_of(x) % pitch) % pitch;
  return static_cast<std::int64_t>(offset) >= lx.width &&
         static_cast<std::int64_t>(offset) + ly.width <= lx.pitch;
}

bool lines_interleave(const Region& x, const Region& y) {
  for (const Lines lx : views_of(x)) {
    for (const Lines ly : views_of(y)) {
      if (are_apart(x, lx, y, ly)) return true;
    }
  }
  return false;
}

bool reads_operand(const Epilogue& epilogue, int index) {
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto& instruction = epilogue.instructions[static_cast<std::size_t>(i)];
    if (instruction.op == EpilogueOp::operand && instruction.argument == index) return true;
  }
  return false;
}

Result<void> check_pointer(const char* name, const void* pointer, Type type) {
  if (pointer == nullptr) {
    return bad_request("run: " + std::string(name) +
                       " is null, but the product needs it; pass its first element");
  }
  const auto bytes = static_cast<std::uintptr_t>(size_bytes(type));
  if (reinterpret_cast<std::uintptr_t>(pointer) % bytes != 0) {
    return bad_request("run: the address of " + std::string(name) + " is not a multiple of " +
                       std::to_string(bytes) + " bytes, the size of its " +
                       std::string(to_string(type)) + " elements; align it");
  }
  return {};
}

Result<void> check_overlap(const Region& d, const Region& other, const std::string& name,
                           bool may_be_exact) {
  const Overlap overlap = find_overlap(d, other);
  if (overlap == Overlap::none || (overlap == Overlap::exact && may_be_exact)) return {};
  const std::string way_out =
      may_be_exact
          ? "it may be exactly " + name + " (same address, strides and type) or apart from it"
          : "give D memory of its own";
  return bad_request("run: D overlaps " + name + " in memory; " + way_out);
}

Result<void> check_operands(const Problem& p, const RunArguments& arguments, const Region& d) {
  const Epilogue& epilogue = p.epilogue;
  if (static_cast<int>(arguments.operands.size()) < epilogue.num_operands) {
    return bad_request("run: " + std::to_string(arguments.operands.size()) +
                       " operands are given, but the epilogue names " +
                       std::to_string(epilogue.num_operands) +
                       "; pass one pointer for each, in the order of its names");
  }
  for (int i = 0; i < epilogue.num_operands; ++i) {
    if (!reads_operand(epilogue, i)) continue;
    const EpilogueOperand& operand = epilogue.operands[static_cast<std::size_t>(i)];
    const void* data = arguments.operands[static_cast<std::size_t>(i)];
    const std::string name = "operand " + std::string(operand.name_view());
    if (auto ok = check_pointer(name.c_str(), data, operand.type); !ok) return ok;
    // An absent index stands for one line that all outputs share.
    const Region region = make_region(data, operand.index_m ? p.m : 1, operand.index_n ? p.n : 1,
                                      operand.index_b ? p.batch : 1, operand.strides, operand.type);
    const bool same_type = operand.type == p.type_d;
    if (auto ok = check_overlap(d, region, name, operand.index_m && operand.index_n && same_type);
        !ok) {
      return ok;
    }
  }
  return {};
}

}  // namespace

Overlap find_overlap(const Region& x, const Region& y) {
  if (is_empty(x) || is_empty(y)) return Overlap::none;
  if (end_of(x) <= begin_of(y) || end_of(y) <= begin_of(x)) return Overlap::none;
  const bool same_shape = x.rows == y.rows && x.columns == y.columns && x.batch == y.batch;
  const bool same_strides = x.row_bytes == y.row_bytes && x.column_bytes == y.column_bytes &&
                            x.batch_bytes == y.batch_bytes;
  if (x.data == y.data && same_shape && same_strides && x.element_bytes == y.element_bytes) {
    return Overlap::exact;
  }
  return lines_interleave(x, y) ? Overlap::none : Overlap::partial;
}

Result<void> check_arguments(const Problem& p, std::size_t workspace_bytes,
                             const RunArguments& arguments) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return {};  // nothing is read or written
  if (auto ok = check_pointer("D", arguments.d, p.type_d); !ok) return ok;
  const Region d = make_region(arguments.d, p.m, p.n, p.batch, p.d, p.type_d);
  if (p.k > 0) {
    if (auto ok = check_pointer("A", arguments.a, p.type_a); !ok) return ok;
    if (auto ok = check_pointer("B", arguments.b, p.type_b); !ok) return ok;
    const Region a = make_region(arguments.a, p.m, p.k, p.batch, p.a, p.type_a);
    const Region b = make_region(arguments.b, p.k, p.n, p.batch, p.b, p.type_b);
    if (auto ok = check_overlap(d, a, "A", false); !ok) return ok;
    if (auto ok = check_overlap(d, b, "B", false); !ok) return ok;
  }
  if (p.epilogue.reads_c()) {
    if (auto ok = check_pointer("C", arguments.c, p.type_c); !ok) return ok;
    const Region c = make_region(arguments.c, p.m, p.n, p.batch, p.c, p.type_c);
    if (auto ok = check_overlap(d, c, "C", p.type_c == p.type_d); !ok) return ok;
  }
  if (auto ok = check_operands(p, arguments, d); !ok) return ok;
  if (!arguments.workspace.empty() && arguments.workspace.size() < workspace_bytes) {
    return bad_request("run: the workspace has " + std::to_string(arguments.workspace.size()) +
                       " bytes, but the plan needs " + std::to_string(workspace_bytes) +
                       "; pass that many, or none to use the plan's own");
  }
  return {};
}

}  // namespace tilewise
