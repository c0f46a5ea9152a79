// The levels of the processor's ladder (arch/<processor>/isa/ladder.txt): which of them a CPU has, by its features, and which serve here.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "isa/cpu_features.h"
#include "isa_levels.h"

namespace ptlite {

enum Feature : int32_t {
#define PTLITE_FEATURE_ID(name, ...) Feature_##name,
  PTLITE_FOR_EACH_FEATURE(PTLITE_FEATURE_ID)
#undef PTLITE_FEATURE_ID
      Feature_count
};
static_assert(Feature_count <= 64, "features are kept as bits of one word");
static_assert(PTLITE_LEVEL_COUNT <= 32, "levels are kept as bits of one word");

constexpr uint64_t feature_bit(Feature f) { return uint64_t{1} << f; }

struct CpuState {
  uint64_t features;  // bit per Feature, as the CPU reports them, whatever the operating system supports
  uint64_t xcr0;      // state of registers that the operating system has switched on; on x86 what CPUID leaf 0xd knows, 0 without XSAVE
};

// This machine's state, read once.
const CpuState& host_cpu();

struct LevelInfo {
  const char* name;
  bool built;            // this library holds it
  const char* compiler;  // oldest g++ that builds it
  uint64_t features;
  uint64_t xcr0;
};
// The ladder, lowest level first, left-out levels included. Sets of levels are bits by number.
const LevelInfo& level_info(int32_t level);
int32_t highest_level(uint32_t levels);

// Levels whose features and state `cpu` has.
uint32_t levels_of(const CpuState& cpu);

// Levels that this library holds.
uint32_t levels_built();

// Levels at or below the one that `capability` names in any case; all of them where it is empty. False where no level has that name.
bool levels_up_to(const char* capability, size_t length, uint32_t* levels);

// Levels whose kernels serve in this process, chosen once from the above; the highest is the current level.
uint32_t levels_in_use();

// What is compiled once, the end of a limit included, is of the lowest level.
constexpr uint32_t with_lowest(uint32_t levels) { return levels | 1; }

// Of those, the levels that serve what this thread launches, and for which it generates code: all, but for a limit.
uint32_t levels_of_thread();

// The limit of this thread as a set of levels; 0: none.
uint32_t level_limit();
void set_level_limit(uint32_t levels);

}  // namespace ptlite
