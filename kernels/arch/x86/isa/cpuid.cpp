#include "isa/cpuid.h"

namespace ptlite {
namespace {

constexpr uint64_t kTileData = uint64_t{1} << 18;

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

uint32_t permitted(uint32_t levels, bool (*permit_tiles)()) {
  uint32_t tiled = 0;
  for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) {
    if ((levels >> i & 1) != 0 && (level_info(i).xcr0 & kTileData) != 0) tiled |= 1u << i;
  }
  return tiled == 0 || permit_tiles() ? levels : levels & ~tiled;
}

}  // namespace ptlite
