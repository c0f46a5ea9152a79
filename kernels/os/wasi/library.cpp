// What the C library would ask the system for. Defined here, its own ways to files, the environment and the end of a process stay out of the module.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wasi/api.h>

#include "os/wasi/imports.h"

extern "C" {

// there are no files
FILE* fopen(const char*, const char*) { return nullptr; }
int fclose(FILE*) { return 0; }

// what the C library's own stderr would write to
uint16_t __wasi_fd_close(int) { return 8; }
uint16_t __wasi_fd_seek(int, int64_t, uint8_t, uint64_t*) { return 8; }
uint16_t __wasi_fd_write(int, const __wasi_ciovec_t*, size_t, size_t*) { return 8; }

// as a process without variables
char* getenv(const char*) { return nullptr; }

[[noreturn]] void abort() { __builtin_trap(); }

// the module ends with its memory
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

// Messages to stderr are lines; what is formatted into them is left out.
int fprintf(FILE*, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const bool is_text = strcmp(format, "ptlite: %s\n") == 0;
  const char* const text = is_text ? va_arg(arguments, const char*) : format;
  va_end(arguments);
  ptlite_report(text, static_cast<uint32_t>(strlen(text)));
  return 0;
}

}  // extern "C"
