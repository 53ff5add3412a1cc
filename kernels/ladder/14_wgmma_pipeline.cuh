// 14  wgmma_pipeline        before: 13_wgmma.cuh   after: 15_wgmma_fp8.cuh
// Idea      one warp feeds a ring of stages by bulk copies, two warpgroups multiply; blocks
//           persist, so that the copies of the next tile run under the epilogue of this one; the
//           blocks of a cluster fetch a shared panel once
// Moves     global  M K tiles(N; block.n) + K N tiles(M; block.m); look-ups at the L2 divided by
//           cluster.n and cluster.m
//           shared  M K tiles(N; block.n, instruction.n) + K N tiles(M; block.m, instruction.m)
// Honours   tiles: block, instruction; cluster; stages; copy bulk; shared_layout (swizzle:128);
//           order; persistent; consumers ping_pong; split_k; stream_k
// Needs     sm_90a; bf16 or f16, any layout, or float as tf32, layout nt; any M, N, K; bases and
//           pitches of A and B multiples of 16 bytes; any D
// Uses      128 threads and 40 registers to copy, 256 threads and 232 registers to multiply
// Limits    block.m is 128 or 256, with ping_pong 64 or 128; block.n at most 256
// Measured  docs/ladder/14.md
#pragma once

#include "parts/bulk_tile.cuh"
#include "parts/collect_partials.cuh"
#include "parts/staged_operand.cuh"
#include "parts/store_tile.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

constexpr int kConsumers = 2;  // warpgroups that multiply
constexpr int kPipelineThreads = (1 + kConsumers) * kWarpgroupThreads;
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
constexpr int kWgmmaRows = 64;
constexpr int kWarpgroupWarps = kWarpgroupThreads / kWarpLanes;

// Rows of the block's tile that one warpgroup computes: half of it, or all of every second tile.
TILEWISE_HOST_DEVICE constexpr int consumer_rows(const Constants& c) {
  return c.ping_pong ? c.block_m : c.block_m / kConsumers;
}
TILEWISE_HOST_DEVICE constexpr int pipeline_element_bytes(const Constants& c) {
  return kInstructionKBytes / c.instruction_k;
}

