#include "jit/code_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/pages.h"

namespace ptlite {
namespace jit {
namespace {

bool setting_is(const char* value) {
  const char* setting = getenv("PTLITE_JIT");
  return setting != nullptr && strcmp(setting, value) == 0;
}

bool try_memory() {
  if (setting_is("deny")) return false;
  // it is never run
  const uint8_t byte = 0;
  const Code code = seal(&byte, 1);
  if (code.entry == nullptr) return false;
  unmap(code);
  return true;
}

}  // namespace

Code seal(const void* code, size_t size) {
  if (setting_is("deny")) return {};
  void* const memory = map_code(code, size);
  if (memory == nullptr) return {};
  const size_t page = page_size();
  return {memory, (size + page - 1) / page * page};
}

void unmap(const Code& code) {
  if (code.entry != nullptr) unmap_pages(code.entry, code.bytes);
}

bool enabled() {
  static const bool on = !setting_is("0");
  return on;
}

bool memory_available() {
  static const bool available = try_memory();
  return available;
}

void dump(const char* name, const void* code, size_t size) {
  const char* folder = getenv("PTLITE_JIT_DUMP");
  if (folder == nullptr || folder[0] == '\0') return;
  char path[512];
  if (snprintf(path, sizeof path, "%s/%s.bin", folder, name) >= static_cast<int>(sizeof path)) return;
  FILE* file = fopen(path, "wb");
  if (file == nullptr) return;
  fwrite(code, 1, size, file);
  fclose(file);
}

}  // namespace jit
}  // namespace ptlite
