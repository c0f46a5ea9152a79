#include "os/features.h"

#include <sys/sysctl.h>

namespace ptlite {
namespace {

/// A feature of 64-bit Arm by the system's name of it, as the bit that stands for it on Linux.
struct Feature {
  const char* name;
  uint32_t vector, bit;
};

constexpr Feature kFeatures[] = {
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

uint64_t processor_features(uint32_t vector) {
#if defined(__aarch64__)
  // every such processor has floats and vectors
  uint64_t features = vector == 16 ? 3 : 0;
  for (const Feature& feature : kFeatures)
    if (feature.vector == vector && has(feature.name)) features |= uint64_t{1} << feature.bit;
  return features;
#else
  (void)vector, (void)kFeatures, (void)has;
  return 0;
#endif
}

}  // namespace ptlite
