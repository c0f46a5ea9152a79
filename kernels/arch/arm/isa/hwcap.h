// What the vectors of features that the system reports say of a 64-bit Arm CPU. A pure function of recorded values, so that it can be tried on
// CPUs that are not there.
#pragma once

#include "dispatch/levels.h"

namespace ptlite {

// A vector of features by its number (AT_HWCAP, AT_HWCAP2); 0 where the system reports none.
using HwcapFunction = uint64_t (*)(uint32_t vector, const void* context);

inline CpuState decode_cpu(HwcapFunction hwcap, const void* context) {
  CpuState state{0, 0};
#define PTLITE_DECODE(name, vector, bit) \
  if ((hwcap(vector, context) >> (bit) & 1) != 0) state.features |= feature_bit(Feature_##name);
  PTLITE_FOR_EACH_FEATURE(PTLITE_DECODE)
#undef PTLITE_DECODE
  return state;
}

}  // namespace ptlite
