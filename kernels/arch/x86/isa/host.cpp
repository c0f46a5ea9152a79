// The machine and process at hand: CPUID, XCR0 and the permission to use tiles.
#include <cpuid.h>

#include "dispatch/processor.h"
#include "isa/cpuid.h"
#include "os/machine.h"

namespace ptlite {

CpuidRegisters hardware_cpuid(uint32_t leaf, uint32_t subleaf, const void*) {
  CpuidRegisters r{};
  __get_cpuid_count(leaf, subleaf, &r.reg[0], &r.reg[1], &r.reg[2], &r.reg[3]);
  return r;
}

namespace {

uint64_t hardware_xcr0() {
  constexpr uint32_t osxsave = 1u << 27;
  if ((hardware_cpuid(1, 0, nullptr).reg[2] & osxsave) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t{high} << 32);
}

}  // namespace

namespace {

struct Recorded {
  const uint32_t (*rows)[6];
  int32_t count;
};

CpuidRegisters recorded_cpuid(uint32_t leaf, uint32_t subleaf, const void* context) {
  const auto* recorded = static_cast<const Recorded*>(context);
  for (int32_t i = 0; i < recorded->count; i++) {
    const uint32_t* r = recorded->rows[i];
    if (r[0] == leaf && r[1] == subleaf) return {{r[2], r[3], r[4], r[5]}};
  }
  return {};
}

}  // namespace

CpuState recorded_cpu(const uint32_t (*rows)[6], int32_t count, uint64_t xcr0) {
  const Recorded recorded{rows, count};
  return decode_cpu(recorded_cpuid, &recorded, xcr0);
}

uint32_t levels_permitted(uint32_t levels, bool tiles) {
  return permitted(levels, tiles ? [] { return true; } : [] { return false; });
}

CpuState read_cpu() { return decode_cpu(hardware_cpuid, nullptr, hardware_xcr0()); }

uint32_t permitted_levels(uint32_t levels) { return permitted(levels, request_tiles); }

// By Intel's leaf 4, or AMD's of the same form.
int64_t third_level_cache() {
  constexpr uint32_t leaves[] = {4, 0x8000001d};
  for (const uint32_t leaf : leaves) {
    if (__get_cpuid_max(leaf & 0x80000000u, nullptr) < leaf) continue;
    for (uint32_t index = 0; index < 8; index++) {
      const CpuidRegisters r = hardware_cpuid(leaf, index, nullptr);
      if ((r.reg[0] & 0x1f) == 0) break;
      if ((r.reg[0] >> 5 & 7) != 3) continue;
      const uint32_t ways = (r.reg[1] >> 22) + 1, partitions = (r.reg[1] >> 12 & 0x3ff) + 1, line = (r.reg[1] & 0xfff) + 1;
      return int64_t{ways} * partitions * line * (int64_t{r.reg[2]} + 1);
    }
  }
  return 0;
}

// Intel's take as many cycles as four multiply-adds.
bool has_fast_pairs() {
  constexpr uint32_t genu = 0x756e6547;
  return hardware_cpuid(0, 0, nullptr).reg[1] != genu;
}

int32_t processor_answers(uint32_t (*rows)[6], int32_t most) {
  static constexpr uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 0}, {0x80000000u, 0}, {0x80000001u, 0}};
  int32_t count = 0;
  for (const auto& [leaf, subleaf] : leaves) {
    if (count == most) break;
    const CpuidRegisters r = hardware_cpuid(leaf, subleaf, nullptr);
    uint32_t* const row = rows[count++];
    row[0] = leaf;
    row[1] = subleaf;
    for (int i = 0; i < 4; i++) row[2 + i] = r.reg[i];
  }
  return count;
}

}  // namespace ptlite
