// Open files, by their descriptor in the program that loads the library, and shared libraries that are opened at run time.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ptlite {

/// The first `bytes` of a file. False where they cannot be read, or the file has fewer.
bool read_file(int descriptor, void* to, int64_t bytes);

/// The first `bytes` of a file in pages that are read when they are first touched. Writing changes this process's view and never the file.
/// nullptr where it cannot be mapped. Ends with unmap_pages.
void* map_file(int descriptor, size_t bytes);

/// Why the last of these failed, as errno.
int file_error();

/// nullptr where the system does not open it; `library_error` says why.
void* open_library(const char* path);
/// The address of a name in a library; nullptr where it has none.
void* find_symbol(void* library, const char* name);
const char* library_error();

}  // namespace ptlite
