#include "os/libraries.h"

namespace ptlite {

void* open_library(const char*) { return nullptr; }

void* find_symbol(void*, const char*) { return nullptr; }

const char* library_error() { return "this system does not load libraries at run time"; }

}  // namespace ptlite
