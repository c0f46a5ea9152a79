// The system's clock.
#pragma once

#include <stdint.h>

namespace ptlite {

/// What CLOCK_MONOTONIC says, in nanoseconds.
int64_t clock_nanoseconds();

}  // namespace ptlite
