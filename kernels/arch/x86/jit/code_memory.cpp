#include "jit/code_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptlite {
namespace jit {
namespace {

bool setting_is(const char* value) {
  const char* setting = getenv("PTLITE_JIT");
  return setting != nullptr && strcmp(setting, value) == 0;
}

bool try_memory() {
  if (setting_is("deny")) return false;
  const uint8_t ret = 0xc3;
  const Code code = seal(&ret, 1);
  if (code.entry == nullptr) return false;
  unmap(code);
  return true;
}

}  // namespace

Code seal(const void* code, size_t size) {
  if (setting_is("deny")) return {};
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (size + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  memcpy(memory, code, size);
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, bytes);
    return {};
  }
  return {memory, bytes};
}

void unmap(const Code& code) {
  if (code.entry != nullptr) munmap(code.entry, code.bytes);
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