// (block.m, block.k) of A and (block.n, block.k) of B a stage; panels of D, two a warpgroup.
template <int kBytesA, int kBytesB, int kStages>
struct PipelineShared {
  alignas(kPatternBytes) unsigned char a[kStages][kBytesA];
  alignas(kPatternBytes) unsigned char b[kStages][kBytesB];
  alignas(kPatternBytes) unsigned char panels[kConsumers][kPanelsInFlight * kPanelBytes];
  int flags[kConsumers];   // of collect_partials
  Barrier full[kStages];   // a producer of this block arrives with its bytes; all consumers wait
  Barrier empty[kStages];  // the consumer warps of every block that a copy reaches arrive; the
                           // producer waits
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo wgmma_pipeline_launch(Constants c) {
  const int bytes = pipeline_element_bytes(c);
  const BulkBox a = bulk_box(c.a_k_major, c.block_m, c.block_k, bytes, c.cluster_n);
  const BulkBox b = bulk_box(c.b_k_major, c.block_n, c.block_k, bytes, c.cluster_m);
  LaunchInfo info;
  info.threads = kPipelineThreads;
  info.shared_bytes = c.stages * (c.block_m + c.block_n) * c.block_k * bytes +
                      kConsumers * kPanelsInFlight * kPanelBytes +
                      kConsumers * static_cast<int>(sizeof(int)) +
                      2 * c.stages * static_cast<int>(sizeof(Barrier));
  ask_for_workspace(info, c, c.ping_pong ? 1 : kConsumers);
  info.tile_m = c.block_m;
  info.tile_n = c.block_n;
  info.tile_k = c.block_k;
  info.cluster_m = c.cluster_m;
  info.cluster_n = c.cluster_n;
  info.persistent = c.persistent || c.stream_k;
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
struct Pipeline {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  using TileA = BulkTile<Element, c.a_k_major, c.block_m, c.block_k, c.cluster_n>;
  using TileB = BulkTile<Element, c.b_k_major, c.block_n, c.block_k, c.cluster_m>;
  using Shared = PipelineShared<TileA::kBytes, TileB::kBytes, c.stages>;

  static constexpr int kRows = consumer_rows(c);
  static constexpr int kTilesM = kRows / kWgmmaRows;          // instructions along m a warpgroup
  static constexpr int kAccumulators = c.instruction_n / 2;   // registers of one of them
  static constexpr int kSteps = c.block_k / c.instruction_k;  // instructions along k a stage
  static constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;
  static constexpr int kStageReaders = c.ping_pong ? 1 : kConsumers;
  static constexpr int kReached =
      c.cluster_m + c.cluster_n - 1;  // blocks that share a panel with this
  static constexpr int kPromoteSteps = c.promote_every / c.block_k;  // stages between promotions
  using Operand = StagedOperand<c, Output, Epilogue, TileA::kBytes, TileB::kBytes, kTilesM>;
  static_assert(c.block_n == c.instruction_n,
                "the instruction spans block.n: set instruction.n to it");
  static_assert(kRows % kWgmmaRows == 0 && kTilesM * kAccumulators <= 128,
                "a warpgroup holds at most 64 x 256 or 128 x 128 of D; make the block smaller");
  static_assert(c.promote_every % c.block_k == 0, "promote every multiple of block.k");
  static_assert(c.promote_every == 0 || 2 * kTilesM * kAccumulators <= 192,
                "promotion holds every accumulator twice; at most 96 columns of 128 rows");

  static __device__ void produce(Shared& shared, const KernelArguments& arguments,
                                 const TensorMaps& maps, WorkList<c> list) {
    // Bits of the ranks that share this block's rows of A, and its columns of B.
    unsigned same_m = 0, same_n = 0;
    for (int i = 0; i < c.cluster_n; ++i) same_m |= 1u << (list.rank_m() + i * c.cluster_m);
    for (int i = 0; i < c.cluster_m; ++i) same_n |= 1u << (i + list.rank_n() * c.cluster_m);

    const bool staged = Operand::stages(arguments) > 0;
    Ring<c.stages> ring;
    while (list.more()) {
      const Work<c> work = list.next();
      const int batch_a = arguments.a.batch == 0 ? 0 : work.batch;
      const int batch_b = arguments.b.batch == 0 ? 0 : work.batch;
#pragma unroll 1
      for (int k = work.k_begin; k < work.k_end; ++k, ring.advance()) {
        Barrier* full = &shared.full[ring.stage];
        mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, kStageBytes);
        TileA::load(shared.a[ring.stage], &maps.a, full, static_cast<int>(work.m()), k * c.block_k,
                    batch_a, list.rank_n(), same_m);
        TileB::load(shared.b[ring.stage], &maps.b, full, static_cast<int>(work.n()), k * c.block_k,
                    batch_b, list.rank_m(), same_n);
      }
      if (staged) Operand::produce(shared, arguments, &maps.source, work, ring);
    }
  }

  // This warp has read a stage: lane i tells the i-th block whose copies fill it.
  static __device__ void release(Barrier* empty, const WorkList<c>& list, int lane) {
    if constexpr (kReached == 1) {
      if (lane == 0) mbarrier_arrive(empty);
    } else if (lane < kReached) {
      const int m = lane < c.cluster_m ? lane : list.rank_m();
      int n = list.rank_n();
      if (lane >= c.cluster_m) {  // the others of this block's row, without itself
        n = lane - c.cluster_m;
        if (n >= list.rank_n()) ++n;
      }
      mbarrier_arrive_cluster(empty, m + n * c.cluster_m);
    }
  }

  static __device__ void multiply(float (&acc)[kTilesM][kAccumulators], const unsigned char* a,
                                  const unsigned char* b, int row, bool accumulate) {
    const uint64 desc_b = TileB::descriptor(b, 0);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        wgmma_mma_async<Element, c.a_k_major, c.b_k_major>(
            acc[i],
            wgmma_advance(TileA::descriptor(a, row + i * kWgmmaRows), step * TileA::kStepBytes),
            wgmma_advance(desc_b, step * TileB::kStepBytes), accumulate || step > 0);
      }
    }
    wgmma_commit_group();
  }

  // acc = A B over the work's steps. One group of instructions stays in flight: the stage before it
  // is released when the next has been issued.
  static __device__ void accumulate(float (&acc)[kTilesM][kAccumulators], Shared& shared,
                                    const Work<c>& work, PreparedWorkList<c>& list,
                                    Ring<c.stages>& ring, int row, int lane) {
    wgmma_clear(acc);
    int previous = 0;
#pragma unroll 1
    for (int k = work.k_begin; k < work.k_end; ++k, ring.advance()) {
      mbarrier_wait(&shared.full[ring.stage], ring.parity);
      multiply(acc, shared.a[ring.stage], shared.b[ring.stage], row, true);
      wgmma_wait_group<1>();
      if (k > work.k_begin) release(&shared.empty[previous], list, lane);
      previous = ring.stage;
    }
    list.prepare();
    wgmma_wait_group<0>();
    if (work.k_end > work.k_begin) release(&shared.empty[previous], list, lane);
  }

  // The same with the tensor core's sum added to float32 registers every kPromoteSteps stages: the
  // FP8 accumulator keeps about 14 bits.
  static __device__ void accumulate_promoted(float (&total)[kTilesM][kAccumulators], Shared& shared,
                                             const Work<c>& work, const WorkList<c>& list,
                                             Ring<c.stages>& ring, int row, int lane) {
    wgmma_clear(total);
    float acc[kTilesM][kAccumulators];
    int in_sum = 0;
#pragma unroll 1
    for (int k = work.k_begin; k < work.k_end; ++k, ring.advance()) {
      mbarrier_wait(&shared.full[ring.stage], ring.parity);
      multiply(acc, shared.a[ring.stage], shared.b[ring.stage], row, in_sum > 0);
      wgmma_wait_group<0>();
      release(&shared.empty[ring.stage], list, lane);
      if (++in_sum < kPromoteSteps && k + 1 < work.k_end) continue;
      in_sum = 0;
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kAccumulators; ++j) total[i][j] += acc[i][j];
      }
    }
  }

  static __device__ void consume(Shared& shared, const KernelArguments& arguments,
                                 const TensorMaps& maps, PreparedWorkList<c> list, int consumer) {
    const int thread = threadIdx.x % kWarpgroupThreads, lane = threadIdx.x % kWarpLanes;
    const int row = c.ping_pong ? 0 : consumer * kRows;
    // Named barriers: 1 + consumer for its panels, 1 + kConsumers + consumer for its turn.
    PanelStore<Output> store{shared.panels[consumer],
                             arguments,
                             &maps.d,
                             stores_in_bulk(arguments.d, sizeof(Output)),
                             thread,
                             1 + consumer};
    const ThreadGroup group{c.ping_pong ? 0 : consumer, kStageReaders, thread,
                            kWarpgroupThreads,          1 + consumer,  &shared.flags[consumer]};
    Operand operand(arguments);
    Ring<c.stages> ring;
    int turn = 0;
    for (; list.more(); ++turn) {
      const Work<c> work = list.next();
      if (c.ping_pong && turn % kConsumers != consumer) {
        ring.skip(work.k_end - work.k_begin);
        continue;
      }
      // HAZARD: a parity wait is right only within one round of the ring, so a warpgroup may start
      // on the stages of its tile when the other has seen all of its own.
      if (c.ping_pong && turn > 0) {
        named_barrier_sync(1 + kConsumers + consumer, kConsumers * kWarpgroupThreads);
      }
      operand.begin(arguments, work, row, kRows, thread);
      float acc[kTilesM][kAccumulators];
      if constexpr (c.promote_every > 0) {
        accumulate_promoted(acc, shared, work, list, ring, row, lane);
      } else {
        accumulate(acc, shared, work, list, ring, row, lane);
      }
      if (c.ping_pong && list.more()) {
        named_barrier_arrive(1 + kConsumers + (consumer + 1) % kConsumers,
                             kConsumers * kWarpgroupThreads);
      }
      auto& sum = reinterpret_cast<float(&)[kTilesM * kAccumulators]>(acc);
      if (!collect_partials(sum, arguments, list, work, group)) continue;
      if (operand.finish(acc, shared, store, work, row, ring,
                         [&](int stage) { release(&shared.empty[stage], list, lane); })) {
        continue;
      }
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        store_accumulator<Output, Epilogue>(acc[i], store, work.batch,
                                            work.m() + row + i * kWgmmaRows, work.n());
      }
    }
    store.drain();
  }
};

