#include "frames/threads.h"
#include "isa/kernel.h"
#include "pool/pool.h"

namespace {

int32_t limit(thread_limit_frame* f) {
  if (f->wanted > 0) ptlite::set_thread_limit(f->wanted);
  f->limit = ptlite::thread_limit();
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(thread_limit, limit)
