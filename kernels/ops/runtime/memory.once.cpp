#include <errno.h>
#include <string.h>

#include "frames/memory.h"
#include "memory/guard.h"
#include "dispatch/kernel.h"
#include "memory/owner.h"
#include "os/files.h"
#include "os/heap.h"
#include "os/pages.h"

namespace {

constexpr size_t kAlignment = 64;

template <class T = void>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// Blocks from here on are mapped by themselves: what a thread gives back at its end leaves no holes in an arena of the C library.
constexpr size_t kMapped = size_t{1} << 17;

void free_block(void* block, size_t) { ptlite::free_aligned(block); }

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

int32_t alloc(mem_alloc_frame* f) {
  const auto wanted = static_cast<size_t>(f->bytes);
  // no process can address as much, and sums of it are no sizes any more
  if (wanted > SIZE_MAX / 2) return PTLITE_NO_MEMORY;
  const bool guarded = ptlite::guarded(), mapped = wanted >= kMapped;
  const size_t bytes = guarded ? wanted : mapped ? ptlite::in_pages(wanted) : round_up(wanted == 0 ? 1 : wanted, kAlignment);
  void* const block = guarded ? ptlite::take_guarded(bytes) : mapped ? ptlite::map_pages(bytes) : ptlite::allocate_aligned(kAlignment, bytes);
  if (block == nullptr) return PTLITE_NO_MEMORY;
  const ptlite::Destroy destroy = guarded ? ptlite::return_guarded : mapped ? ptlite::unmap_pages : free_block;
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

int32_t place(mem_place_frame* f) {
  f->address = (f->header.host + kAlignment - 1) & ~uint64_t{kAlignment - 1};
  ptlite::prefer_huge_pages(f->address, static_cast<size_t>(f->bytes));
  return PTLITE_OK;
}

int32_t forget(mem_forget_frame* f) {
  ptlite::forget_pages(f->address, static_cast<size_t>(f->bytes));
  return PTLITE_OK;
}

int32_t trim(mem_trim_frame*) {
  ptlite::trim_heap();
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

// With guard pages a file is read too: it has none behind its last byte. Private, so that operators that write in place change this process's view and never the file.
int32_t map(mem_map_frame* f) {
  const bool guarded = ptlite::guarded(), copied = f->copied != 0 || guarded;
  const size_t size = static_cast<size_t>(f->size);
  const size_t pages = ptlite::in_pages(size), mapped = copied && !guarded ? pages : size;
  void* memory = guarded  ? ptlite::take_guarded(round_up(size, kAlignment))
                 : copied ? ptlite::map_pages(pages)
                          : ptlite::map_file(f->descriptor, size);
  if (memory == nullptr) {
    f->header.detail = ptlite::file_error();
    return f->header.detail == ENOMEM ? PTLITE_NO_MEMORY : PTLITE_FILE;
  }
  const ptlite::Destroy destroy = guarded ? ptlite::return_guarded : ptlite::unmap_pages;
  if (copied && !ptlite::read_file(f->descriptor, memory, f->size)) {
    f->header.detail = ptlite::file_error();
    destroy(memory, mapped);
    return PTLITE_FILE;
  }
  if (!ptlite::own(memory, mapped, destroy)) {
    destroy(memory, mapped);
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
