#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frames/cpu.h"
#include "os/caches.h"
#include "isa/detect.h"
#include "dispatch/kernel.h"

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
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  f->cores = cores > 0 ? static_cast<int32_t>(cores) : 1;
  f->xcr0 = static_cast<int64_t>(ptlite::host_cpu().xcr0);
  const ptlite::CacheSizes& caches = ptlite::cache_sizes();
  f->l1d = caches.l1d;
  f->l2 = caches.l2;
  f->l3 = caches.l3;
  return PTLITE_OK;
}

constexpr const char* kFeatureNames[] = {
#define PTLITE_FEATURE_NAME(name, leaf, subleaf, reg, bit) #name,
    PTLITE_FOR_EACH_FEATURE(PTLITE_FEATURE_NAME)
#undef PTLITE_FEATURE_NAME
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
};

const char* level_or_none(int32_t level) { return level < 0 ? "none" : ptlite_level_name(level); }

void put_level(Writer& out, const ptlite::LevelInfo& level) {
  char text[64];
  snprintf(text, sizeof(text), " %d %s 0x%llx ", level.built, level.compiler, static_cast<unsigned long long>(level.xcr0));
  out.put(level.name);
  out.put(text);
  const char* comma = "";
  for (int32_t i = 0; i < ptlite::Feature_count; i++) {
    if ((level.features >> i & 1) == 0) continue;
    out.put(comma);
    out.put(kFeatureNames[i]);
    comma = ",";
  }
  out.put("\n");
}

void put_cpuid(Writer& out) {
  static constexpr uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 0}, {0x80000000u, 0}, {0x80000001u, 0}};
  for (const auto& [leaf, subleaf] : leaves) {
    const ptlite::CpuidRegisters r = ptlite::hardware_cpuid(leaf, subleaf, nullptr);
    char text[80];
    snprintf(text, sizeof(text), "%x %x %x %x %x %x\n", leaf, subleaf, r.reg[0], r.reg[1], r.reg[2], r.reg[3]);
    out.put(text);
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
      put_cpuid(out);
      break;
  }
  f->length = out.length;
  return PTLITE_OK;
}

struct Recorded {
  const uint32_t (*leaves)[6];
  int32_t count;
};

ptlite::CpuidRegisters recorded_cpuid(uint32_t leaf, uint32_t subleaf, const void* context) {
  const auto* recorded = static_cast<const Recorded*>(context);
  for (int32_t i = 0; i < recorded->count; i++) {
    const uint32_t* r = recorded->leaves[i];
    if (r[0] == leaf && r[1] == subleaf) return {{r[2], r[3], r[4], r[5]}};
  }
  return {};
}

int32_t detect(cpu_detect_frame* f) {
  const Recorded recorded{reinterpret_cast<const uint32_t(*)[6]>(f->header.host), f->leaves};
  const ptlite::CpuState cpu = ptlite::decode_cpu(recorded_cpuid, &recorded, static_cast<uint64_t>(f->xcr0));
  const char* capability = reinterpret_cast<const char*>(recorded.leaves + f->leaves);
  uint32_t allowed;
  f->capability_known = ptlite::levels_up_to(capability, static_cast<size_t>(f->capability_length), &allowed);
  f->features = static_cast<int64_t>(cpu.features);
  f->state = static_cast<int64_t>(cpu.xcr0);
  const uint32_t levels = ptlite::levels_of(cpu);
  f->levels_of_cpu = static_cast<int32_t>(levels);
  const uint32_t usable = levels & static_cast<uint32_t>(f->levels_held) & allowed;
  f->levels_in_use = static_cast<int32_t>(ptlite::permitted(usable, f->tiles != 0 ? [] { return true; } : [] { return false; }));
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(cpu_info, info)
PTLITE_KERNEL(cpu_limit, limit)
PTLITE_KERNEL(cpu_text, text)
PTLITE_KERNEL(cpu_detect, detect)
