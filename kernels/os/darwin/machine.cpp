#include "os/machine.h"

#include <stddef.h>
#include <sys/sysctl.h>

#include "dispatch/processor.h"
#include "os/lock.h"

namespace ptlite {
namespace {

/// 0 where the system has no such number, of four or eight bytes.
int64_t number_of(const char* name) {
  int64_t value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value > 0 ? value : 0;
}

/// Of the fast cores, where there are two kinds.
int64_t of_fast_cores(const char* theirs, const char* all) {
  const int64_t value = number_of(theirs);
  return value > 0 ? value : number_of(all);
}

Once once;
CacheSizes sizes;

void look_up() {
  sizes = {of_fast_cores("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"), of_fast_cores("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
           number_of("hw.l3cachesize")};
  if (sizes.l3 == 0) sizes.l3 = third_level_cache();
}

}  // namespace

int32_t core_count() {
  const int64_t cores = number_of("hw.activecpu");
  return cores > 0 ? static_cast<int32_t>(cores) : 1;
}

const CacheSizes& cache_sizes() {
  once.run(look_up);
  return sizes;
}

}  // namespace ptlite
