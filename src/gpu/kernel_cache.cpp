#include "gpu/kernel_cache.h"

#include <map>
#include <mutex>

#include "gpu/disk_cache.h"
#include "gpu/embedded_cubins.h"
#include "gpu/sha256.h"

namespace tilewise::gpu {
namespace {

using KernelPointer = std::shared_ptr<const CompiledKernel>;

// One kernel of this process; its mutex is held while it is being found.
struct Slot {
  std::mutex mutex;
  KernelPointer kernel;
};

std::shared_ptr<Slot> find_slot(const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Slot>> slots;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Slot>& slot = slots[key];
  if (slot == nullptr) slot = std::make_shared<Slot>();
  return slot;
}

CachedKernel made(CompiledKernel kernel, KernelOrigin origin) {
  return {std::make_shared<const CompiledKernel>(std::move(kernel)), origin};
}

Result<CachedKernel> from_disk_or_compiler(const TranslationUnit& unit, const std::string& key,
                                           std::string_view architecture) {
  const auto compiler = nvrtc();
  if (!compiler) {
    return missing_capability("kernel \"" + unit.source.name +
                              "\" is not among those compiled ahead of time for " +
                              std::string(architecture) + ", and " + compiler.error().message);
  }
  const std::string disk_key = sha256_hex(key + (*compiler)->version());
  const DiskCache cache(DiskCache::default_folder());
  if (auto found = cache.load(disk_key)) return made(std::move(*found), KernelOrigin::disk);

  const CacheLock lock = cache.lock(disk_key);
  if (auto found = cache.load(disk_key)) return made(std::move(*found), KernelOrigin::disk);
  auto compiled = compile_unit(unit, architecture);
  if (!compiled) return std::unexpected(compiled.error());
  cache.store(disk_key, *compiled);
  return made(std::move(*compiled), KernelOrigin::compiled);
}

}  // namespace

std::string_view to_string(KernelOrigin origin) {
  switch (origin) {
    case KernelOrigin::memory:
      return "memory";
    case KernelOrigin::embedded:
      return "embedded";
    case KernelOrigin::disk:
      return "disk";
    case KernelOrigin::compiled:
      return "compiled";
  }
  return "";
}

std::string source_key(const TranslationUnit& unit, std::string_view architecture) {
  std::string all;
  const auto add = [&](std::string_view text) {
    all += std::to_string(text.size()) + ":";
    all += text;
  };
  add(unit.source.text);
  for (const NamedText& header : unit.headers) {
    add(header.name);
    add(header.text);
  }
  for (const std::string& option : compile_options(architecture)) add(option);
  return sha256_hex(all);
}

Result<CachedKernel> find_kernel(const TranslationUnit& unit, std::string_view architecture) {
  const std::string key = source_key(unit, architecture);
  const std::shared_ptr<Slot> slot = find_slot(key);
  const std::lock_guard lock(slot->mutex);
  if (slot->kernel != nullptr) return CachedKernel{slot->kernel, KernelOrigin::memory};

  Result<CachedKernel> found;
  if (auto embedded = find_embedded_cubin(key)) {
    found = made(std::move(*embedded), KernelOrigin::embedded);
  } else {
    found = from_disk_or_compiler(unit, key, architecture);
  }
  if (found) slot->kernel = found->kernel;
  return found;
}

}  // namespace tilewise::gpu
