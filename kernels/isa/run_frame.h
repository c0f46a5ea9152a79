// How kernels that run other kernels do it.
#pragma once

#include <stdint.h>

namespace ptlite {

// Runs the kernel that a frame names, as ptlite_launch does, but leaves the header's `host` as it is.
int32_t ptlite_run_frame(void* frame);

}  // namespace ptlite
