// A counter of time, and what to do while another thread is waited for.
#pragma once

#include <stdint.h>

#include "os/machine.h"

namespace ptlite {

// Nanoseconds: about as many as cycles, and enough to tell when to look at the clock again.
inline uint64_t cycles() { return static_cast<uint64_t>(clock_nanoseconds()); }

// A step of a loop that waits.
inline void pause() {}

}  // namespace ptlite
