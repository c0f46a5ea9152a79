#include "os/tiles.h"

#if defined(__x86_64__)

#include <sys/syscall.h>
#include <unistd.h>

namespace ptlite {

// 8 KiB for each thread that uses them
bool request_tiles() {
  constexpr long arch_req_xcomp_perm = 0x1023;
  constexpr long tile_data = 18;
  return syscall(SYS_arch_prctl, arch_req_xcomp_perm, tile_data) == 0;
}

}  // namespace ptlite

#endif
