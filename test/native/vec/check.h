// Counting and saying what went wrong.
#pragma once

#include <stdarg.h>
#include <stdio.h>

inline int failures = 0;

__attribute__((format(printf, 4, 5))) inline void fail(const char* file, int line, const char* condition, const char* format, ...) {
  if (failures++ >= 20) return;
  fprintf(stderr, "%s:%d: %s: ", file, line, condition);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

#define CHECK(condition, ...) ((condition) ? void() : fail(__FILE__, __LINE__, #condition, __VA_ARGS__))
