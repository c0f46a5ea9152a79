#include <string.h>

#include "frames/cpu.h"
#include "dispatch/kernel.h"
#include "dispatch/processor.h"
#include "os/machine.h"

namespace {

int32_t limit(cpu_limit_frame* f) {
  f->before = static_cast<int32_t>(ptlite::level_limit());
  ptlite::set_level_limit(static_cast<uint32_t>(f->levels));
  return PTLITE_OK;
}

int32_t info(cpu_info_frame* f) {
  f->current_level = ptlite_current_level();
  f->highest_cpu_level = ptlite_highest_cpu_level();
  f->highest_binary_level = ptlite_highest_binary_level();
  f->levels_in_use = static_cast<int32_t>(ptlite::levels_in_use());
  f->cores = ptlite::core_count();
  f->xcr0 = static_cast<int64_t>(ptlite::host_cpu().xcr0);
  const ptlite::CacheSizes& caches = ptlite::cache_sizes();
  f->l1d = caches.l1d;
  f->l2 = caches.l2;
  f->l3 = caches.l3;
  return PTLITE_OK;
}

constexpr const char* kFeatureNames[] = {
#define PTLITE_FEATURE_NAME(name, ...) #name,
    PTLITE_FOR_EACH_FEATURE(PTLITE_FEATURE_NAME)
#undef PTLITE_FEATURE_NAME
    nullptr,
};

// Appends to the host array while there is room and counts on when there is none.
struct Writer {
  char* to;
  int64_t room;
  int64_t length = 0;

  void line(const char* name, const char* value) {
    put(name);
    put(" ");
    put(value);
    put("\n");
  }

  void put(const char* s) {
    const int64_t n = static_cast<int64_t>(strlen(s));
    if (length + n <= room) memcpy(to + length, s, static_cast<size_t>(n));
    length += n;
  }

  // formatted output of the C library is ten times as large as the rest of this file
  void put_hex(uint64_t value) {
    char digits[17];
    char* first = digits + 16;
    *first = 0;
    do {
      *--first = "0123456789abcdef"[value & 15];
      value >>= 4;
    } while (value != 0);
    put(first);
  }
};

const char* level_or_none(int32_t level) { return level < 0 ? "none" : ptlite_level_name(level); }

void put_level(Writer& out, const ptlite::LevelInfo& level) {
  out.put(level.name);
  out.put(level.built ? " 1 " : " 0 ");
  out.put(level.compiler);
  out.put(" 0x");
  out.put_hex(level.xcr0);
  out.put(" ");
  const char* comma = "";
  for (int32_t i = 0; i < ptlite::Feature_count; i++) {
    if ((level.features >> i & 1) == 0) continue;
    out.put(comma);
    out.put(kFeatureNames[i]);
    comma = ",";
  }
  out.put("\n");
}

void put_answers(Writer& out) {
  uint32_t rows[16][6];
  const int32_t count = ptlite::processor_answers(rows, 16);
  for (int32_t i = 0; i < count; i++) {
    for (int32_t word = 0; word < 6; word++) {
      out.put_hex(rows[i][word]);
      out.put(word < 5 ? " " : "\n");
    }
  }
}

int32_t text(cpu_text_frame* f) {
  Writer out{reinterpret_cast<char*>(f->header.host), f->capacity};
  switch (f->which) {
    case CpuText_levels:
      for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) put_level(out, ptlite::level_info(i));
      break;
    case CpuText_features:
      for (int32_t i = 0; i < ptlite::Feature_count; i++) {
        out.line(kFeatureNames[i], (ptlite::host_cpu().features >> i & 1) != 0 ? "1" : "0");
      }
      break;
    case CpuText_kernels:
      for (uint32_t i = 0; i < ptlite_kernel_count(); i++) out.line(ptlite_kernel_name(i), level_or_none(ptlite_kernel_level(i)));
      break;
    case CpuText_cpuid:
      put_answers(out);
      break;
  }
  f->length = out.length;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(cpu_info, info)
PTLITE_KERNEL(cpu_limit, limit)
PTLITE_KERNEL(cpu_text, text)
