#include "os/libraries.h"

#include <dlfcn.h>

namespace ptlite {

void* open_library(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

const char* library_error() { return dlerror(); }

}  // namespace ptlite
