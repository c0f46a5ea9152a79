// What the system says of the machine: its cores and caches, what its processor has, its clock.
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

/// What the system reports of the processor's features, for processors that do not say it themselves: a vector of them by its number; 0 where the system does not report it. On Linux one of the auxiliary vector: AT_HWCAP is 16, AT_HWCAP2 26.
uint64_t processor_features(uint32_t vector);

/// Asks for tile registers of x86 processors, whose content the system saves only for processes that have asked for it. Where it is refused, the first tile instruction is a fault.
bool request_tiles();

/// What CLOCK_MONOTONIC says, in nanoseconds.
int64_t clock_nanoseconds();

}  // namespace ptlite
