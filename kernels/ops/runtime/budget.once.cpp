#include "frames/threads.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

namespace {

// A thread has one at a time.
thread_local ptlite::Budget own;

int32_t enter(budget_enter_frame* f) {
  own.deadline = ptlite::deadline_after(f->nanoseconds);
  own.cancel = reinterpret_cast<const volatile int32_t*>(f->cancel);
  own.status = PTLITE_OK;
  ptlite::guard.budget = &own;
  ptlite::guard.seen = 0;
  return PTLITE_OK;
}

int32_t leave(budget_leave_frame*) {
  ptlite::guard.budget = nullptr;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(budget_enter, enter)
PTLITE_KERNEL(budget_leave, leave)
