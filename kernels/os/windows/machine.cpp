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

uint64_t processor_features(uint32_t) { return 0; }

bool request_tiles() {
  using Enable = BOOL WINAPI(DWORD64 features);
  auto* const enable = function_of<Enable>(L"kernel32.dll", "EnableProcessOptionalXStateFeatures");
  constexpr DWORD64 tile_data = DWORD64{1} << 18;
  return enable != nullptr && enable(tile_data);
}

int64_t clock_nanoseconds() {
  LARGE_INTEGER count, frequency;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  constexpr int64_t second = 1000000000;
  // the product of the whole count has too many digits
  return count.QuadPart / frequency.QuadPart * second + count.QuadPart % frequency.QuadPart * second / frequency.QuadPart;
}

}  // namespace ptlite
