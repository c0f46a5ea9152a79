// What the system reports of the processor's features, for processors that do not say it themselves.
#pragma once

#include <stdint.h>

namespace ptlite {

/// A vector of features by its number; 0 where the system does not report it. On Linux one of the auxiliary vector: AT_HWCAP is 16, AT_HWCAP2 26.
uint64_t processor_features(uint32_t vector);

}  // namespace ptlite
