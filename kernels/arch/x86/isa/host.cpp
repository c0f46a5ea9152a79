// The machine and process at hand: CPUID, XCR0, ATEN_CPU_CAPABILITY and the permission to use tiles.
#include <cpuid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detect.h"
#include "ptlite_abi.h"

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

// Linux saves the 8 KiB of tile data only for processes that have asked; without it the first tile instruction is a fault.
bool request_tiles() {
  constexpr long arch_req_xcomp_perm = 0x1023;
  constexpr long tile_data = 18;
  return syscall(SYS_arch_prctl, arch_req_xcomp_perm, tile_data) == 0;
}

// Levels that ATEN_CPU_CAPABILITY allows: all of them where it is unset or unknown.
uint32_t levels_allowed() {
  const char* wanted = getenv("ATEN_CPU_CAPABILITY");
  uint32_t levels;
  if (!levels_up_to(wanted, wanted == nullptr ? 0 : strlen(wanted), &levels)) {
    fprintf(stderr, "ptlite: ATEN_CPU_CAPABILITY=%s is not known; expected one of", wanted);
    for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) fprintf(stderr, " %s", level_info(i).name);
    fprintf(stderr, "\n");
  }
  return levels;
}

// Looked up once. Static variables of functions would bring the C++ runtime along for their guards: 90 kB.
pthread_once_t once = PTHREAD_ONCE_INIT;
CpuState cpu;
uint32_t levels;

thread_local uint32_t limit = 0;

void look_up() {
  cpu = decode_cpu(hardware_cpuid, nullptr, hardware_xcr0());
  levels = permitted(levels_of(cpu) & levels_built() & levels_allowed(), request_tiles);
}

}  // namespace

const CpuState& host_cpu() {
  pthread_once(&once, look_up);
  return cpu;
}

uint32_t levels_in_use() {
  pthread_once(&once, look_up);
  return levels;
}

uint32_t levels_of_thread() { return limit == 0 ? levels_in_use() : with_lowest(limit) & levels_in_use(); }

uint32_t level_limit() { return limit; }

void set_level_limit(uint32_t of_thread) { limit = of_thread; }

}  // namespace ptlite

extern "C" {

int32_t ptlite_level_count(void) { return PTLITE_LEVEL_COUNT; }

const char* ptlite_level_name(int32_t level) {
  return level >= 0 && level < PTLITE_LEVEL_COUNT ? ptlite::level_info(level).name : "";
}

int32_t ptlite_current_level(void) { return ptlite::highest_level(ptlite::levels_in_use()); }

int32_t ptlite_highest_cpu_level(void) { return ptlite::highest_level(ptlite::levels_of(ptlite::host_cpu())); }

int32_t ptlite_highest_binary_level(void) { return ptlite::highest_level(ptlite::levels_built()); }

}  // extern "C"
