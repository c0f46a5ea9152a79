#include "detect.h"

#include <initializer_list>
#include <strings.h>

namespace ptlite {
namespace {

constexpr uint64_t kTileData = uint64_t{1} << 18;

constexpr uint64_t feature_bits(std::initializer_list<Feature> list) {
  uint64_t bits = 0;
  for (Feature f : list) bits |= feature_bit(f);
  return bits;
}

constexpr LevelInfo kLevels[] = {
#define PTLITE_LEVEL_ROW(name, built, compiler, xcr0, ...) {#name, built != 0, compiler, feature_bits({__VA_ARGS__}), xcr0},
    PTLITE_FOR_EACH_LEVEL(PTLITE_LEVEL_ROW)
#undef PTLITE_LEVEL_ROW
};

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
  if (has(1, 0, 2, 27) && last_basic >= 0xd) {
    const CpuidRegisters known = cpuid(0xd, 0, context);
    state.xcr0 = xcr0 & (known.reg[0] | uint64_t{known.reg[3]} << 32);
  }
  return state;
}

const LevelInfo& level_info(int32_t level) { return kLevels[level]; }

int32_t highest_level(uint32_t levels) { return 31 - __builtin_clz(levels | 1); }

uint32_t levels_of(const CpuState& cpu) {
  uint32_t levels = 1;
  for (int32_t i = 1; i < PTLITE_LEVEL_COUNT; i++) {
    if ((kLevels[i].features & ~cpu.features) == 0 && (kLevels[i].xcr0 & ~cpu.xcr0) == 0) levels |= 1u << i;
  }
  return levels;
}

uint32_t levels_built() {
  uint32_t levels = 0;
  for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) levels |= uint32_t{kLevels[i].built} << i;
  return levels;
}

bool levels_up_to(const char* capability, size_t length, uint32_t* levels) {
  *levels = (1u << PTLITE_LEVEL_COUNT) - 1;
  if (length == 0) return true;
  for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) {
    if (strncasecmp(capability, kLevels[i].name, length) != 0 || kLevels[i].name[length] != 0) continue;
    *levels = (2u << i) - 1;
    return true;
  }
  return false;
}

uint32_t permitted(uint32_t levels, bool (*permit_tiles)()) {
  uint32_t tiled = 0;
  for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) {
    if ((levels >> i & 1) != 0 && (kLevels[i].xcr0 & kTileData) != 0) tiled |= 1u << i;
  }
  return tiled == 0 || permit_tiles() ? levels : levels & ~tiled;
}

}  // namespace ptlite
