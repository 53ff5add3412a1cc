// The questions that the page asks, each answered by one JSON document. Counts are decimal strings:
// a page's numbers hold 53 bits.
#pragma once

#include <string>
#include <string_view>

#include "io/json_writer.h"
#include "tilewise/traffic.h"
#include "web/request.h"

namespace tilewise::web {

// Sizes of the outermost tile as it lies on the problem, clipped by it, and how many there are.
struct OutputTiles {
  std::int64_t m = 0, n = 0, k = 0;  // of a whole tile; what is not tiled is the whole dimension
  std::int64_t tiles_m = 0, tiles_n = 0, phases = 0;
};
[[nodiscard]] OutputTiles output_tiles(const Problem& problem, const Schedule& schedule);

// The chosen tile of C: "at=ROW,COLUMN" in tiles, and "phase=P". Where K is 0 there is no phase.
struct Position {
  std::int64_t row = 0, column = 0, phase = 0;
  std::int64_t m_begin = 0, m_end = 0, n_begin = 0, n_end = 0, k_begin = 0, k_end = 0;
};
// Errors: no tile (M or N is 0), a tile or phase that does not exist.
[[nodiscard]] Result<Position> read_position(const Request& request, const OutputTiles& tiles);

using Answer = Result<std::string>;

// The whole product: counts by level, naive, minimum, bound. docs/counting.md.
[[nodiscard]] Answer answer_count(const Request& request);
// One moment ("moment=load|full|multiply|empty") of a phase of a tile: what is read, what has been
// read by this tile, and by all tiles launched up to it.
[[nodiscard]] Answer answer_step(const Request& request);
// Where tiles of the levels inside the block lie, and what "thread=ROW,COLUMN" owns and reads.
[[nodiscard]] Answer answer_inside(const Request& request);
// The chosen tile's first phases without a barrier ("without=full|empty|none"), simulated with one
// buffer, whatever the stages.
[[nodiscard]] Answer answer_barriers(const Request& request);
// The whole product executed and counted, where that takes under about 2^26 element reads.
[[nodiscard]] Answer answer_simulate(const Request& request);
// Threads, registers, shared memory, occupancy, waves, roofline, time.
[[nodiscard]] Answer answer_estimate(const Request& request);
// The kernel that runs the schedule: the one that it names or, where it names none, the first that
// takes it; its file; and the refusal that a run would give.
[[nodiscard]] Answer answer_kernel(const Request& request);
// Launch order and DRAM reads wave by wave; "orders=row,grouped:8,serpentine:8".
[[nodiscard]] Answer answer_order(const Request& request);
// A warp's access to a tile in shared memory: "banks_*" names (answer_banks.cpp).
[[nodiscard]] Answer answer_banks(const Request& request);
// Which thread holds which element of "fragment=m16n8k16".
[[nodiscard]] Answer answer_fragment(const Request& request);
// Names, titles and notes of the schedules and machines.
[[nodiscard]] Answer answer_names(const Library& library);

// kind: "count", "step", ... Returns a document in every case; an error is {"error": message}.
[[nodiscard]] std::string ask(std::string_view kind, std::string_view request,
                              const Library& library);

}  // namespace tilewise::web
