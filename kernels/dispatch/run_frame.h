// How kernels that run other kernels do it.
#pragma once

#include <stdint.h>

namespace ptlite {

// Runs the kernel that a frame names, as ptlite_launch does, but leaves the header's `host` as it is.
int32_t ptlite_run_frame(void* frame);

// The same, with the implementation of the highest of `levels`, a set of bits by level, that is in use and has one.
int32_t ptlite_run_frame_at(void* frame, uint32_t levels);

}  // namespace ptlite
