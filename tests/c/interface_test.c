/* The C interface from a C program: compiled as C11, no C++ header in sight. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewise/tilewise.h"

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

enum { kM = 37, kN = 21, kK = 53 };

static float a[kM * kK], b[kK * kN], bias[kN], d[kM * kN];

static void fill(void) {
  for (int i = 0; i < kM * kK; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < kK * kN; ++i) b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < kN; ++i) bias[i] = (float)(i - 10);
  for (int i = 0; i < kM * kN; ++i) d[i] = NAN;
}

static float expected(int m, int n) {
  float sum = bias[n];
  for (int k = 0; k < kK; ++k) sum += a[m * kK + k] * b[k * kN + n];
  return sum > 0 ? sum : 0;
}

static void expect_product(void) {
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) EXPECT(d[m * kN + n] == expected(m, n));
  }
}

static void test_matmul(void) {
  const void* operands[] = {bias};
  tilewise_problem p = tilewise_make_problem(kM, kN, kK, TILEWISE_F32);
  p.epilogue = "relu(acc + bias[n])";
  fill();
  EXPECT(tilewise_matmul(&p, a, b, NULL, d, operands, 1) == TILEWISE_OK);
  expect_product();
}

static void test_plan(void) {
  const void* operands[] = {bias};
  tilewise_plan* plan = NULL;
  tilewise_problem p = tilewise_make_problem(kM, kN, kK, TILEWISE_F32);
  p.epilogue = "relu(acc + bias[n])";
  EXPECT(tilewise_prepare(&p, NULL, 1, &plan) == TILEWISE_OK);
  EXPECT(plan != NULL && strlen(tilewise_schedule_name(plan)) > 0);
  for (int own = 0; own < 2; ++own) {
    size_t bytes = tilewise_workspace_bytes(plan);
    void* workspace = own ? malloc(bytes) : NULL;
    fill();
    EXPECT(tilewise_run(plan, a, b, NULL, d, operands, 1, workspace, bytes) == TILEWISE_OK);
    expect_product();
    free(workspace);
  }
  tilewise_free_plan(plan);
  tilewise_free_plan(NULL);
}

static void test_failures(void) {
  tilewise_plan* plan = NULL;
  tilewise_problem p = tilewise_make_problem(kM, kN, kK, TILEWISE_F32);
  fill();
  EXPECT(tilewise_matmul(NULL, a, b, NULL, d, NULL, 0) == TILEWISE_BAD_REQUEST);
  EXPECT(strstr(tilewise_last_error(), "problem") != NULL);
  p.a.row = 3;
  EXPECT(tilewise_matmul(&p, a, b, NULL, d, NULL, 0) == TILEWISE_BAD_REQUEST);
  EXPECT(strstr(tilewise_last_error(), "strides of A") != NULL);
  p = tilewise_make_problem(kM, kN, kK, TILEWISE_F32);
  p.type_b = (tilewise_type)77;
  EXPECT(tilewise_matmul(&p, a, b, NULL, d, NULL, 0) == TILEWISE_BAD_REQUEST);
  p = tilewise_make_problem(kM, kN, kK, TILEWISE_F32);
  p.epilogue = "relu(acc";
  EXPECT(tilewise_prepare(&p, NULL, 0, &plan) == TILEWISE_BAD_REQUEST && plan == NULL);
  p.epilogue = "acc + bias[n]";
  EXPECT(tilewise_matmul(&p, a, b, NULL, d, NULL, 0) == TILEWISE_BAD_REQUEST);
  p.epilogue = NULL;
  EXPECT(tilewise_prepare(&p, "sqare_tile", 0, &plan) == TILEWISE_BAD_REQUEST);
  EXPECT(strstr(tilewise_last_error(), "square_tile") != NULL);
  EXPECT(tilewise_run(NULL, a, b, NULL, d, NULL, 0, NULL, 0) == TILEWISE_BAD_REQUEST);
  EXPECT(isnan(d[0]) && isnan(d[kM * kN - 1]));
}

static void test_traffic(void) {
  tilewise_traffic t;
  EXPECT(tilewise_matmul_traffic(4096, 4096, 4096, 128, &t) == TILEWISE_OK);
  EXPECT(strcmp(t.naive, "137438953472") == 0);
  EXPECT(strcmp(t.tiled, "1073741824") == 0);
  EXPECT(strcmp(t.minimum, "33554432") == 0);
  EXPECT(tilewise_matmul_traffic(4, 4, 4, 0, &t) == TILEWISE_BAD_REQUEST);
}

int main(void) {
  test_matmul();
  test_plan();
  test_failures();
  test_traffic();
  if (failures == 0) puts("the C interface works");
  return failures == 0 ? 0 : 1;
}
