// 13  wgmma                 before: 12_mma.cuh   after: 14_wgmma_pipeline.cuh
// Idea      four warps issue one instruction that reads both operands from shared memory, and
//           one thread orders whole tiles from the bulk copy; a ring of stages hides the copies
// Moves     global  M K tiles(N; block.n) + K N tiles(M; block.m)
//           shared  M K tiles(N; block.n, instruction.n) + K N tiles(M; block.m, instruction.m)
// Honours   tiles: block, instruction; stages; copy bulk; shared_layout (swizzle:128); order
// Needs     sm_90a; bf16 or f16, any layout; any M, N, K; bases and pitches of A and B multiples
//           of 16 bytes; any D
// Uses      128 threads, two blocks an SM; registers as tests/kernels/resources.json expects
// Limits    the thread that orders copies also multiplies; while a block waits for its
//           instructions or its epilogue, only its neighbour on the SM multiplies
// Measured  docs/ladder/14.md
#pragma once

#include "parts/bulk_tile.cuh"
#include "parts/store_tile.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

// (block.m, block.k) of A and (block.n, block.k) of B a stage; two panels of D.
template <int kBytesA, int kBytesB, int kStages>
struct WgmmaShared {
  alignas(kPatternBytes) unsigned char a[kStages][kBytesA];
  alignas(kPatternBytes) unsigned char b[kStages][kBytesB];
  alignas(kPatternBytes) unsigned char panels[kPanelsInFlight * kPanelBytes];
  Barrier full[kStages];   // thread 0 arrives with the bytes of a stage; all threads wait
  Barrier empty[kStages];  // every warp arrives when it has read a stage; thread 0 waits
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo wgmma_launch(Constants c) {
  const int bytes = kInstructionKBytes / c.instruction_k;
  const BulkBox a = bulk_box(c.a_k_major, c.block_m, c.block_k, bytes, 1);
  const BulkBox b = bulk_box(c.b_k_major, c.block_n, c.block_k, bytes, 1);
  LaunchInfo info;
  info.threads = kWarpgroupThreads;
  info.shared_bytes = c.stages * (c.block_m + c.block_n) * c.block_k * bytes +
                      kPanelsInFlight * kPanelBytes +
                      2 * c.stages * static_cast<int>(sizeof(Barrier));
  info.blocks_per_sm = 2;
  info.tile_m = c.block_m;
  info.tile_n = c.block_n;
  info.tile_k = c.block_k;
  info.bulk = true;
  info.a_box_inner = a.inner;
  info.a_box_outer = a.outer;
  info.b_box_inner = b.inner;
  info.b_box_outer = b.outer;
  info.d_box_inner = kLineBytes / output_bytes(c);
  info.d_box_outer = kPanelRows;
  info.a_swizzle = info.b_swizzle = info.d_swizzle = kLineBytes;
  return info;
}

template <Constants c, class Element, class Epilogue>
__device__ void wgmma(const KernelArguments& arguments, const TensorMaps& maps) {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  using TileA = BulkTile<Element, c.a_k_major, c.block_m, c.block_k, 1>;
  using TileB = BulkTile<Element, c.b_k_major, c.block_n, c.block_k, 1>;
  using Shared = WgmmaShared<TileA::kBytes, TileB::kBytes, c.stages>;
  constexpr int kTilesM = c.block_m / c.instruction_m;
  constexpr int kAccumulators = c.instruction_n / 2;  // registers of one instruction's tile
  static_assert(
      sizeof(Element) * c.instruction_k == kInstructionKBytes && sizeof(Output) == output_bytes(c),
      "instruction.k is 32 bytes of elements; set Constants::d_bytes to D's element");
  static_assert(c.block_n == c.instruction_n,
                "the instruction spans block.n: set instruction.n to it");
  static_assert(c.instruction_m == kPanelRows, "wgmma is 64 rows high: set instruction.m to 64");
  static_assert(kTilesM * kAccumulators <= 128,
                "the block's tile is at most 128 x 128 or 64 x 256");

  Shared& shared = shared_map<Shared>();
  const int thread = static_cast<int>(threadIdx.x);
  const Work<c> work = WorkList<c>(arguments, 0).next();
  const int batch_a = arguments.a.batch == 0 ? 0 : work.batch;
  const int batch_b = arguments.b.batch == 0 ? 0 : work.batch;

  if (thread == 0) {
    for (int i = 0; i < c.stages; ++i) {
      mbarrier_init(&shared.full[i], 1);
      mbarrier_init(&shared.empty[i], kWarpgroupThreads / kWarpLanes);
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  // Thread 0 orders step k into its stage.
  const auto order = [&](int k, int stage) {
    mbarrier_arrive_expect_tx(&shared.full[stage], TileA::kBytes + TileB::kBytes);
    TileA::load(shared.a[stage], &maps.a, &shared.full[stage], static_cast<int>(work.m()),
                k * c.block_k, batch_a, 0, 0);
    TileB::load(shared.b[stage], &maps.b, &shared.full[stage], static_cast<int>(work.n()),
                k * c.block_k, batch_b, 0, 0);
  };
  if (thread == 0) {
    for (int k = 0; k < c.stages && k < work.k_end; ++k) order(k, k);
  }

  float acc[kTilesM][kAccumulators];
  wgmma_clear(acc);

  // Multiply step k, then refill its stage. The other block of the SM multiplies meanwhile.
  Ring<c.stages> ring;
#pragma unroll 1
  for (int k = 0; k < work.k_end; ++k, ring.advance()) {
    mbarrier_wait(&shared.full[ring.stage], ring.parity);
    const uint64 desc_b = TileB::descriptor(shared.b[ring.stage], 0);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < c.block_k / c.instruction_k; ++step) {
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        const uint64 desc_a = TileA::descriptor(shared.a[ring.stage], i * kPanelRows);
        wgmma_mma_async<Element, c.a_k_major, c.b_k_major>(
            acc[i], wgmma_advance(desc_a, step * TileA::kStepBytes),
            wgmma_advance(desc_b, step * TileB::kStepBytes), 1);
      }
    }
    wgmma_commit_group();
    wgmma_wait_group<0>();
    if (thread % kWarpLanes == 0) mbarrier_arrive(&shared.empty[ring.stage]);
    if (thread == 0 && k + c.stages < work.k_end) {
      mbarrier_wait(&shared.empty[ring.stage], ring.parity);
      order(k + c.stages, ring.stage);
    }
  }

  PanelStore<Output> store{
      shared.panels, arguments, &maps.d, stores_in_bulk(arguments.d, sizeof(Output)), thread, 1};
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
    store_accumulator<Output, Epilogue>(acc[i], store, work.batch, work.m() + i * kPanelRows,
                                        work.n());
  }
  store.drain();
}

}  // namespace tilewise
