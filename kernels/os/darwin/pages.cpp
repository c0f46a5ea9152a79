#include "os/pages.h"

#include <malloc/malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptlite {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

bool remap(uintptr_t from, size_t bytes, int protection) {
  return bytes == 0 || mmap(pointer(from), bytes, protection, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) != MAP_FAILED;
}

}  // namespace

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t in_pages(size_t bytes) { return round_up(bytes, page_size()); }

void* map_pages(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_pages(void* block, size_t bytes) { munmap(block, in_pages(bytes)); }

// Processes cannot ask for them.
void prefer_huge_pages(uint64_t, size_t) {}

void forget_pages(uint64_t address, size_t bytes) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) madvise(pointer(first), last - first, MADV_FREE);
}

// The system takes pages of files back by itself, those alone that nobody has written to.
void discard_clean_pages(uint64_t address, size_t bytes) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) madvise(pointer(first), last - first, MADV_DONTNEED);
}

void trim_heap() { malloc_zone_pressure_relief(nullptr, 0); }

void* map_code(const void* code, size_t size) {
  const size_t bytes = in_pages(size);
  void* const memory = map_pages(bytes);
  if (memory == nullptr) return nullptr;
  memcpy(memory, code, size);
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0) return memory;
  munmap(memory, bytes);
  return nullptr;
}

uintptr_t reserve_pages(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return memory == MAP_FAILED ? 0 : reinterpret_cast<uintptr_t>(memory);
}

bool open_pages(uintptr_t from, size_t bytes) { return remap(from, bytes, PROT_READ | PROT_WRITE); }

bool close_pages(uintptr_t from, size_t bytes) { return remap(from, bytes, PROT_NONE); }

}  // namespace ptlite
