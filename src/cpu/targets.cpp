#include "cpu/targets.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "cpu/kernels/tile_sizes.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define TILEWISE_X86 1
#else
#define TILEWISE_X86 0
#endif

namespace tilewise::cpu {

#if TILEWISE_X86
extern const KernelTable kSse4Kernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
#elif defined(__aarch64__)
extern const KernelTable kNeonKernels;
#endif

namespace {

struct Target {
  std::string_view name;
  RegisterTile tile;
  int vector_bytes;
};

constexpr std::array<Target, 4> kTargets = {{{"sse4", kSse4Tile, 16},
                                             {"avx2", kAvx2Tile, 32},
                                             {"avx512", kAvx512Tile, 64},
                                             {"neon", kNeonTile, 16}}};

#if TILEWISE_X86
constexpr std::array kCompiled = {&kAvx512Kernels, &kAvx2Kernels, &kSse4Kernels};

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool has_all(unsigned value, std::initializer_list<int> bits) {
  for (const int bit : bits) {
    if ((value >> bit & 1u) == 0) return false;
  }
  return true;
}

// Register state that the operating system saves: bit 1 SSE, 2 AVX, 5 to 7 AVX-512.
std::uint64_t saved_state() {
  constexpr int kOsxsave = 27;
  if (!has_all(cpuid(1).ecx, {kOsxsave})) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

struct Support {
  bool sse4 = false, avx2 = false, avx512 = false;
};

// Bits as in the vendors' manuals; the set of each target mirrors the flags in CMakeLists.txt.
Support detect() {
  Support s;
  const Registers one = cpuid(1);
  // ecx: SSE3 0, PCLMULQDQ 1, SSSE3 9, SSE4.1 19, SSE4.2 20, POPCNT 23, AES 25
  s.sse4 = has_all(one.ecx, {0, 1, 9, 19, 20, 23, 25});
  const Registers seven = cpuid(7);
  const std::uint64_t saved = saved_state();
  // ecx of 1: FMA 12, AVX 28, F16C 29; ebx of 7: BMI1 3, AVX2 5, BMI2 8; ecx of 0x80000001: LZCNT 5
  s.avx2 = s.sse4 && has_all(one.ecx, {12, 28, 29}) && has_all(seven.ebx, {3, 5, 8}) &&
           has_all(cpuid(0x80000001u).ecx, {5}) && (saved & 0x6) == 0x6;
  // ebx of 7: AVX-512 F 16, DQ 17, CD 28, BW 30, VL 31
  s.avx512 = s.avx2 && has_all(seven.ebx, {16, 17, 28, 30, 31}) && (saved & 0xe6) == 0xe6;
  return s;
}

bool is_supported_here(std::string_view target) {
  static const Support support = detect();
  if (target == "sse4") return support.sse4;
  if (target == "avx2") return support.avx2;
  if (target == "avx512") return support.avx512;
  return false;
}
#elif defined(__aarch64__)
constexpr std::array kCompiled = {&kNeonKernels};
bool is_supported_here(std::string_view target) { return target == "neon"; }  // in the base ISA
#else
#error "tilewise: the CPU kernels are written for x86-64 and aarch64"
#endif

std::string join_supported() {
  std::string names;
  for (const KernelTable* table : kCompiled) {
    if (!is_supported_here(table->target)) continue;
    if (!names.empty()) names += ", ";
    names += table->target;
  }
  return names;
}

}  // namespace

std::span<const KernelTable* const> compiled_targets() { return kCompiled; }

std::string_view target_of_register_tile(std::int64_t m, std::int64_t n, Type accumulator) {
  for (const Target& target : kTargets) {
    const int nr = target.tile.vectors * target.vector_bytes / size_bytes(accumulator);
    if (m == target.tile.rows && n == nr) return target.name;
  }
  return "";
}

bool is_supported(std::string_view target) { return is_supported_here(target); }

Result<const KernelTable*> choose_target(std::string_view name) {
  for (const KernelTable* table : kCompiled) {
    if ((name.empty() || name == table->target) && is_supported_here(table->target)) return table;
  }
  const std::string here = join_supported();
  for (const Target& known : kTargets) {
    if (name != known.name) continue;
    return missing_capability("prepare: target is \"" + std::string(name) +
                              "\", which this machine does not have; it has " + here);
  }
  if (name.empty()) {
    return missing_capability(
        "prepare: this CPU has none of the instruction sets that the kernels "
        "are compiled for (the least is SSE4.2 with AES and PCLMULQDQ)");
  }
  return bad_request("prepare: target is \"" + std::string(name) +
                     "\"; valid are sse4, avx2, avx512, neon, and this machine has " + here);
}

std::string processor_name() {
#if TILEWISE_X86
  if (cpuid(0x80000000u).eax < 0x80000004u) return "";
  std::array<char, 49> text{};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    const Registers r = cpuid(0x80000002u + leaf);
    std::memcpy(text.data() + 16 * leaf, &r, 16);
  }
  std::string name(text.data());
  while (!name.empty() && name.back() == ' ') name.pop_back();
  while (!name.empty() && name.front() == ' ') name.erase(0, 1);
  return name;
#else
  return "";
#endif
}

}  // namespace tilewise::cpu
