// Registration of kernels. A kernel is `int32_t fn(<name>_frame*)` in an anonymous namespace, made known at the end of
// its file by PTLITE_KERNEL(<name>, fn). Files of ops/ are compiled once per ISA level and register once per level;
// the best level that the CPU has serves all calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ptlite_abi.h"
#include "ptlite_kernels.h"

namespace ptlite {

enum KernelId : uint32_t {
#define PTLITE_KERNEL_ID(name) KernelId_##name,
  PTLITE_FOR_EACH_KERNEL(PTLITE_KERNEL_ID)
#undef PTLITE_KERNEL_ID
      KernelId_count
};

using Kernel = int32_t (*)(void* frame);

struct Registration {
  Registration(KernelId id, int32_t level, Kernel kernel);
};

// Memory for the duration of one kernel call: 64-byte aligned, one growing buffer per thread, so two calls without
// a return between them overlap. nullptr where the system has none.
void* ptlite_scratch(size_t bytes);

}  // namespace ptlite

using ptlite::ptlite_scratch;

// PTLITE_LEVEL is the number of the level that the file is compiled for; files of base/ are level 0.
#if !defined(PTLITE_LEVEL)
#define PTLITE_LEVEL 0
#endif

#define PTLITE_KERNEL(name, fn)                                                                        \
  namespace {                                                                                          \
  int32_t ptlite_entry_##name(void* frame) { return fn(static_cast<name##_frame*>(frame)); }           \
  const ::ptlite::Registration ptlite_registration_##name(::ptlite::KernelId_##name, PTLITE_LEVEL,     \
                                                          &ptlite_entry_##name);                       \
  }
