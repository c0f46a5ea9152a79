// What Linux and macOS have alike: files, libraries and the clock.
#include "os/files.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "os/machine.h"

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

void* map_file(int descriptor, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* open_library(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

const char* library_error() { return dlerror(); }

int64_t clock_nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

}  // namespace ptlite
