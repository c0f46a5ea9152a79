// Makes handles of generated element-wise code.
#include "dispatch/kernel.h"
#include "frames/jit.h"
#include "jit/algorithm_kinds.h"
#include "jit/code.h"
#include "jit/elementwise_call.h"
#include "memory/owner.h"
#include "os/wasi/imports.h"

namespace {

using namespace ptlite::jit;

int32_t create(jit_elementwise_create_frame* f) {
  f->handle = 0;
  f->bytes = 0;
  const bool fits = f->inputs >= 1 && f->inputs <= kMostInputs && f->steps >= 1 && f->steps <= PTLITE_CHAIN_STEPS && f->more >= 0 && f->more <= kMostMore;
  if (!fits) return PTLITE_OK;
  Description description(CodeKind::elementwise);
  for (const int32_t count : {f->inputs, f->steps, f->more, f->out_dtype}) description.add(count);
  for (int i = 0; i < f->inputs; i++) {
    description.add(int32_t{f->access[i] == JitAccess_scalar || f->access[i] == JitAccess_channel});
    description.add(f->dtypes[i]);
  }
  for (int i = 0; i < f->steps; i++) {
    description.add(f->ops[i]);
    description.add(f->a[i]);
    description.add(ptlite::is_binary_post_op(f->ops[i]) ? f->b[i] : 0);
    for (const float number : {f->p0[i], f->p1[i], f->p2[i]}) description.add(number);
  }
  for (int i = 0; i < f->more; i++) {
    description.add(f->kept[i]);
    description.add(f->more_dtypes[i]);
  }
  Kernel* const kernel = description.generate();
  if (kernel == nullptr) return PTLITE_OK;
  if (!ptlite::own(kernel, 0, [](void* made, size_t) { release(static_cast<Kernel*>(made)); })) {
    release(kernel);
    return PTLITE_NO_MEMORY;
  }
  f->handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(kernel));
  f->bytes = static_cast<int64_t>(kernel->code.bytes);
  return PTLITE_OK;
}

int32_t info(jit_info_frame* f) {
  f->state = ptlite_generated(&f->kernels, &f->bytes) != 0 ? JitState_ready : JitState_off;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(jit_elementwise_create, create)
PTLITE_KERNEL(jit_info, info)
