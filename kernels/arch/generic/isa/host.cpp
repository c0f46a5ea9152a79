// A processor that nothing is asked.
#include "dispatch/processor.h"

namespace ptlite {

CpuState read_cpu() { return {0, 0}; }

CpuState recorded_cpu(const uint32_t (*)[6], int32_t, uint64_t) { return {0, 0}; }

uint32_t permitted_levels(uint32_t levels) { return levels; }

uint32_t levels_permitted(uint32_t levels, bool) { return levels; }

int64_t third_level_cache() { return 0; }

bool has_fast_pairs() { return false; }

int32_t processor_answers(uint32_t (*)[6], int32_t) { return 0; }

}  // namespace ptlite
