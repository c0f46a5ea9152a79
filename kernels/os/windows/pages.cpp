#include "os/pages.h"

#include <string.h>

#include "os/windows/system.h"

namespace ptlite {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

size_t page_size() {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  return system.dwPageSize;
}

size_t in_pages(size_t bytes) { return round_up(bytes, page_size()); }

void* map_pages(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

// of either kind: memory of its own, or a view of a file
void unmap_pages(void* block, size_t) {
  MEMORY_BASIC_INFORMATION found;
  if (VirtualQuery(block, &found, sizeof(found)) == sizeof(found) && found.Type == MEM_MAPPED) UnmapViewOfFile(block);
  else VirtualFree(block, 0, MEM_RELEASE);
}

// Large pages are for accounts with a privilege of their own.
void prefer_huge_pages(uint64_t, size_t) {}

void forget_pages(uint64_t address, size_t bytes) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) VirtualAlloc(pointer(first), last - first, MEM_RESET, PAGE_READWRITE);
}

// Unlocking what is not locked takes it out of the working set: content stays, and what was not written to needs no room.
void discard_clean_pages(uint64_t address, size_t bytes) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) VirtualUnlock(pointer(first), last - first);
}

// The system's heap gives large blocks back by itself.
void trim_heap() {}

void* map_code(const void* code, size_t size) {
  const size_t bytes = in_pages(size);
  void* const memory = map_pages(bytes);
  if (memory == nullptr) return nullptr;
  memcpy(memory, code, size);
  DWORD before;
  if (VirtualProtect(memory, bytes, PAGE_EXECUTE_READ, &before) && FlushInstructionCache(GetCurrentProcess(), memory, bytes)) return memory;
  unmap_pages(memory, bytes);
  return nullptr;
}

uintptr_t reserve_pages(size_t bytes) { return reinterpret_cast<uintptr_t>(VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS)); }

bool open_pages(uintptr_t from, size_t bytes) { return bytes == 0 || VirtualAlloc(pointer(from), bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr; }

bool close_pages(uintptr_t from, size_t bytes) { return bytes == 0 || VirtualFree(pointer(from), bytes, MEM_DECOMMIT) != 0; }

}  // namespace ptlite
