#include "gpu/product_case.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "gpu/kernel_files.h"
#include "schedule/honours.h"

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kAlignedBytes = 16;
constexpr std::int64_t kBaseBytes = 32;
constexpr int kShownMistakes = 4;

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
  if (batch > 1) {
    strides.batch = pitch * std::max<std::int64_t>(outer, 1);
    // Every matrix starts as its base does: rung 11 needs multiples of 32 bytes.
    const std::int64_t whole_base = kBaseBytes / size;
    if (alignment_bytes > 0) {
      strides.batch = (strides.batch + whole_base - 1) / whole_base * whole_base;
    }
  }
  return strides;
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

Result<DeviceBuffer> upload(const HostMatrix& matrix) {
  auto buffer = DeviceBuffer::allocate(matrix.bytes.size());
  if (!buffer) return buffer;
  if (auto ok = buffer->copy_from_host(matrix.bytes.data(), matrix.bytes.size()); !ok) {
    return std::unexpected(ok.error());
  }
  return buffer;
}

// Lines of contiguous elements alone, so that reads between them are reads of nothing.
Result<DeviceBuffer> upload_elements(const HostMatrix& matrix, const Strides& s, std::int64_t rows,
                                     std::int64_t columns, std::int64_t batch, int size) {
  auto buffer = DeviceBuffer::allocate(matrix.bytes.size());
  if (!buffer) return buffer;
  const bool row_major = s.column == 1;
  const std::int64_t lines = row_major ? rows : columns, length = row_major ? columns : rows;
  const std::int64_t pitch = row_major ? s.row : s.column;
  for (std::int64_t i = 0; i < batch * lines && length > 0; ++i) {
    const std::int64_t first = matrix.first + (i / lines * s.batch + i % lines * pitch) * size;
    if (auto ok = buffer->copy_from_host(matrix.bytes.data() + first,
                                         static_cast<std::size_t>(length * size),
                                         static_cast<std::size_t>(first));
        !ok) {
      return std::unexpected(ok.error());
    }
  }
  return buffer;
}

}  // namespace

Result<RungNeeds> rung_needs(const Schedule& schedule) {
  const auto files = kernel_files();
  if (!files) return std::unexpected(files.error());
  const auto file = find_kernel_file(*files, schedule.kernel);
  if (!file) return std::unexpected(file.error());
  const std::string line = header_line(files->at(*file), "Needs");
  RungNeeds needs;
  needs.types = schedule_types(schedule, line);
  needs.any_strides = line.find("any strides") != std::string::npos;
  needs.hopper = line.find("sm_90a") != std::string::npos;
  if (line.find("bases of 32 bytes") != std::string::npos) needs.base_bytes = 32;
  return needs;
}

Problem make_case(const Shape& shape, const Layout& layout, Type type, const Schedule& schedule,
                  bool aligned) {
  const std::int64_t alignment = aligned ? kAlignedBytes : 0;
  Problem p = make_problem(shape.m, shape.n, shape.k, type);
  p.type_c = p.type_d = size_bytes(type) == 1 ? Type::bf16 : type;
  p.compute = schedule.compute;
  p.batch = layout.batch;
  p.a = strides_of(p.m, p.k, p.batch, layout.transpose_a, layout, type, alignment);
  p.b = strides_of(p.k, p.n, p.batch, layout.transpose_b, layout, type, alignment);
  p.d = strides_of(p.m, p.n, p.batch, false, layout, p.type_d, 0);
  p.c = p.d;
  return p;
}

