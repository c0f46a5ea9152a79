#include <time.h>

#include "frames/plan.h"
#include "isa/kernel.h"
#include "isa/run_frame.h"

namespace {

constexpr int32_t kCancelled = 8;

struct Patch {
  int64_t at, slot, offset;
};

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

template <bool kTimed>
int32_t replay(plan_run_frame* f) {
  auto* frames = reinterpret_cast<char*>(f->frames);
  const auto* offsets = reinterpret_cast<const uint32_t*>(f->offsets);
  auto* times = reinterpret_cast<int64_t*>(f->times);
  const auto levels = static_cast<uint32_t>(f->levels);
  // another thread sets it while the run goes on
  const volatile int32_t& cancel = f->cancel;
  for (int32_t i = 0; i < f->count; i++) {
    if (cancel != 0) return kCancelled;
    if (kTimed) times[i] = now();
    void* frame = frames + offsets[i];
    const int32_t status = levels == 0 ? ptlite::ptlite_run_frame(frame) : ptlite::ptlite_run_frame_at(frame, levels);
    if (status != PTLITE_OK) {
      f->header.detail = i;
      return status;
    }
  }
  if (kTimed) times[f->count] = now();
  return PTLITE_OK;
}

int32_t run(plan_run_frame* f) {
  const auto* patches = reinterpret_cast<const Patch*>(f->patches);
  for (int32_t i = 0; i < f->patch_count; i++) {
    const Patch& p = patches[i];
    *reinterpret_cast<int64_t*>(f->frames + p.at) = f->slots[p.slot] + p.offset;
  }
  return f->times != 0 ? replay<true>(f) : replay<false>(f);
}

}  // namespace

PTLITE_KERNEL(plan_run, run)
