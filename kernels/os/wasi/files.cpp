#include "os/files.h"

#include <errno.h>

namespace ptlite {

// There are no files: JavaScript has their bytes.
void* map_file(int, size_t) { return nullptr; }

bool read_file(int, void*, int64_t) { return false; }

int file_error() { return ENOTSUP; }

}  // namespace ptlite
