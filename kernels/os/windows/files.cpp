#include "os/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

__thread char reason[512];

void note_reason() {
  const DWORD error = GetLastError();
  wchar_t wide[256];
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0, wide, 256, nullptr);
  // a sentence on a line of its own
  while (length > 0 && (wide[length - 1] == L'\n' || wide[length - 1] == L'\r' || wide[length - 1] == L' ' || wide[length - 1] == L'.')) length--;
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, wide, static_cast<int>(length), reason, sizeof(reason) - 1, nullptr, nullptr);
  reason[bytes] = '\0';
  if (bytes == 0) snprintf(reason, sizeof(reason), "error %lu of Windows", error);
}

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

void* open_library(const char* path) {
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  auto* const wide = static_cast<wchar_t*>(malloc((static_cast<size_t>(length) + 1) * sizeof(wchar_t)));
  if (wide == nullptr || length == 0) {
    snprintf(reason, sizeof(reason), "its path is no text");
    free(wide);
    return nullptr;
  }
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length);
  // what it needs is looked for beside it
  void* const library = LoadLibraryExW(wide, nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (library == nullptr) note_reason();
  free(wide);
  return library;
}

void* find_symbol(void* library, const char* name) { return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name)); }

const char* library_error() { return reason; }

}  // namespace ptlite
