// An operand of the epilogue that is laid out like D, through the ring that feeds the tensor cores:
// its tile follows the last stage of A and B in stages of its own, each of a few columns of panels
// like those of D, and is evaluated with the sums where they lie.
#pragma once

#include "parts/ptx_hopper.cuh"
#include "parts/store_tile.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

// kBytesA, kBytesB: of a stage. kTiles: accumulators of 64 rows of one warpgroup. Shared holds the
// stages a[i] and b[i] with their barriers full[i] and empty[i].
template <Constants c, class Output, class Epilogue, int kBytesA, int kBytesB, int kTiles>
struct StagedOperand {
  static constexpr int kPanelsM = c.block_m / kPanelRows;
  static constexpr int kColumns = PanelStore<Output>::kColumns;  // of a panel
  static constexpr int kPanelsN = c.block_n / kColumns;
  static constexpr int kPanelsOfA = kBytesA / kPanelBytes, kPanelsOfB = kBytesB / kPanelBytes;
  static constexpr int kMostPanelsN = (kPanelsOfA + kPanelsOfB) / kPanelsM;
  static constexpr int kStages = (kPanelsN + kMostPanelsN - 1) / kMostPanelsN;
  // Even shares, so that the first stage is soon free for the next tile.
  static constexpr int kPanelsNAStage = (kPanelsN + kStages - 1) / kStages;
  // Where several blocks share a tile it is not known in time which of them will need the operand;
  // with ping_pong the ring is the other warpgroup's while this one evaluates.
  static constexpr bool kUsed =
      kStaged<Epilogue> && c.split_k == 1 && !c.stream_k && !c.ping_pong && kStages < c.stages;

  // What else the epilogue reads: for every panel of a row, or for the next one. HAZARD: the fences
  // of a panel wait for loads that are under way, so the fewer there are between them the better.
  static constexpr int kAhead = PanelOperands<Epilogue>::kAllAhead ? kPanelsN : 1;
  PanelOperands<Epilogue> next[kAhead];
  const int num_stages;    // behind those of every tile: also of tiles that do not use them
  const bool in_pairs;     // whether the rest can be read two elements at a time
  bool is_staged = false;  // whether the work's tile is evaluated here

  // What holds for every tile is asked once: it takes a hundred instructions.
  explicit __device__ StagedOperand(const KernelArguments& arguments)
      : num_stages(stages(arguments)), in_pairs(num_stages > 0 && Epilogue::in_pairs(arguments)) {}

  static __device__ int stages(const KernelArguments& arguments) {
    if constexpr (kUsed) {
      const bool in_bulk = stores_in_bulk(arguments.d, sizeof(Output));
      return in_bulk && Epilogue::in_chunks(arguments) ? kStages : 0;
    } else {
      return 0;
    }
  }

  // Before a warpgroup multiplies its `rows` rows of the work's tile, from row `row` on.
  __device__ void begin(const KernelArguments& arguments, const Work<c>& work, int row, int rows,
                        int thread) {
    if constexpr (kUsed) {
      const int64 m = work.m() + row, n = work.n();
      is_staged = in_pairs && m + rows <= arguments.m && n + c.block_n <= arguments.n;
      if (!is_staged) return;
#pragma unroll
      for (int j = 0; j < kAhead; ++j)
        next[j].load(arguments, work.batch, m, n + j * kColumns, thread);
    }
  }

  // After that: evaluates and stores them, or passes over the tile's stages if they are not of use.
  // Returns whether it has stored. release(stage): this warp has read it.
  template <class Shared, class Release, int kRegisters>
  __device__ bool finish(const float (&acc)[kTiles][kRegisters], Shared& shared,
                         PanelStore<Output>& to, const Work<c>& work, int row, Ring<c.stages>& ring,
                         const Release& release) {
    if constexpr (kUsed) {
      if (is_staged) {
        store(acc, shared, to, work, row, ring, release);
        return true;
      }
      for (int i = num_stages; i > 0; --i, ring.advance()) {
        mbarrier_wait(&shared.full[ring.stage], ring.parity);
        release(ring.stage);
      }
    }
    return false;
  }

  // If `stages` says that there are some.
  template <class Shared>
  static __device__ void produce(Shared& shared, const KernelArguments& arguments,
                                 const TensorMap* map, const Work<c>& work, Ring<c.stages>& ring) {
    if constexpr (kUsed) {
      const int batch = Epilogue::staged(arguments).batch == 0 ? 0 : work.batch;
#pragma unroll 1
      for (int first = 0; first < kPanelsN; first += kPanelsNAStage, ring.advance()) {
        const int columns = kPanelsN - first < kPanelsNAStage ? kPanelsN - first : kPanelsNAStage;
        Barrier* full = &shared.full[ring.stage];
        mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, columns * kPanelsM * kPanelBytes);
#pragma unroll 1
        for (int i = 0; i < columns * kPanelsM; ++i) {
          const int row = i % kPanelsM, column = i / kPanelsM;
          tma_load(panel(shared, ring.stage, row, column), map, full,
                   static_cast<int>(work.n()) + (first + column) * kColumns,
                   static_cast<int>(work.m()) + row * kPanelRows, batch);
        }
      }
    }
  }

 private:
  // Panel by panel.
  template <class Shared, class Release, int kRegisters>
  __device__ void store(const float (&acc)[kTiles][kRegisters], Shared& shared,
                        PanelStore<Output>& to, const Work<c>& work, int row, Ring<c.stages>& ring,
                        const Release& release) {
    const int warp = to.thread / kWarpLanes, lane = to.thread % kWarpLanes;
    const int64 m = work.m() + row, n = work.n();
#pragma unroll
    for (int j = 0; j < kPanelsN; ++j) {
      const int column = j % kPanelsNAStage;  // of those in its stage
      const bool is_last = column == kPanelsNAStage - 1 || j == kPanelsN - 1;
      if (column == 0) mbarrier_wait(&shared.full[ring.stage], ring.parity);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        const PanelOperands<Epilogue> operands = next[kAhead == 1 ? 0 : j];
        unsigned staged[kPanelGroups][4];
        load_staged(staged, panel(shared, ring.stage, row / kPanelRows + i, column), warp, lane);
        if (i == kTiles - 1 && is_last) {
          fence_proxy_async();  // these reads come before the next bulk copy's writes
          __syncwarp();
          release(ring.stage);
          ring.advance();
        }
        unsigned char* filled = to.acquire();
        const int after = j * kTiles + i + 1;  // the next panel of this warpgroup
        if (kAhead == 1 && after < kPanelsN * kTiles) {
          next[0].load(to.arguments, work.batch, m + after % kTiles * kPanelRows,
                       n + after / kTiles * kColumns, to.thread);
        }
        fill_staged<Output, Epilogue>(filled, acc[i] + j * (kColumns / 2), staged, operands, warp,
                                      lane);
        to.send(work.batch, m + i * kPanelRows, n + j * kColumns);
      }
    }
  }

  // The panel in row i and column j of panels, of those in its stage.
  template <class Shared>
  static __device__ unsigned char* panel(Shared& shared, int stage, int i, int j) {
    const int at = j * kPanelsM + i;
    return at < kPanelsOfA ? shared.a[stage] + at * kPanelBytes
                           : shared.b[stage] + (at - kPanelsOfA) * kPanelBytes;
  }
};

}  // namespace tilewise
