#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frames/cpu.h"
#include "isa/detect.h"
#include "isa/kernel.h"

namespace {

int64_t cache_size(int name) {
  const long size = sysconf(name);
  return size > 0 ? size : 0;
}

int32_t info(cpu_info_frame* f) {
  f->current_level = ptlite_current_level();
  f->highest_cpu_level = ptlite_highest_cpu_level();
  f->highest_binary_level = ptlite_highest_binary_level();
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  f->cores = cores > 0 ? static_cast<int32_t>(cores) : 1;
  f->xcr0 = static_cast<int64_t>(ptlite::host_cpu().xcr0);
  f->l1d = cache_size(_SC_LEVEL1_DCACHE_SIZE);
  f->l2 = cache_size(_SC_LEVEL2_CACHE_SIZE);
  f->l3 = cache_size(_SC_LEVEL3_CACHE_SIZE);
  return PTLITE_OK;
}

// Appends to the host array while there is room and counts on when there is none.
struct Writer {
  char* to;
  int64_t room;
  int64_t length = 0;

  void line(const char* name, const char* value) {
    put(name);
    if (value != nullptr) {
      put(" ");
      put(value);
    }
    put("\n");
  }

  void put(const char* s) {
    const int64_t n = static_cast<int64_t>(strlen(s));
    if (length + n <= room) memcpy(to + length, s, static_cast<size_t>(n));
    length += n;
  }
};

const char* level_or_none(int32_t level) { return level < 0 ? "none" : ptlite_level_name(level); }

int32_t text(cpu_text_frame* f) {
  Writer out{reinterpret_cast<char*>(f->header.host), f->capacity};
  switch (f->which) {
    case CpuText_levels:
      for (int32_t i = 0; i < ptlite_level_count(); i++) out.line(ptlite_level_name(i), nullptr);
      break;
    case CpuText_features:
#define PTLITE_FEATURE_LINE(name, leaf, subleaf, reg, bit) \
  out.line(#name, ((ptlite::host_cpu().features >> ptlite::Feature_##name) & 1) != 0 ? "1" : "0");
      PTLITE_FOR_EACH_FEATURE(PTLITE_FEATURE_LINE)
#undef PTLITE_FEATURE_LINE
      break;
    case CpuText_kernels:
      for (uint32_t i = 0; i < ptlite_kernel_count(); i++) out.line(ptlite_kernel_name(i), level_or_none(ptlite_kernel_level(i)));
      break;
  }
  f->length = out.length;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(cpu_info, info)
PTLITE_KERNEL(cpu_text, text)
