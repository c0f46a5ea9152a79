#include "os/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/windows/system.h"

namespace ptlite {
namespace {

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
