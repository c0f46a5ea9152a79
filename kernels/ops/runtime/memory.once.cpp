#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/memory.h"
#include "memory/guard.h"
#include "dispatch/kernel.h"
#include "memory/owner.h"

namespace {

constexpr size_t kAlignment = 64;
// Bytes of a huge page. Blocks are made of them where the system has any: one page fault in place of 512, when a network first runs or its
// weights are packed. What is left behind the last whole one gets one of its own where it takes half of it at least.
constexpr size_t kHuge = size_t{1} << 21;

template <class T = void>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// Blocks from here on are mapped by themselves: what a thread gives back at its end leaves no holes in an arena of the C library.
constexpr size_t kMapped = size_t{1} << 17;

void unmap_block(void* block, size_t bytes) { munmap(block, bytes); }

void free_block(void* block, size_t) { free(block); }

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

/// Bytes of the pages for as many bytes.
size_t in_pages(size_t bytes) {
  return round_up(bytes, bytes % kHuge >= kHuge / 2 ? kHuge : static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

/// Pages of their own, from a multiple of kHuge on where there are as many.
void* map_block(size_t bytes) {
  const size_t spare = bytes >= kHuge ? kHuge : 0;
  void* const memory = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (spare == 0) return memory;
  const uintptr_t from = reinterpret_cast<uintptr_t>(memory), begin = round_up(from, kHuge), end = begin + bytes;
  if (begin > from) munmap(memory, begin - from);
  if (end < from + bytes + spare) munmap(pointer(end), from + bytes + spare - end);
  madvise(pointer(begin), bytes & ~(kHuge - 1), MADV_HUGEPAGE);
  return pointer(begin);
}

int32_t alloc(mem_alloc_frame* f) {
  const auto wanted = static_cast<size_t>(f->bytes);
  // no process can address as much, and sums of it are no sizes any more
  if (wanted > SIZE_MAX / 2) return PTLITE_NO_MEMORY;
  const bool guarded = ptlite::guarded(), mapped = wanted >= kMapped;
  const size_t bytes = guarded ? wanted : mapped ? in_pages(wanted) : round_up(wanted == 0 ? 1 : wanted, kAlignment);
  void* const block = guarded ? ptlite::take_guarded(bytes) : mapped ? map_block(bytes) : aligned_alloc(kAlignment, bytes);
  if (block == nullptr) return PTLITE_NO_MEMORY;
  const ptlite::Destroy destroy = guarded ? ptlite::return_guarded : mapped ? unmap_block : free_block;
  if (!ptlite::own(block, bytes, destroy)) {
    destroy(block, bytes);
    return PTLITE_NO_MEMORY;
  }
  f->address = reinterpret_cast<uint64_t>(block);
  return PTLITE_OK;
}

int32_t release(mem_free_frame* f) {
  return ptlite::give_up(pointer(f->address)) ? PTLITE_OK : PTLITE_NOT_OWNED;
}

// Calls madvise on the whole pages of a range.
void advise(uint64_t address, size_t bytes, int advice) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) madvise(pointer(first), last - first, advice);
}

int32_t place(mem_place_frame* f) {
  f->address = (f->header.host + kAlignment - 1) & ~uint64_t{kAlignment - 1};
  if (static_cast<size_t>(f->bytes) >= kHuge) advise(f->address, f->bytes, MADV_HUGEPAGE);
  return PTLITE_OK;
}

int32_t forget(mem_forget_frame* f) {
  advise(f->address, f->bytes, MADV_DONTNEED);
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

// With guard pages a file is read too: it has none behind its last byte. Private, so that operators that write in place change this process's view and never the file.
int32_t map(mem_map_frame* f) {
  const bool guarded = ptlite::guarded(), copied = f->copied != 0 || guarded;
  const size_t size = static_cast<size_t>(f->size);
  const int flags = MAP_PRIVATE | (copied ? MAP_ANONYMOUS : 0);
  void* memory = guarded ? ptlite::take_guarded(round_up(size, kAlignment))
                         : mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, copied ? -1 : f->descriptor, 0);
  if (memory == MAP_FAILED || memory == nullptr) {
    f->header.detail = errno;
    return errno == ENOMEM ? PTLITE_NO_MEMORY : PTLITE_FILE;
  }
  const ptlite::Destroy destroy = guarded ? ptlite::return_guarded : unmap_block;
  if (copied && !read_whole(f->descriptor, static_cast<char*>(memory), f->size)) {
    f->header.detail = errno;
    destroy(memory, size);
    return PTLITE_FILE;
  }
  if (!ptlite::own(memory, size, destroy)) {
    destroy(memory, size);
    return PTLITE_NO_MEMORY;
  }
  f->address = reinterpret_cast<uint64_t>(memory);
  return PTLITE_OK;
}

int32_t unmap(mem_unmap_frame* f) {
  if (f->size <= 0) return PTLITE_OK;
  return ptlite::give_up(pointer(f->address)) ? PTLITE_OK : PTLITE_NOT_OWNED;
}

}  // namespace

PTLITE_KERNEL(mem_alloc, alloc)
PTLITE_KERNEL(mem_free, release)
PTLITE_KERNEL(mem_place, place)
PTLITE_KERNEL(mem_forget, forget)
PTLITE_KERNEL(mem_trim, trim)
PTLITE_KERNEL(mem_read, read)
PTLITE_KERNEL(mem_write, write)
PTLITE_KERNEL(mem_copy, copy)
PTLITE_KERNEL(mem_fill, fill)
PTLITE_KERNEL(mem_map, map)
PTLITE_KERNEL(mem_unmap, unmap)
