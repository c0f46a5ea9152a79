#include "os/files.h"

#include <errno.h>

namespace ptlite {

// Files are read, never mapped.
void* map_file(int, size_t) {
  errno = ENOTSUP;
  return nullptr;
}

}  // namespace ptlite
