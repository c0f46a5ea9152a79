#include "os/clock.h"

#include "os/wasi/imports.h"

namespace ptlite {

int64_t clock_nanoseconds() { return static_cast<int64_t>(ptlite_clock() * 1e6); }

}  // namespace ptlite
