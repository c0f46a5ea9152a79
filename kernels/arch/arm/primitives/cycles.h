// A counter of time, and what to do while another thread is waited for.
#pragma once

#include <stdint.h>

#include "os/machine.h"

namespace ptlite {

// Nanoseconds: about as many as cycles. The processor's own counter counts at anything from a few megahertz on.
inline uint64_t cycles() { return static_cast<uint64_t>(clock_nanoseconds()); }

// A step of a loop that waits. `isb` keeps the core from running ahead; `yield` does nothing on most.
inline void pause() { __asm__ volatile("isb" ::: "memory"); }

}  // namespace ptlite
