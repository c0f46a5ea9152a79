#include "os/features.h"

namespace ptlite {

uint64_t processor_features(uint32_t) { return 0; }

}  // namespace ptlite
