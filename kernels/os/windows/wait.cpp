#include "os/wait.h"

#include "os/windows/system.h"

namespace ptlite {

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  const int64_t milliseconds = (most + 999999) / 1000000;
  const DWORD limit = most < 0 ? INFINITE : milliseconds < INFINITE ? static_cast<DWORD>(milliseconds) : INFINITE - 1;
  return WaitOnAddress(&word, &expected, sizeof(expected), limit) || GetLastError() != ERROR_TIMEOUT;
}

void wake(std::atomic<uint32_t>& word, int count) {
  if (count == 1) WakeByAddressSingle(&word);
  else WakeByAddressAll(&word);
}

}  // namespace ptlite
