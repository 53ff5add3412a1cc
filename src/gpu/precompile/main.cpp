// tilewise_precompile OUTPUT [all]: compiles the default set and writes it as one file. Without
// NVRTC the file is empty; a kernel that does not compile fails the build.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "gpu/compile.h"
#include "gpu/kernel_cache.h"
#include "gpu/kernel_record.h"
#include "gpu/precompile/default_set.h"

namespace {

using namespace tilewise;
using namespace tilewise::gpu;

// One kernel's key and record.
Result<std::pair<std::string, std::string>> compile(const KernelFiles& files,
                                                    const PrecompiledKernel& wanted) {
  const auto unit =
      write_translation_unit(files, wanted.problem, wanted.schedule,
                             make_constants(wanted.problem, wanted.schedule, wanted.aligned));
  if (!unit) return std::unexpected(unit.error());
  const auto kernel = compile_unit(*unit, wanted.architecture);
  if (!kernel) return std::unexpected(kernel.error());
  std::string key = source_key(*unit, wanted.architecture);
  std::string record = pack_kernel(key, *kernel);
  return std::pair(std::move(key), std::move(record));
}

// Records by key, so that equal kernels are kept once.
Result<std::map<std::string, std::string>> compile_all(const std::vector<PrecompiledKernel>& set) {
  const auto files = kernel_files();
  if (!files) return std::unexpected(files.error());
  std::map<std::string, std::string> records;
  Result<void> failure;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < set.size(); i = next++) {
      auto done = compile(*files, set[i]);
      const std::lock_guard lock(mutex);
      if (done) {
        records.insert(std::move(*done));
      } else {
        failure = std::unexpected(done.error());
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  if (!failure) return std::unexpected(failure.error());
  return records;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: tilewise_precompile OUTPUT [all]\n", stderr);
    return 2;
  }
  std::ofstream output(argv[1], std::ios::binary);
  if (const auto compiler = nvrtc(); !compiler) {
    std::printf("No kernel is compiled ahead of time: %s\n", compiler.error().message.c_str());
    return 0;
  }
  const bool all = argc > 2 && std::string_view(argv[2]) == "all";
  const auto records = compile_all(default_set(all));
  if (!records) {
    std::fprintf(stderr, "tilewise_precompile: %s\n", records.error().message.c_str());
    output.close();
    std::remove(argv[1]);
    return 1;
  }
  std::size_t bytes = 0;
  for (const auto& [key, record] : *records) {
    output << record.size() << ' ' << key << '\n' << record;
    bytes += record.size();
  }
  std::printf("%zu kernels compiled ahead of time, %zu bytes\n", records->size(), bytes);
  return output.good() ? 0 : 1;
}
