#include "os/files.h"

#include <sys/mman.h>

namespace ptlite {

void* map_file(int descriptor, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace ptlite
