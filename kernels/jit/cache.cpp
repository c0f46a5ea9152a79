#include "jit/cache.h"

#include <new>
#include <unordered_map>

#include "os/lock.h"

namespace ptlite {
namespace jit {
namespace {

Mutex mutex;

// Never destroyed: other threads may still run kernels while the process exits.
std::unordered_map<std::string, Kernel*>& kernels() {
  static auto* map = new std::unordered_map<std::string, Kernel*>;
  return *map;
}

}  // namespace

Kernel* obtain(const std::string& key, const std::string& name, Generated (*generate)(const void*), const void* description) {
  const Lock lock(mutex);
  const auto found = kernels().find(key);
  if (found != kernels().end()) {
    found->second->users++;
    return found->second;
  }
  if (!enabled() || !memory_available()) return nullptr;
  const Generated generated = generate(description);
  if (generated.code.empty()) return nullptr;
  const Code code = seal(generated.code.data(), generated.code.size());
  if (code.entry == nullptr) return nullptr;
  dump(name.c_str(), generated.code.data(), generated.code.size());
  auto* kernel = new (std::nothrow) Kernel;
  if (kernel == nullptr) {
    unmap(code);
    return nullptr;
  }
  kernel->start = code.entry;
  kernel->key = key;
  kernel->code = code;
  kernel->users = 1;
  kernels().emplace(key, kernel);
  return kernel;
}

void release(Kernel* kernel) {
  const Lock lock(mutex);
  if (--kernel->users > 0) return;
  kernels().erase(kernel->key);
  unmap(kernel->code);
  delete kernel;
}

Totals totals() {
  const Lock lock(mutex);
  Totals sum{0, 0};
  for (const auto& entry : kernels()) {
    sum.kernels++;
    sum.bytes += static_cast<int64_t>(entry.second->code.bytes);
  }
  return sum;
}

}  // namespace jit
}  // namespace ptlite