template <Constants c, class Element, class Epilogue>
__device__ void wgmma_pipeline(const KernelArguments& arguments, const TensorMaps& maps) {
  using P = Pipeline<c, Element, Epilogue>;
  static_assert(sizeof(Element) == pipeline_element_bytes(c),
                "instruction.k is 32 bytes of elements");
  static_assert(sizeof(typename P::Output) == output_bytes(c),
                "set Constants::d_bytes to D's element");
  typename P::Shared& shared = shared_map<typename P::Shared>();
  const int warpgroup = warp_uniform(threadIdx.x / kWarpgroupThreads);
  constexpr bool kCluster = c.cluster_m * c.cluster_n > 1;
  const WorkList<c> list(arguments, kCluster ? static_cast<int>(cluster_block_rank()) : 0);

  if (threadIdx.x == 0) {
    if (arguments.k > 0) prefetch_tensormap(&maps.a);
    if (arguments.k > 0) prefetch_tensormap(&maps.b);
    for (int i = 0; i < c.stages; ++i) {
      mbarrier_init(&shared.full[i], 1);
      mbarrier_init(&shared.empty[i], P::kReached * P::kStageReaders * kWarpgroupWarps);
    }
    fence_mbarrier_init();
  }
  if constexpr (kCluster) {
    cluster_sync();
  } else {
    __syncthreads();
  }

  if (warpgroup == 0) {
    setmaxnreg_dec<kProducerRegisters>();
    if (threadIdx.x == 0) P::produce(shared, arguments, maps, list);
  } else {
    setmaxnreg_inc<kConsumerRegisters>();
    P::consume(shared, arguments, maps, PreparedWorkList<c>(list), warpgroup - 1);
  }
  // No block may leave while another of its cluster can still copy into it or arrive at its
  // barriers.
  if constexpr (kCluster) cluster_sync();
}

}  // namespace tilewise
