// An engine that took the module has what the module needs; there is nothing else to ask.
#include "dispatch/processor.h"

namespace ptlite {
namespace {

uint64_t needed() {
  uint64_t features = 0;
  for (int32_t i = 0; i < PTLITE_LEVEL_COUNT; i++) {
    if (level_info(i).built) features |= level_info(i).features;
  }
  return features;
}

}  // namespace

CpuState read_cpu() { return {needed(), 0}; }

// A row's answer is the set of features in two words, the lower first.
CpuState recorded_cpu(const uint32_t (*rows)[6], int32_t count, uint64_t) {
  return {count > 0 ? rows[0][2] | uint64_t{rows[0][3]} << 32 : 0, 0};
}

uint32_t permitted_levels(uint32_t levels) { return levels; }

uint32_t levels_permitted(uint32_t levels, bool) { return levels; }

int64_t third_level_cache() { return 0; }

bool has_fast_pairs() { return false; }

int32_t processor_answers(uint32_t (*rows)[6], int32_t most) {
  if (most < 1) return 0;
  const uint64_t features = needed();
  const uint32_t answers[6] = {0, 0, static_cast<uint32_t>(features), static_cast<uint32_t>(features >> 32), 0, 0};
  for (int i = 0; i < 6; i++) rows[0][i] = answers[i];
  return 1;
}

}  // namespace ptlite
