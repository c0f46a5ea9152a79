// Shared libraries that are opened at run time.
#pragma once

namespace ptlite {

/// nullptr where the system does not open it; `library_error` says why.
void* open_library(const char* path);
/// The address of a name in a library; nullptr where it has none.
void* find_symbol(void* library, const char* name);
const char* library_error();

}  // namespace ptlite
