#include "os/files.h"

#include <errno.h>

namespace ptlite {

// There are no files: JavaScript has their bytes.
void* map_file(int, size_t) { return nullptr; }

bool read_file(int, void*, int64_t) { return false; }

int file_error() { return ENOTSUP; }

void* open_library(const char*) { return nullptr; }

void* find_symbol(void*, const char*) { return nullptr; }

const char* library_error() { return "this system does not load libraries at run time"; }

}  // namespace ptlite
