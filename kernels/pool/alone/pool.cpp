// Stands for pool/pool.cpp in builds that have one thread and no other.
#include "pool/pool.h"

#include "memory/scratch.h"

namespace ptlite {
namespace {

Scratch range_memory;

}  // namespace

int32_t thread_limit() { return 1; }

void set_thread_limit(int32_t) {}

void parallel_ranges(int64_t count, int64_t grain, RangeTask task, const void* context) {
  if (grain < 1) grain = 1;
  // where the caller has a budget, it is looked at between ranges
  const int64_t step = limited() ? grain : count;
  for (int64_t begin = 0; begin < count; begin += step) {
    poll();
    task(context, begin, begin + step < count ? begin + step : count);
  }
}

void* range_scratch(size_t bytes) { return range_memory.at_least(bytes); }

}  // namespace ptlite
