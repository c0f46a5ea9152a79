// Sizes of the caches that a core of this machine reaches.
#pragma once

#include <stdint.h>

namespace ptlite {

/// Bytes of a cache of each level; 0 where the system does not say. The third level is one instance, as a core sees it, where a package
/// has several.
struct CacheSizes {
  int64_t l1d, l2, l3;
};

/// Looked up once.
const CacheSizes& cache_sizes();

}  // namespace ptlite
