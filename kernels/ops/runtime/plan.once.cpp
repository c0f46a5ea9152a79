#include "frames/plan.h"
#include "dispatch/kernel.h"
#include "dispatch/run_frame.h"
#include "pool/budget.h"

namespace {

struct Patch {
  int64_t at, slot, offset;
};

struct Step {
  void* frame;
  uint32_t levels;

  int32_t run() const { return levels == 0 ? ptlite::ptlite_run_frame(frame) : ptlite::ptlite_run_frame_at(frame, levels); }
};

int32_t run_step(void* step) {
  // before each kernel, however small
  ptlite::poll();
  return static_cast<const Step*>(step)->run();
}

template <bool kTimed>
int32_t replay(plan_run_frame* f) {
  auto* frames = reinterpret_cast<char*>(f->frames);
  const auto* offsets = reinterpret_cast<const uint32_t*>(f->offsets);
  auto* times = reinterpret_cast<int64_t*>(f->times);
  const auto levels = static_cast<uint32_t>(f->levels);
  const bool limited = ptlite::limited();
  for (int32_t i = 0; i < f->count; i++) {
    if (kTimed) times[i] = ptlite::clock_nanoseconds();
    Step step{frames + offsets[i], levels};
    const int32_t status = limited ? ptlite::within_budget(run_step, &step) : step.run();
    if (status != PTLITE_OK) {
      f->header.detail = i;
      return status;
    }
  }
  if (kTimed) times[f->count] = ptlite::clock_nanoseconds();
  return PTLITE_OK;
}

int32_t run(plan_run_frame* f) {
  const auto* patches = reinterpret_cast<const Patch*>(f->patches);
  for (int32_t i = 0; i < f->patch_count; i++) {
    const Patch& p = patches[i];
    *reinterpret_cast<int64_t*>(f->frames + p.at) = f->slots[p.slot] + p.offset;
  }
  const auto replay_all = [f] { return f->times != 0 ? replay<true>(f) : replay<false>(f); };
  if (f->nanoseconds == 0) return replay_all();
  ptlite::Budget budget;
  budget.deadline = ptlite::deadline_after(f->nanoseconds);
  budget.cancel = &f->cancel;
  ptlite::Guard& guard = ptlite::guard;
  const ptlite::Guard before = guard;
  guard = {&budget, nullptr, 0};
  const int32_t status = replay_all();
  guard = before;
  return status;
}

}  // namespace

PTLITE_KERNEL(plan_run, run)
