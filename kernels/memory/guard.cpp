#include "guard.h"

#if defined(PTLITE_GUARDS)

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "os/lock.h"
#include "os/pages.h"

namespace ptlite {
namespace {

/// Addresses that are reserved at a time. What was used once stays reserved, so that nothing gets it again.
constexpr size_t kReserved = size_t{1} << (sizeof(size_t) == 8 ? 38 : 28);
constexpr size_t kMostAlignment = 64;

struct Settings {
  bool on = false;
  bool at_start = false;
  /// 0: as the size allows.
  size_t alignment = 0;

  Settings() {
    const char* const text = getenv("PTLITE_GUARD");
    on = text != nullptr && *text != 0 && strcmp(text, "0") != 0;
    if (!on) return;
    at_start = strcmp(text, "start") == 0;
    if (strncmp(text, "end:", 4) == 0) alignment = static_cast<size_t>(atoi(text + 4));
    if ((alignment & (alignment - 1)) != 0 || alignment > kMostAlignment) alignment = kMostAlignment;
  }
};

const Settings& settings() {
  static const Settings read;
  return read;
}

size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

/// `bytes` reserved bytes, with one reserved page before and one behind them; 0 where there are no addresses left.
uintptr_t reserve(size_t bytes) {
  static Mutex mutex;
  static uintptr_t next = 0;
  static size_t left = 0;
  const size_t wanted = bytes + page_size();
  const Lock lock(mutex);
  if (wanted > left) {
    const size_t size = wanted + page_size() > kReserved ? wanted + page_size() : kReserved;
    const uintptr_t memory = reserve_pages(size);
    next = memory == 0 ? 0 : memory + page_size();
    left = memory == 0 ? 0 : size - page_size();
  }
  const uintptr_t found = left == 0 ? 0 : next;
  if (found != 0) {
    next += wanted;
    left -= wanted;
  }
  return found;
}

}  // namespace

bool guarded() { return settings().on; }

void* take_guarded(size_t bytes, size_t alignment) {
  const size_t pages = whole_pages(bytes);
  const uintptr_t from = reserve(pages);
  if (from == 0 || !open_pages(from, pages)) return nullptr;
  uintptr_t block = from;
  if (!settings().at_start) {
    const size_t most = alignment > settings().alignment ? alignment : settings().alignment;
    block = (from + pages - bytes) & ~((most > 1 ? most : 1) - 1);
  }
  memset(reinterpret_cast<void*>(block), 0xff, bytes);
  return reinterpret_cast<void*>(block);
}

void return_guarded(void* block, size_t bytes) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(block), from = at & ~(page_size() - 1);
  close_pages(from, whole_pages(at + bytes - from));
}

}  // namespace ptlite

#endif
