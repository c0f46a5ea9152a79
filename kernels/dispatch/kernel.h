// Registration of kernels. A kernel is `int32_t fn(<name>_frame*)` in an anonymous namespace, made known at the end of
// its file by PTLITE_KERNEL(<name>, fn); its frame is in frames/<family>.h. Files of ops/ but *.once.cpp are compiled once per ISA level and register once per level;
// the best level that the CPU has serves all calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ptlite_abi.h"
#include "selection.h"

namespace ptlite {

using Kernel = int32_t (*)(void* frame);

// Puts a level's implementation in its place before the first launch.
struct Registration {
  Registration(Kernel& place, Kernel kernel) { place = kernel; }
};

// Memory for the duration of one kernel call: 64-byte aligned, one growing buffer per thread, so two calls without
// a return between them overlap. nullptr where the system has none.
void* ptlite_scratch(size_t bytes);

}  // namespace ptlite

using ptlite::ptlite_scratch;

// PTLITE_LEVEL is the number of the level that the file is compiled for; what is compiled once is level 0.
#if !defined(PTLITE_LEVEL)
#define PTLITE_LEVEL 0
#endif

// A kernel that a selective build leaves out expands to nothing, and its code is dropped as unused.
#define PTLITE_KERNEL(name, fn) PTLITE_KERNEL_WHEN(PTLITE_HOLDS_##name, name, fn)
#define PTLITE_KERNEL_WHEN(held, name, fn) PTLITE_KERNEL_IF(held, name, fn)
#define PTLITE_KERNEL_IF(held, name, fn) PTLITE_KERNEL_IF_##held(name, fn)
#define PTLITE_KERNEL_IF_0(name, fn) \
  namespace {                        \
  [[maybe_unused]] constexpr auto ptlite_left_out_##name = &fn; \
  }
#define PTLITE_KERNEL_IF_1(name, fn)                                                                       \
  namespace ptlite {                                                                                       \
  extern Kernel implementations_of_##name[];                                                               \
  }                                                                                                        \
  namespace {                                                                                              \
  int32_t ptlite_entry_##name(void* frame) {                                                               \
    auto* typed = static_cast<name##_frame*>(frame);                                                       \
    return ptlite_accepts(*typed) ? fn(typed) : PTLITE_NOT_SELECTED;                                       \
  }                                                                                                        \
  const ::ptlite::Registration ptlite_registration_##name(::ptlite::implementations_of_##name[PTLITE_LEVEL], \
                                                          &ptlite_entry_##name);                           \
  }

// `case value:` for a value of a kernel enumeration or a dtype. Where the build does not hold it, what follows is not compiled and
// the switch returns `otherwise`, which no frame reaches: they are checked before the kernel runs.
#define PTLITE_HELD_CASE(value, otherwise)                 \
  case value:                                              \
    if constexpr (!ptlite_holds(value)) return otherwise;  \
    else
