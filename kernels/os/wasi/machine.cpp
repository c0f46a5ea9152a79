#include "os/machine.h"

namespace ptlite {

// One thread, of whatever machine; nothing is said of its caches.
int32_t core_count() { return 1; }

const CacheSizes& cache_sizes() {
  static constexpr CacheSizes unknown = {0, 0, 0};
  return unknown;
}

}  // namespace ptlite
