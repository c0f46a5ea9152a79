// The processor's counter of time, and what to do while another thread is waited for.
#pragma once

#include <stdint.h>
#include <x86intrin.h>

namespace ptlite {

// Counts on at about the rate of the processor's clock; cheaper to read than the system's time.
inline uint64_t cycles() { return __rdtsc(); }

// A step of a loop that waits: the processor gives way to its other thread.
inline void pause() { __builtin_ia32_pause(); }

}  // namespace ptlite
