#include "detect.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "isa_levels.h"
#include "ptlite_abi.h"

namespace ptlite {
namespace {

constexpr uint64_t feature_bits(std::initializer_list<Feature> list) {
  uint64_t bits = 0;
  for (Feature f : list) bits |= feature_bit(f);
  return bits;
}

constexpr LevelInfo kLevels[] = {
#define PTLITE_LEVEL_ROW(name, xcr0, ...) {#name, feature_bits({__VA_ARGS__}), xcr0},
    PTLITE_FOR_EACH_LEVEL(PTLITE_LEVEL_ROW)
#undef PTLITE_LEVEL_ROW
};
constexpr int32_t kLevelCount = sizeof(kLevels) / sizeof(kLevels[0]);

CpuidRegisters hardware_cpuid(uint32_t leaf, uint32_t subleaf, const void*) {
  CpuidRegisters r{};
  __get_cpuid_count(leaf, subleaf, &r.reg[0], &r.reg[1], &r.reg[2], &r.reg[3]);
  return r;
}

uint64_t hardware_xcr0() {
  constexpr uint32_t osxsave = 1u << 27;
  if ((hardware_cpuid(1, 0, nullptr).reg[2] & osxsave) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t{high} << 32);
}

// The level ATEN_CPU_CAPABILITY asks for; the highest one where it is unset or unknown.
int32_t requested_level() {
  const char* wanted = getenv("ATEN_CPU_CAPABILITY");
  if (wanted == nullptr || *wanted == 0) return kLevelCount - 1;
  for (int32_t i = 0; i < kLevelCount; i++) {
    if (strcasecmp(wanted, kLevels[i].name) == 0) return i;
  }
  fprintf(stderr, "ptlite: ATEN_CPU_CAPABILITY=%s is not known; expected one of", wanted);
  for (const LevelInfo& level : kLevels) fprintf(stderr, " %s", level.name);
  fprintf(stderr, "\n");
  return kLevelCount - 1;
}

int32_t choose_level() {
  const int32_t cpu = level_for(host_cpu());
  int32_t level = requested_level();
  if (level > cpu) level = cpu;
  // a level missing in the middle of the order falls to the next lower one
  const CpuState& state = host_cpu();
  while (level > 0 && ((kLevels[level].features & ~state.features) != 0 || (kLevels[level].xcr0 & ~state.xcr0) != 0)) level--;
  return level;
}

}  // namespace

CpuState decode_cpu(CpuidFunction cpuid, const void* context, uint64_t xcr0) {
  CpuState state{0, 0};
  const uint32_t last_basic = cpuid(0, 0, context).reg[0];
  const uint32_t last_extended = cpuid(0x80000000u, 0, context).reg[0];
  const uint32_t last_subleaf_7 = last_basic >= 7 ? cpuid(7, 0, context).reg[0] : 0;
  const auto has = [&](uint32_t leaf, uint32_t subleaf, int reg, int bit) {
    if (leaf > (leaf >= 0x80000000u ? last_extended : last_basic)) return false;
    if (leaf == 7 && subleaf > last_subleaf_7) return false;
    return ((cpuid(leaf, subleaf, context).reg[reg] >> bit) & 1) != 0;
  };
#define PTLITE_DECODE(name, leaf, subleaf, reg, bit) \
  if (has(leaf, subleaf, reg, bit)) state.features |= feature_bit(Feature_##name);
  PTLITE_FOR_EACH_FEATURE(PTLITE_DECODE)
#undef PTLITE_DECODE
  if (has(1, 0, 2, 27)) state.xcr0 = xcr0;
  return state;
}

const CpuState& host_cpu() {
  static const CpuState state = decode_cpu(hardware_cpuid, nullptr, hardware_xcr0());
  return state;
}

int32_t level_for(const CpuState& cpu) {
  for (int32_t i = kLevelCount - 1; i > 0; i--) {
    if ((kLevels[i].features & ~cpu.features) == 0 && (kLevels[i].xcr0 & ~cpu.xcr0) == 0) return i;
  }
  return 0;
}

const LevelInfo& level_info(int32_t level) { return kLevels[level]; }

}  // namespace ptlite

extern "C" {

int32_t ptlite_level_count(void) { return ptlite::kLevelCount; }

const char* ptlite_level_name(int32_t level) {
  return level >= 0 && level < ptlite::kLevelCount ? ptlite::kLevels[level].name : "";
}

int32_t ptlite_current_level(void) {
  static const int32_t level = ptlite::choose_level();
  return level;
}

int32_t ptlite_highest_cpu_level(void) { return ptlite::level_for(ptlite::host_cpu()); }

int32_t ptlite_highest_binary_level(void) { return ptlite::kLevelCount - 1; }

}  // extern "C"
