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

/// A feature of 64-bit Arm by the system's name of it, as the bit that stands for it on Linux.
struct NamedFeature {
  const char* name;
  uint32_t vector, bit;
};

constexpr NamedFeature kFeatures[] = {
    {"hw.optional.arm.FEAT_FP16", 16, 9},   {"hw.optional.arm.FEAT_FP16", 16, 10}, {"hw.optional.arm.FEAT_DotProd", 16, 20},
    {"hw.optional.arm.FEAT_LSE", 16, 8},    {"hw.optional.arm.FEAT_RDM", 16, 12},  {"hw.optional.arm.FEAT_FHM", 16, 23},
    {"hw.optional.arm.FEAT_I8MM", 26, 13},  {"hw.optional.arm.FEAT_BF16", 26, 14},
};

bool has(const char* name) {
  int32_t value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
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

uint64_t processor_features(uint32_t vector) {
#if defined(__aarch64__)
  // every such processor has floats and vectors
  uint64_t features = vector == 16 ? 3 : 0;
  for (const NamedFeature& feature : kFeatures)
    if (feature.vector == vector && has(feature.name)) features |= uint64_t{1} << feature.bit;
  return features;
#else
  (void)vector, (void)kFeatures, (void)has;
  return 0;
#endif
}

// No processor of these machines has them.
bool request_tiles() { return false; }

}  // namespace ptlite
