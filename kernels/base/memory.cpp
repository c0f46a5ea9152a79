#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/memory.h"
#include "isa/kernel.h"

namespace {

constexpr size_t kAlignment = 64;
// Bytes of a huge page. Blocks of as many are made of them where the system has any: one page fault in place of 512, when a network
// first runs or its weights are packed.
constexpr size_t kHuge = size_t{1} << 21;

template <class T = void>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

int32_t alloc(mem_alloc_frame* f) {
  const size_t bytes = (static_cast<size_t>(f->bytes) + kAlignment - 1) & ~(kAlignment - 1);
  if (bytes < static_cast<size_t>(f->bytes)) return PTLITE_NO_MEMORY;
  void* block = aligned_alloc(bytes >= kHuge ? kHuge : kAlignment, bytes == 0 ? kAlignment : bytes);
  if (block == nullptr) return PTLITE_NO_MEMORY;
  if (bytes >= kHuge) madvise(block, bytes & ~(kHuge - 1), MADV_HUGEPAGE);
  f->address = reinterpret_cast<uint64_t>(block);
  return PTLITE_OK;
}

int32_t release(mem_free_frame* f) {
  free(pointer(f->address));
  return PTLITE_OK;
}

int32_t trim(mem_trim_frame*) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return PTLITE_OK;
}

int32_t read(mem_read_frame* f) {
  if (f->bytes > 0) memcpy(pointer(f->header.host), pointer(f->address), f->bytes);
  return PTLITE_OK;
}

int32_t write(mem_write_frame* f) {
  if (f->bytes > 0) memcpy(pointer(f->address), pointer(f->header.host), f->bytes);
  return PTLITE_OK;
}

int32_t copy(mem_copy_frame* f) {
  if (f->bytes > 0) memmove(pointer(f->to), pointer(f->from), f->bytes);
  return PTLITE_OK;
}

int32_t fill(mem_fill_frame* f) {
  if (f->bytes > 0) memset(pointer(f->address), f->value, f->bytes);
  return PTLITE_OK;
}

// Private, so that operators that write in place change this process's view and never the file.
int32_t map(mem_map_frame* f) {
  const int fd = open(pointer<const char>(f->header.host), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    f->header.detail = errno;
    return PTLITE_FILE;
  }
  struct stat info;
  int32_t status = PTLITE_OK;
  f->address = 0;
  f->size = 0;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    f->header.detail = errno;
    status = PTLITE_FILE;
  } else if (info.st_size > 0) {
    void* memory = mmap(nullptr, info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) {
      f->header.detail = errno;
      status = PTLITE_FILE;
    } else {
      f->address = reinterpret_cast<uint64_t>(memory);
      f->size = info.st_size;
    }
  }
  close(fd);
  return status;
}

int32_t unmap(mem_unmap_frame* f) {
  if (f->size > 0) munmap(pointer(f->address), f->size);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(mem_alloc, alloc)
PTLITE_KERNEL(mem_free, release)
PTLITE_KERNEL(mem_trim, trim)
PTLITE_KERNEL(mem_read, read)
PTLITE_KERNEL(mem_write, write)
PTLITE_KERNEL(mem_copy, copy)
PTLITE_KERNEL(mem_fill, fill)
PTLITE_KERNEL(mem_map, map)
PTLITE_KERNEL(mem_unmap, unmap)
