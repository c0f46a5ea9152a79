#include "os/files.h"

#include <errno.h>
#include <unistd.h>

namespace ptlite {

bool read_file(int descriptor, void* to, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    const ssize_t count = pread(descriptor, static_cast<char*>(to) + at, static_cast<size_t>(bytes - at), at);
    if (count < 0 && errno == EINTR) continue;
    // 0: the file was cut off meanwhile
    if (count <= 0) return false;
    at += count;
  }
  return true;
}

int file_error() { return errno; }

}  // namespace ptlite
