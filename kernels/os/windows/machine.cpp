#include "os/machine.h"

#include <stdlib.h>

#include "dispatch/processor.h"
#include "os/lock.h"
#include "os/windows/system.h"

namespace ptlite {
namespace {

Once once;
CacheSizes sizes;

/// Of the caches that the first core has.
void look_up() {
  sizes = {0, 0, third_level_cache()};
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  auto* const rows = static_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION*>(malloc(bytes));
  if (rows == nullptr) return;
  if (GetLogicalProcessorInformation(rows, &bytes)) {
    for (DWORD i = 0; i < bytes / sizeof(*rows); i++) {
      const SYSTEM_LOGICAL_PROCESSOR_INFORMATION& row = rows[i];
      const CACHE_DESCRIPTOR& cache = row.Cache;
      if (row.Relationship != RelationCache || (row.ProcessorMask & 1) == 0 || cache.Type == CacheInstruction || cache.Type == CacheTrace) continue;
      int64_t* const size = cache.Level == 1 ? &sizes.l1d : cache.Level == 2 ? &sizes.l2 : cache.Level == 3 ? &sizes.l3 : nullptr;
      if (size != nullptr && cache.Size > 0) *size = cache.Size;
    }
  }
  free(rows);
}

}  // namespace

int32_t core_count() {
  const DWORD cores = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return cores > 0 ? static_cast<int32_t>(cores) : 1;
}

const CacheSizes& cache_sizes() {
  once.run(look_up);
  return sizes;
}

}  // namespace ptlite
