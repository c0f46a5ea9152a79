// What CPUID and XCR0 say of an x86 CPU. The decision is a pure function of recorded values, so that it can be tried on CPUs that are not
// there.
#pragma once

#include "dispatch/levels.h"

namespace ptlite {

// One CPUID answer: eax, ebx, ecx, edx.
struct CpuidRegisters {
  uint32_t reg[4];
};
using CpuidFunction = CpuidRegisters (*)(uint32_t leaf, uint32_t subleaf, const void* context);

// The registers of this CPU; `context` is not used.
CpuidRegisters hardware_cpuid(uint32_t leaf, uint32_t subleaf, const void* context);

// Collects the features through `cpuid`; `xcr0` counts only where CPUID says OSXSAVE.
CpuState decode_cpu(CpuidFunction cpuid, const void* context, uint64_t xcr0);

// `levels` without those that use tiles, unless `permit_tiles` says that this process may; it is asked only if it matters.
uint32_t permitted(uint32_t levels, bool (*permit_tiles)());

}  // namespace ptlite
