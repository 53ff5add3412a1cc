// What a user writes: the counts of a tiling and a small product. Exit code 0 if both are right.
#include <tilewise/matmul.h>
#include <tilewise/problem.h>
#include <tilewise/traffic.h>

#include <cstdio>
#include <vector>

int main() {
  const auto traffic = tilewise::matmul_traffic(64, 64, 64, 16);
  if (!traffic || traffic->tiled != tilewise::Count(2 * 64 * 64 * 64 / 16)) return 1;

  const std::vector<float> a{1, 2, 3, 4, 5, 6};     // (2, 3)
  const std::vector<float> b{1, 0, 0, 1, 1, 1};     // (3, 2)
  const std::vector<float> expected{4, 5, 10, 11};  // (2, 2)
  std::vector<float> d(4);
  const tilewise::Problem problem = tilewise::make_problem(2, 2, 3);
  const auto done = tilewise::matmul(problem, a.data(), b.data(), nullptr, d.data());
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  return d == expected ? 0 : 1;
}