Result<CaseOperands> CaseOperands::create(const Problem& p, const Layout& layout,
                                          bool elements_only) {
  const auto offset = [&](Type type) {
    return whole(layout.offset_bytes, size_bytes(type)) * size_bytes(type);
  };
  CaseOperands o(p, {p.a, p.m, p.k, p.batch, p.type_a, offset(p.type_a)},
                 {p.b, p.k, p.n, p.batch, p.type_b, offset(p.type_b)},
                 {p.d, p.m, p.n, p.batch, p.type_d, offset(p.type_d)});
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t m = 0; m < p.m; ++m)
        o.a_.set(at(p.a, b, m, k), p.type_a, integer_a(b, m, k));
      for (std::int64_t n = 0; n < p.n; ++n)
        o.b_.set(at(p.b, b, k, n), p.type_b, integer_b(b, k, n));
    }
  }
  // Line by line, so where there are few.
  constexpr std::int64_t kMostLines = 40;
  elements_only = elements_only && std::max({p.m, p.n, p.k}) <= kMostLines;
  auto a = elements_only ? upload_elements(o.a_, p.a, p.m, p.k, p.batch, size_bytes(p.type_a))
                         : upload(o.a_);
  if (!a) return std::unexpected(a.error());
  auto b = elements_only ? upload_elements(o.b_, p.b, p.k, p.n, p.batch, size_bytes(p.type_b))
                         : upload(o.b_);
  if (!b) return std::unexpected(b.error());
  auto d = upload(o.d_);
  if (!d) return std::unexpected(d.error());
  o.device_a_ = std::move(*a);
  o.device_b_ = std::move(*b);
  o.device_d_ = std::move(*d);
  return o;
}

RunArguments CaseOperands::arguments() const {
  RunArguments arguments;
  arguments.a = static_cast<char*>(device_a_.data()) + a_.first;
  arguments.b = static_cast<char*>(device_b_.data()) + b_.first;
  arguments.d = static_cast<char*>(device_d_.data()) + d_.first;
  return arguments;
}

Result<bool> CaseOperands::untouched() const {
  std::vector<unsigned char> result(d_.bytes.size());
  if (auto ok = device_d_.copy_to_host(result.data(), result.size()); !ok) {
    return std::unexpected(ok.error());
  }
  return result == d_.bytes;
}

Result<std::string> CaseOperands::find_mistakes() const {
  const Problem& p = problem_;
  HostMatrix expected = d_, got = d_;
  if (auto ok = device_d_.copy_to_host(got.bytes.data(), got.bytes.size()); !ok) {
    return std::unexpected(ok.error());
  }
  const std::vector<std::int64_t>& sums = expected_of(p);
  const auto place = [&](std::int64_t i) {
    return at(p.d, i / (p.m * p.n), i / p.n % p.m, i % p.n);
  };
  for (std::int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    expected.set(place(i), p.type_d, static_cast<double>(sums[static_cast<std::size_t>(i)]));
  }
  if (got.bytes == expected.bytes) return std::string();
  std::ostringstream text;
  int shown = 0;
  for (std::int64_t i = 0; i < p.batch * p.m * p.n && shown < kShownMistakes; ++i) {
    if (got.get(place(i), p.type_d) == expected.get(place(i), p.type_d)) continue;
    text << (shown == 0 ? "" : "; ") << "d[" << i / (p.m * p.n) << ", " << i / p.n % p.m << ", "
         << i % p.n << "] has bits " << std::hex << got.get(place(i), p.type_d) << ", expected "
         << expected.get(place(i), p.type_d) << std::dec;
    ++shown;
  }
  return shown == 0 ? "bytes outside D were written" : text.str();
}

Result<std::string> run_case(const Problem& p, const Schedule& schedule, const Layout& layout,
                             bool elements_only) {
  const auto plan = make_plan(p, &schedule);
  if (!plan) return std::unexpected(plan.error());
  if ((*plan)->description().schedule.name != schedule.name) {
    return "schedule \"" + (*plan)->description().schedule.name + "\" ran in the place of \"" +
           schedule.name + "\"";
  }
  const auto operands = CaseOperands::create(p, layout, elements_only);
  if (!operands) return std::unexpected(operands.error());
  if (p.m > 0 && p.n > 0) {
    if (auto ok = (*plan)->run(operands->arguments()); !ok) return std::unexpected(ok.error());
  }
  return operands->find_mistakes();
}

}  // namespace tilewise::gpu
