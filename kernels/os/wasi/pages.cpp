#include "os/pages.h"

#include <stdlib.h>

namespace ptlite {

// Memory is one range that grows, of which the C library hands out parts: to its blocks, pages are multiples of what tensors are aligned to.
size_t page_size() { return 64; }

size_t in_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

void* map_pages(size_t bytes) { return aligned_alloc(page_size(), in_pages(bytes)); }

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
