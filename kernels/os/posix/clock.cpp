#include "os/clock.h"

#include <time.h>

namespace ptlite {

int64_t clock_nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

}  // namespace ptlite
