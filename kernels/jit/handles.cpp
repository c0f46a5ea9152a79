// Handles of generated element-wise code: run and given up.
#include "dispatch/kernel.h"
#include "frames/jit.h"
#include "jit/elementwise_call.h"
#include "memory/owner.h"

namespace {

using ptlite::jit::ElementwiseCall;
using ptlite::jit::kMostInputs;

int32_t run(jit_elementwise_frame* f) {
  if (!ptlite::jit::is_ready(f->handle)) return PTLITE_NO_KERNEL;
  ElementwiseCall call;
  call.out = reinterpret_cast<void*>(f->out);
  for (int i = 0; i < kMostInputs; i++) call.in[i] = reinterpret_cast<const void*>(f->in[i]);
  call.rows = f->rows;
  call.length = f->length;
  call.out_step = f->out_step;
  for (int i = 0; i < kMostInputs; i++) call.in_step[i] = f->in_step[i];
  ptlite::jit::run_elementwise(f->handle, call);
  return PTLITE_OK;
}

int32_t release(jit_release_frame* f) {
  return ptlite::give_up(reinterpret_cast<void*>(f->handle)) ? PTLITE_OK : PTLITE_NOT_OWNED;
}

}  // namespace

PTLITE_KERNEL(jit_elementwise, run)
PTLITE_KERNEL(jit_release, release)
