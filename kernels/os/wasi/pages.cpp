#include "os/pages.h"

#include <stdlib.h>
#include <string.h>

namespace ptlite {

size_t page_size() { return size_t{1} << 16; }

size_t in_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

// Memory is one range that grows: pages are blocks of the C library.
void* map_pages(size_t bytes) {
  void* const block = aligned_alloc(page_size(), in_pages(bytes));
  if (block != nullptr) memset(block, 0, bytes);
  return block;
}

void unmap_pages(void* block, size_t) { free(block); }

void prefer_huge_pages(uint64_t, size_t) {}

// What was given out cannot go back before it is freed.
void forget_pages(uint64_t, size_t) {}

void discard_clean_pages(uint64_t, size_t) {}

void trim_heap() {}

// Code is no memory.
void* map_code(const void*, size_t) { return nullptr; }

// Every address is memory: none faults.
uintptr_t reserve_pages(size_t) { return 0; }

bool open_pages(uintptr_t, size_t) { return false; }

bool close_pages(uintptr_t, size_t) { return false; }

}  // namespace ptlite
