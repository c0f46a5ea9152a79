#include "budget.h"

#include "primitives/cycles.h"
#include "ptlite_abi.h"

namespace ptlite {
namespace {

/// Between two looks at the clock: some 20 microseconds.
constexpr uint64_t kCycles = 1 << 16;

}  // namespace

__thread Guard guard;

int64_t deadline_after(int64_t nanoseconds) {
  const int64_t now = clock_nanoseconds();
  return nanoseconds < INT64_MAX - now ? now + nanoseconds : INT64_MAX;
}

void check_budget() {
  Guard& g = guard;
  Budget& budget = *g.budget;
  int32_t status = budget.status.load(std::memory_order_relaxed);
  if (status == PTLITE_OK) {
    if (budget.cancel != nullptr && *budget.cancel != 0) {
      status = PTLITE_CANCELLED;
    } else {
      const uint64_t now = cycles();
      if (now - g.seen < kCycles) return;
      g.seen = now;
      if (clock_nanoseconds() < budget.deadline) return;
      status = PTLITE_TIME_LIMIT;
    }
    budget.status.store(status, std::memory_order_relaxed);
  }
  if (g.way_out != nullptr) PTLITE_JUMP(*g.way_out);
}

int32_t within_budget(int32_t (*task)(void* context), void* context) {
  JumpPoint here;
  JumpPoint* const before = guard.way_out;
  guard.way_out = &here;
  // by way of memory, since registers are not what they were after the second return
  volatile int32_t status = PTLITE_OK;
  if (!PTLITE_ATTEMPT(here, status, task, context)) status = guard.budget->status.load(std::memory_order_relaxed);
  guard.way_out = before;
  return status;
}

}  // namespace ptlite
