#include "frames/threads.h"
#include "dispatch/kernel.h"
#include "memory/owner.h"
#include "pool/pool.h"

namespace {

int32_t limit(thread_limit_frame* f) {
  if (f->wanted > 0) ptlite::set_thread_limit(f->wanted);
  f->limit = ptlite::thread_limit();
  return PTLITE_OK;
}

int32_t create_owner(owner_create_frame* f) {
  void* const owner = ptlite::create_owner();
  f->owner = reinterpret_cast<uint64_t>(owner);
  return owner == nullptr ? PTLITE_NO_MEMORY : PTLITE_OK;
}

int32_t enter_owner(owner_enter_frame* f) { return ptlite::enter_owner(reinterpret_cast<void*>(f->owner)) ? PTLITE_OK : PTLITE_NOT_OWNED; }

int32_t release_owner(owner_release_frame* f) { return ptlite::give_up(reinterpret_cast<void*>(f->owner)) ? PTLITE_OK : PTLITE_NOT_OWNED; }

}  // namespace

PTLITE_KERNEL(thread_limit, limit)
PTLITE_KERNEL(owner_create, create_owner)
PTLITE_KERNEL(owner_enter, enter_owner)
PTLITE_KERNEL(owner_release, release_owner)
