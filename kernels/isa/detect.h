// Which features a CPU has and which ladder level follows. The decision is a pure function of recorded CPUID and
// XCR0 values, so that it can be tried on CPUs that are not there.
#pragma once

#include <stdint.h>

#include "cpu_features.h"

namespace ptlite {

enum Feature : int32_t {
#define PTLITE_FEATURE_ID(name, leaf, subleaf, reg, bit) Feature_##name,
  PTLITE_FOR_EACH_FEATURE(PTLITE_FEATURE_ID)
#undef PTLITE_FEATURE_ID
      Feature_count
};
static_assert(Feature_count <= 64, "features are kept as bits of one word");

constexpr uint64_t feature_bit(Feature f) { return uint64_t{1} << f; }

struct CpuState {
  uint64_t features;  // bit per Feature, as CPUID reports them, whatever the operating system supports
  uint64_t xcr0;      // 0 where the operating system has not enabled XSAVE
};

// One CPUID answer: eax, ebx, ecx, edx.
struct CpuidRegisters {
  uint32_t reg[4];
};
using CpuidFunction = CpuidRegisters (*)(uint32_t leaf, uint32_t subleaf, const void* context);

// Collects the features through `cpuid`; `xcr0` counts only where CPUID says OSXSAVE.
CpuState decode_cpu(CpuidFunction cpuid, const void* context, uint64_t xcr0);

// This machine's state, read once.
const CpuState& host_cpu();

// Highest ladder level among those in this library that `cpu` can run.
int32_t level_for(const CpuState& cpu);

struct LevelInfo {
  const char* name;
  uint64_t features;
  uint64_t xcr0;
};
// The levels this library was built with, lowest first.
const LevelInfo& level_info(int32_t level);

}  // namespace ptlite
