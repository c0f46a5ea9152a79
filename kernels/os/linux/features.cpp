#include "os/features.h"

#include <sys/auxv.h>

namespace ptlite {

uint64_t processor_features(uint32_t vector) { return getauxval(vector); }

}  // namespace ptlite
