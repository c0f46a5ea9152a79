#include "os/machine.h"

#include "os/wasi/imports.h"

namespace ptlite {

// One thread, of whatever machine; nothing is said of its caches.
int32_t core_count() { return 1; }

const CacheSizes& cache_sizes() {
  static constexpr CacheSizes unknown = {0, 0, 0};
  return unknown;
}

uint64_t processor_features(uint32_t) { return 0; }

int64_t clock_nanoseconds() { return static_cast<int64_t>(ptlite_clock() * 1e6); }

}  // namespace ptlite
