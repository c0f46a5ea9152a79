// The machine at hand, as the system reports it.
#include "dispatch/processor.h"
#include "isa/hwcap.h"
#include "os/machine.h"

namespace ptlite {
namespace {

constexpr uint32_t kVectors[] = {16, 26};

uint64_t reported(uint32_t vector, const void*) { return processor_features(vector); }

struct Recorded {
  const uint32_t (*rows)[6];
  int32_t count;
};

// A row's answer is a vector in two words, the lower first.
uint64_t recorded(uint32_t vector, const void* context) {
  const auto& r = *static_cast<const Recorded*>(context);
  for (int32_t i = 0; i < r.count; i++) {
    if (r.rows[i][0] == vector) return r.rows[i][2] | uint64_t{r.rows[i][3]} << 32;
  }
  return 0;
}

}  // namespace

CpuState read_cpu() { return decode_cpu(reported, nullptr); }

CpuState recorded_cpu(const uint32_t (*rows)[6], int32_t count, uint64_t) {
  const Recorded r{rows, count};
  return decode_cpu(recorded, &r);
}

uint32_t permitted_levels(uint32_t levels) { return levels; }

uint32_t levels_permitted(uint32_t levels, bool) { return levels; }

int64_t third_level_cache() { return 0; }

bool has_fast_pairs() { return true; }

int32_t processor_answers(uint32_t (*rows)[6], int32_t most) {
  int32_t count = 0;
  for (const uint32_t vector : kVectors) {
    if (count == most) break;
    const uint64_t bits = processor_features(vector);
    uint32_t* const row = rows[count++];
    row[0] = vector;
    row[1] = row[4] = row[5] = 0;
    row[2] = static_cast<uint32_t>(bits);
    row[3] = static_cast<uint32_t>(bits >> 32);
  }
  return count;
}

}  // namespace ptlite
