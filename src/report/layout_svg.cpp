#include "report/layout_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "io/svg.h"
#include "model/float_rung.h"
#include "model/rung_tiles.h"
#include "parts/fragment.cuh"
#include "parts/operand_layout.cuh"
#include "parts/swizzle.cuh"

namespace tilewise {
namespace {

constexpr double kCellWidth = 28, kCellHeight = 16, kLeft = 70, kTop = 58;
constexpr int kLines = 8;

constexpr std::string_view kPlain = "fill:#f3f5f7;stroke:#c3ccd5;stroke-width:0.5";
constexpr std::string_view kEmpty = "fill:#ffffff;stroke:#e3e8ec;stroke-width:0.5";
constexpr std::string_view kReadA = "fill:#9cc3ee;stroke:#1f5fa8;stroke-width:0.5";
constexpr std::string_view kReadB = "fill:#f5c26b;stroke:#8a5a00;stroke-width:0.5";
constexpr std::string_view kSmall = "font-size:8px";
constexpr std::string_view kHead = "font-size:13px;font-weight:bold";
constexpr std::string_view kNote = "font-size:10px;fill:#444444";

// One place in a line of memory.
struct Place {
  std::string element;  // "" where nothing lies
  bool read = false;    // by the first warp, in its first read
};

// Lines of memory, one below the other.
struct Picture {
  std::string title, note;
  std::string column;  // what the places of a line are: "bank", "16 bytes"
  int columns = 32;
  double width = kCellWidth;  // of a place
  std::vector<std::string> line_names;
  std::vector<std::vector<Place>> lines;
  std::string_view colour = kReadA;
};

double height_of(const Picture& p) {
  return kTop + static_cast<double>(p.lines.size()) * kCellHeight + 12;
}

void draw(Svg& svg, const Picture& p, double y) {
  svg.text(kLeft, y + 18, p.title, "start", kHead);
  svg.text(kLeft, y + 33, p.note, "start", kNote);
  for (int i = 0; i < p.columns; ++i) {
    if (p.columns > 16 && i % 4 != 0) continue;
    svg.text(kLeft + (i + 0.5) * p.width, y + kTop - 6, fmt::format("{} {}", p.column, i), "middle",
             kSmall);
  }
  for (std::size_t line = 0; line < p.lines.size(); ++line) {
    const double top = y + kTop + static_cast<double>(line) * kCellHeight;
    svg.text(kLeft - 6, top + kCellHeight - 5, p.line_names[line], "end", kSmall);
    for (std::size_t i = 0; i < p.lines[line].size(); ++i) {
      const Place& place = p.lines[line][i];
      const double left = kLeft + static_cast<double>(i) * p.width;
      svg.rectangle(left, top, p.width, kCellHeight,
                    place.element.empty() ? kEmpty
                    : place.read          ? p.colour
                                          : kPlain);
      svg.text(left + p.width / 2, top + kCellHeight - 5, place.element, "middle", kSmall);
    }
  }
}

std::string drawing(const std::string& title, const std::vector<Picture>& pictures) {
  double width = 0, height = 34;
  for (const Picture& p : pictures) {
    width = std::max(width, kLeft + p.columns * p.width + 20);
    height += height_of(p);
  }
  Svg svg(static_cast<int>(width), static_cast<int>(height));
  svg.text(16, 22, title, "start", "font-size:15px;font-weight:bold");
  double y = 34;
  for (const Picture& p : pictures) {
    draw(svg, p, y);
    y += height_of(p);
  }
  return std::move(svg).finish();
}

// `lines` lines of `columns` places of `bytes` bytes, empty.
Picture shared_picture(int lines, int columns, int bytes) {
  Picture p;
  p.columns = columns;
  p.lines.assign(static_cast<std::size_t>(lines),
                 std::vector<Place>(static_cast<std::size_t>(columns)));
  for (int i = 0; i < lines; ++i) p.line_names.push_back(fmt::format("{} B", i * columns * bytes));
  return p;
}

Place* place_at(Picture& p, int offset, int bytes) {
  const auto index = static_cast<std::size_t>(offset / bytes);
  const auto columns = static_cast<std::size_t>(p.columns);
  return index / columns < p.lines.size() ? &p.lines[index / columns][index % columns] : nullptr;
}

// Rungs 03 to 10.
Picture float_picture(const FloatRung& rung, bool is_a) {
  const SharedTile& tile = is_a ? rung.tile_a : rung.tile_b;
  const FragmentLayout& fragment = is_a ? rung.fragment_a : rung.fragment_b;
  Picture p = shared_picture(kLines, kSharedBanks, kSharedBankBytes);
  p.column = "bank";
  p.colour = is_a ? kReadA : kReadB;
  for (int k = 0; k < tile.k; ++k) {
    for (int x = 0; x < tile.x; ++x) {
      Place* place = place_at(p, 4 * tile.offset(k, x), kSharedBankBytes);
      if (place != nullptr) place->element = fmt::format("{},{}", k, x);
    }
  }
  std::vector<int> starts;
  for (int lane = 0; lane < kWarpThreads; ++lane) {
    const MN first = rung.first(lane);
    const int x = is_a ? first.m : first.n;
    if (std::ranges::find(starts, x) == starts.end()) starts.push_back(x);
    for (int j = 0; j < fragment.width; ++j) {
      Place* place = place_at(p, 4 * tile.offset(0, x + j), kSharedBankBytes);
      if (place != nullptr) place->read = true;
    }
  }
  p.title = fmt::format("{} in shared memory: (k, {}), {} x {}", is_a ? "A" : "B", is_a ? "m" : "n",
                        tile.k, tile.x);
  p.note = fmt::format(
      "coloured: what the first warp reads at k = 0 in one instruction of {} "
      "bytes a lane; {} different addresses",
      4 * fragment.width, starts.size());
  return p;
}

// Rung 12: which 16 bytes lie where, and what the first ldmatrix reads.
Picture operand_picture(const Schedule& s, Role role) {
  const Tile block = *find_tile(s, Level::block), warp = *find_tile(s, Level::warp);
  const bool a = role == Role::a;
  const int size = s.compute == Compute::tf32 ? 4 : 2;
  const OperandLayout layout{
      role,
      a,  // layout nn: A along k, B along n
      static_cast<int>(a ? block.m : block.n),
      static_cast<int>(block.k),
      s.shared_layout.kind == SharedLayout::Kind::pad ? s.shared_layout.amount : 0,
      s.shared_layout.kind == SharedLayout::Kind::swizzle ? s.shared_layout.amount : 0,
      static_cast<int>(block.m / warp.m * (block.n / warp.n)) * kWarpLanes,
      size};
  Picture p = shared_picture(kLines, kSwizzleLineBytes / kSwizzleChunkBytes, kSwizzleChunkBytes);
  p.width = 3 * kCellWidth;
  p.column = "16 bytes";
  p.colour = a ? kReadA : kReadB;
  for (int i = 0; i < layout.pieces() * layout.threads; ++i) {
    const OperandLayout::Piece piece = layout.piece(i);
    Place* place = place_at(p, piece.offset, kSwizzleChunkBytes);
    if (place == nullptr) continue;
    const int first = a ? piece.k : piece.x;
    place->element =
        a ? fmt::format("m {}, k {} to {}", piece.x, first, first + layout.chunk() - 1)
          : fmt::format("k {}, n {} to {}", piece.k, first, first + layout.chunk() - 1);
  }
  for (int lane = 0; lane < 8; ++lane) {  // the first of the four 8 x 8 matrices
    Place* place = place_at(p, layout.lane_offset(0, lane), kSwizzleChunkBytes);
    if (place != nullptr) place->read = true;
  }
  p.title = fmt::format("{} in shared memory, layout nn: {} bytes an element", a ? "A" : "B", size);
  p.note =
      "coloured: the eight rows of the first 8 x 8 matrix of ldmatrix, one a line, in eight "
      "different columns";
  return p;
}

// Rungs 13 to 15: lines of 128 bytes under the 128-byte swizzle, as the bulk copy writes them.
Picture bulk_picture(const Schedule& s, bool a) {
  const Tile block = *find_tile(s, Level::block), instruction = *find_tile(s, Level::instruction);
  const int size = static_cast<int>(32 / instruction.k), chunk = kSwizzleChunkBytes / size;
  Picture p = shared_picture(kLines, kSwizzleLineBytes / kSwizzleChunkBytes, kSwizzleChunkBytes);
  p.width = 3 * kCellWidth;
  p.column = "16 bytes";
  p.colour = a ? kReadA : kReadB;
  const char* name = a ? "m" : "n";
  for (int line = 0; line < kLines; ++line) {
    for (int i = 0; i < p.columns; ++i) {
      const int offset = line * kSwizzleLineBytes + i * kSwizzleChunkBytes;
      Place* place = place_at(p, swizzle(kSwizzleLineBytes, offset), kSwizzleChunkBytes);
      place->element = fmt::format("{} {}, k {} to {}", name, line, i * chunk, (i + 1) * chunk - 1);
      place->read = i < 2;
    }
  }
  p.title = fmt::format("{} in a stage of shared memory, along K: {} lines of {} elements",
                        a ? "A" : "B", a ? block.m : block.n, block.k);
  p.note = fmt::format(
      "coloured: k 0 to {}, what the first instruction of the stage reads of these "
      "lines",
      instruction.k - 1);
  return p;
}

// A part of a matrix in global memory, by lines; touched(line, column).
Picture global_picture(const std::string& title, const std::string& note, int lines, int columns,
                       const std::function<std::string(int, int)>& element,
                       const std::function<bool(int, int)>& touched, bool a,
                       const std::string& line_name) {
  Picture p = shared_picture(lines, columns, 4);
  p.column = "";
  p.title = title;
  p.note = note;
  p.colour = a ? kReadA : kReadB;
  for (int i = 0; i < lines; ++i) {
    p.line_names[static_cast<std::size_t>(i)] = fmt::format("{} {}", line_name, i);
    for (int j = 0; j < columns; ++j) {
      p.lines[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = {element(i, j),
                                                                           touched(i, j)};
    }
  }
  return p;
}

std::vector<Picture> naive_pictures(bool rows) {
  const auto pair = [](int i, int j) { return fmt::format("{},{}", i, j); };
  const auto a_of = [&](int i, int j) { return j == 0 && (rows || i == 0); };
  const auto b_of = [&](int i, int j) { return i == 0 && (!rows || j == 0); };
  return {
      global_picture("A in global memory: (m, k), rows of K elements",
                     rows ? "coloured: the loads of one warp at k = 0, an element of each of "
                            "32 rows: 32 sectors of 8 elements"
                          : "coloured: the load of one warp at k = 0, one element for all lanes",
                     kLines, 32, pair, a_of, true, "m"),
      global_picture("B in global memory: (k, n), rows of N elements",
                     rows ? "coloured: the load of one warp at k = 0, one element for all lanes"
                          : "coloured: the loads of one warp at k = 0, 32 neighbours: 4 sectors",
                     kLines, 32, pair, b_of, false, "k")};
}

std::vector<Picture> wmma_pictures() {
  // Lanes of the first of a fragment's four loads, by element: A holds pairs along k.
  const auto lane_of = [](int row, int column) {
    return fmt::format("lane {}", mma_a_holder(row, column, 2).thread);
  };
  const auto first = [](int row, int column) { return mma_a_holder(row, column, 2).element < 2; };
  Picture p = global_picture(
      "A's 16 x 16 tile in global memory: (m, k), 2 bytes an element",
      "coloured: the first of a fragment's four loads, 4 bytes a lane; each line is half a sector",
      16, 16, lane_of, first, true, "m");
  p.width = 1.4 * kCellWidth;
  return {p};
}

}  // namespace

Result<std::string> layout_svg(const Schedule& s) {
  if (auto ok = check_rung_tiles(s); !ok) return std::unexpected(ok.error());
  std::vector<Picture> pictures;
  if (s.kernel == "naive_rows" || s.kernel == "naive") {
    pictures = naive_pictures(s.kernel == "naive_rows");
  } else if (is_float_rung(s)) {
    const FloatRung rung(s);
    pictures = {float_picture(rung, true), float_picture(rung, false)};
  } else if (s.kernel == "wmma") {
    pictures = wmma_pictures();
  } else if (s.kernel == "mma") {
    pictures = {operand_picture(s, Role::a), operand_picture(s, Role::b)};
  } else if (s.copy == Copy::bulk && s.device == Device::gpu) {
    pictures = {bulk_picture(s, true), bulk_picture(s, false)};
  } else {
    return bad_request("--draw: schedule \"" + s.name +
                       "\" is of no kernel of the GPU ladder, whose layouts alone are drawn");
  }
  return drawing("schedule " + s.name, pictures);
}

}  // namespace tilewise
