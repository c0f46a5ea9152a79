#include "dispatch/levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <initializer_list>

#include "dispatch/processor.h"
#include "os/lock.h"
#include "ptlite_abi.h"

namespace ptlite {
namespace {

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

namespace {

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
Once once;
CpuState cpu;
uint32_t levels;

thread_local uint32_t limit = 0;

void look_up() {
  cpu = read_cpu();
  levels = permitted_levels(levels_of(cpu) & levels_built() & levels_allowed());
}

}  // namespace

const CpuState& host_cpu() {
  once.run(look_up);
  return cpu;
}

uint32_t levels_in_use() {
  once.run(look_up);
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
