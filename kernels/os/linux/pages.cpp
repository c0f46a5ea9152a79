#include "os/pages.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace ptlite {
namespace {

// Bytes of a huge page. What is left behind the last whole one gets one of its own where it takes half of it at least.
constexpr size_t kHuge = size_t{1} << 21;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

// Calls madvise on the whole pages of a range.
void advise(uint64_t address, size_t bytes, int advice) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) & ~(page - 1), last = (address + bytes) & ~(page - 1);
  if (first < last) madvise(pointer(first), last - first, advice);
}

bool remap(uintptr_t from, size_t bytes, int protection, int more) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | more;
  return bytes == 0 || mmap(pointer(from), bytes, protection, flags, -1, 0) != MAP_FAILED;
}

}  // namespace

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t in_pages(size_t bytes) { return round_up(bytes, bytes % kHuge >= kHuge / 2 ? kHuge : page_size()); }

// From a multiple of kHuge on where there are as many.
void* map_pages(size_t bytes) {
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

void unmap_pages(void* block, size_t bytes) { munmap(block, bytes); }

void prefer_huge_pages(uint64_t address, size_t bytes) {
  if (bytes >= kHuge) advise(address, bytes, MADV_HUGEPAGE);
}

void forget_pages(uint64_t address, size_t bytes) { advise(address, bytes, MADV_DONTNEED); }

// Bits of an entry of /proc/self/pagemap. A page of a file is one that was not copied to be written to.
static constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62, kFilePage = uint64_t{1} << 61;

void discard_clean_pages(uint64_t address, size_t size) {
  const uint64_t page = page_size();
  const uint64_t first = (address + page - 1) / page, last = (address + size) / page;
  if (first >= last) return;
  const int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  // without it nobody can say which pages were written to: all stay
  if (pages < 0) return;
  constexpr uint64_t kBatch = 512;
  uint64_t entries[kBatch];
  for (uint64_t at = first; at < last;) {
    const uint64_t wanted = std::min(kBatch, last - at);
    const ssize_t bytes = pread(pages, entries, wanted * 8, static_cast<off_t>(at * 8));
    if (bytes < 8) break;
    const uint64_t count = static_cast<uint64_t>(bytes) / 8;
    const auto clean = [&](uint64_t i) { return (entries[i] & (kPresent | kSwapped | kFilePage)) == (kPresent | kFilePage); };
    for (uint64_t i = 0; i < count;) {
      uint64_t run = i;
      while (run < count && clean(run)) run++;
      if (run > i) madvise(reinterpret_cast<void*>((at + i) * page), (run - i) * page, MADV_DONTNEED);
      i = run + 1;
    }
    at += count;
  }
  close(pages);
}

// glibc alone has it.
extern "C" int malloc_trim(size_t) noexcept __attribute__((weak));

void trim_heap() {
  if (malloc_trim != nullptr) malloc_trim(0);
}

void* map_code(const void* code, size_t size) {
  const size_t bytes = round_up(size, page_size());
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  memcpy(memory, code, size);
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0) return memory;
  munmap(memory, bytes);
  return nullptr;
}

uintptr_t reserve_pages(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? 0 : reinterpret_cast<uintptr_t>(memory);
}

bool open_pages(uintptr_t from, size_t bytes) { return remap(from, bytes, PROT_READ | PROT_WRITE, 0); }

bool close_pages(uintptr_t from, size_t bytes) { return remap(from, bytes, PROT_NONE, MAP_NORESERVE); }

}  // namespace ptlite
