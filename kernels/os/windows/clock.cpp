#include "os/clock.h"

#include "os/windows/system.h"

namespace ptlite {

int64_t clock_nanoseconds() {
  LARGE_INTEGER count, frequency;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  constexpr int64_t second = 1000000000;
  // the product of the whole count has too many digits
  return count.QuadPart / frequency.QuadPart * second + count.QuadPart % frequency.QuadPart * second / frequency.QuadPart;
}

}  // namespace ptlite
