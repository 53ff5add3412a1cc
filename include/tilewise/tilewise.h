/* tilewise from C: prepare a product once, run it many times; or one call.
 *
 * Every function that can fail returns a tilewise_status and leaves its reason, a sentence, in
 * tilewise_last_error() of the calling thread. Nothing is written to an output on failure.
 * Thread-safe: a plan may run on several threads at once.
 *
 *     tilewise_problem p = tilewise_make_problem(m, n, k, TILEWISE_F32);
 *     p.epilogue = "relu(acc + bias[n])";
 *     const void* operands[] = {bias};
 *     if (tilewise_matmul(&p, a, b, NULL, d, operands, 1) != TILEWISE_OK)
 * puts(tilewise_last_error());
 */
#ifndef TILEWISE_TILEWISE_H
#define TILEWISE_TILEWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILEWISE_EXPORT __attribute__((visibility("default")))
#else
#define TILEWISE_EXPORT
#endif

typedef enum tilewise_status {
  TILEWISE_OK = 0,
  TILEWISE_VERIFICATION_FAILED = 1,
  TILEWISE_BAD_REQUEST = 2,
  TILEWISE_MISSING_CAPABILITY = 3,
  TILEWISE_INTERNAL = 5,
  TILEWISE_OUT_OF_MEMORY = 6
} tilewise_status;

/* An integer of fixed width, so that a value outside the list can be passed and is refused. */
typedef int32_t tilewise_type;
enum {
  TILEWISE_F64 = 0,
  TILEWISE_F32 = 1,
  TILEWISE_BF16 = 2,
  TILEWISE_F16 = 3,
  TILEWISE_F8E4M3 = 4,
  TILEWISE_F8E5M2 = 5
};

/* Distances in elements between neighbours along a dimension. */
typedef struct tilewise_strides {
  int64_t row, column, batch;
} tilewise_strides;

/* A named operand of the epilogue: its element type and strides (0 for an index it does not have).
 */
typedef struct tilewise_operand {
  tilewise_type type;
  tilewise_strides strides;
} tilewise_operand;

#define TILEWISE_MAX_OPERANDS 8

/* D[m,n] = epilogue(sum over k of A[m,k] B[k,n], C[m,n], operands). Sizes and strides in elements.
 */
typedef struct tilewise_problem {
  int64_t m, n, k, batch;
  tilewise_type type_a, type_b, type_c, type_d;
  tilewise_strides a, b, c, d;
  const char* epilogue; /* an expression such as "relu(acc + bias[n])"; NULL: the product itself */
  /* In the order in which the expression first names them; num_operands 0: all dense float32. */
  tilewise_operand operands[TILEWISE_MAX_OPERANDS];
  int32_t num_operands;
} tilewise_problem;

typedef struct tilewise_plan tilewise_plan;

/* A dense row-major product of one type, batch 1, no epilogue. */
TILEWISE_EXPORT tilewise_problem tilewise_make_problem(int64_t m, int64_t n, int64_t k,
                                                       tilewise_type type);

/* One call on host memory, on the CPU: prepares (or finds in a cache), and runs.
 * operands: num_operands pointers, in the order of the epilogue's operands. */
TILEWISE_EXPORT tilewise_status tilewise_matmul(const tilewise_problem* problem, const void* a,
                                                const void* b, const void* c, void* d,
                                                const void* const* operands, size_t num_operands);

/* schedule: the name of a schedule, or NULL for the best here. threads: 0 for all there are. The
 * plan runs on the CPU; free it with tilewise_free_plan. On failure *plan is NULL. */
TILEWISE_EXPORT tilewise_status tilewise_prepare(const tilewise_problem* problem,
                                                 const char* schedule, int threads,
                                                 tilewise_plan** plan);

/* workspace: tilewise_workspace_bytes(plan) bytes, or NULL for memory of the plan's own. */
TILEWISE_EXPORT tilewise_status tilewise_run(const tilewise_plan* plan, const void* a,
                                             const void* b, const void* c, void* d,
                                             const void* const* operands, size_t num_operands,
                                             void* workspace, size_t workspace_bytes);
TILEWISE_EXPORT size_t tilewise_workspace_bytes(const tilewise_plan* plan);
TILEWISE_EXPORT const char* tilewise_schedule_name(const tilewise_plan* plan);
TILEWISE_EXPORT void tilewise_free_plan(tilewise_plan* plan); /* NULL is fine */

/* Reads of a square tiling of edge b, in elements, as decimal digits of any length (at most 39 and
 * a terminating zero): naive 2MNK, tiled MK ceil(N/b) + KN ceil(M/b), minimum MK + KN. */
typedef struct tilewise_traffic {
  char naive[40], tiled[40], minimum[40];
} tilewise_traffic;
TILEWISE_EXPORT tilewise_status tilewise_matmul_traffic(int64_t m, int64_t n, int64_t k, int64_t b,
                                                        tilewise_traffic* traffic);

/* The reason of this thread's last failure; "" before any. Valid until the next failure. */
TILEWISE_EXPORT const char* tilewise_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
