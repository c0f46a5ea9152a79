#include "isa/hwcap.h"

namespace ptlite {

CpuState decode_cpu(HwcapFunction hwcap, const void* context) {
  CpuState state{0, 0};
#define PTLITE_DECODE(name, vector, bit) \
  if ((hwcap(vector, context) >> (bit) & 1) != 0) state.features |= feature_bit(Feature_##name);
  PTLITE_FOR_EACH_FEATURE(PTLITE_DECODE)
#undef PTLITE_DECODE
  return state;
}

}  // namespace ptlite
