// No code is generated: compiled kernels do the work.
#include "dispatch/kernel.h"
#include "frames/jit.h"
#include "jit/code_memory.h"

namespace {

int32_t create(jit_elementwise_create_frame* f) {
  f->handle = 0;
  f->bytes = 0;
  return PTLITE_OK;
}

int32_t info(jit_info_frame* f) {
  f->state = ptlite::jit::enabled() ? JitState_no_instructions : JitState_off;
  f->kernels = 0;
  f->bytes = 0;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(jit_elementwise_create, create)
PTLITE_KERNEL(jit_info, info)
