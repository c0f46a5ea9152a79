#include "os/files.h"

#include <errno.h>

#include "os/windows/host_program.h"
#include "os/windows/system.h"

namespace ptlite {
namespace {

/// Descriptors are numbers of the C library that the host was linked with, which has a list of its own. libuv says what they stand for.
HANDLE handle_of(int descriptor) {
  using Handle = void*(int);
  auto* const handle = reinterpret_cast<Handle*>(find_in_host("uv_get_osfhandle"));
  if (handle != nullptr) return handle(descriptor);
  errno = ENOTSUP;
  return INVALID_HANDLE_VALUE;
}

/// errno of the last call, as far as its users tell errors apart.
void set_errno() { errno = GetLastError() == ERROR_NOT_ENOUGH_MEMORY || GetLastError() == ERROR_COMMITMENT_LIMIT ? ENOMEM : EIO; }

}  // namespace

bool read_file(int descriptor, void* to, int64_t bytes) {
  HANDLE const file = handle_of(descriptor);
  if (file == INVALID_HANDLE_VALUE) return false;
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int64_t at = 0; at < bytes;) {
    OVERLAPPED place = {};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD count = 0;
    const DWORD wanted = static_cast<DWORD>(bytes - at < kMost ? bytes - at : kMost);
    // none: the file was cut off meanwhile
    if (!ReadFile(file, static_cast<char*>(to) + at, wanted, &count, &place) || count == 0) {
      set_errno();
      return false;
    }
    at += count;
  }
  return true;
}

void* map_file(int descriptor, size_t bytes) {
  HANDLE const file = handle_of(descriptor);
  if (file == INVALID_HANDLE_VALUE) return nullptr;
  const auto size = static_cast<uint64_t>(bytes);
  HANDLE const section = CreateFileMappingW(file, nullptr, PAGE_WRITECOPY, static_cast<DWORD>(size >> 32), static_cast<DWORD>(size), nullptr);
  if (section == nullptr) {
    set_errno();
    return nullptr;
  }
  void* const memory = MapViewOfFile(section, FILE_MAP_COPY, 0, 0, bytes);
  if (memory == nullptr) set_errno();
  // the view holds it
  CloseHandle(section);
  return memory;
}

int file_error() { return errno; }

}  // namespace ptlite
