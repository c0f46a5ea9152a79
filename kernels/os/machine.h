// What the system says of the machine's cores and caches.
#pragma once

#include <stdint.h>

namespace ptlite {

/// At least 1.
int32_t core_count();

/// Bytes of a cache of each level; 0 where the system does not say. The third level is one instance, as a core sees it, where a package
/// has several.
struct CacheSizes {
  int64_t l1d, l2, l3;
};

/// Looked up once.
const CacheSizes& cache_sizes();

}  // namespace ptlite
