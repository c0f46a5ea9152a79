#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

bool read_whole(int fd, char* to, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    const ssize_t count = pread(fd, to + at, static_cast<size_t>(bytes - at), at);
    if (count < 0 && errno == EINTR) continue;
    // 0: the file was cut off meanwhile
    if (count <= 0) return false;
    at += count;
  }
  return true;
}

// Private, so that operators that write in place change this process's view and never the file.
int32_t map(mem_map_frame* f) {
  const bool copied = f->copied != 0;
  const size_t size = static_cast<size_t>(f->size);
  const int flags = MAP_PRIVATE | (copied ? MAP_ANONYMOUS : 0);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, copied ? -1 : f->descriptor, 0);
  if (memory == MAP_FAILED) {
    f->header.detail = errno;
    return errno == ENOMEM ? PTLITE_NO_MEMORY : PTLITE_FILE;
  }
  if (copied && !read_whole(f->descriptor, static_cast<char*>(memory), f->size)) {
    f->header.detail = errno;
    munmap(memory, size);
    return PTLITE_FILE;
  }
  f->address = reinterpret_cast<uint64_t>(memory);
  return PTLITE_OK;
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
