// Going on where a task was attempted, past what it called. Nothing of these is cleaned up.
#pragma once

#if defined(__wasi__)
#include "os/wasi/imports.h"
#else
#include <setjmp.h>
#endif

namespace ptlite {

#if defined(__wasi__)

// The stack of WebAssembly is out of reach of its code: JavaScript calls the task, and an exception of JavaScript ends it.
struct JumpPoint {};
#define PTLITE_ATTEMPT(point, status, task, context) ((void)(point), ptlite_attempt((task), (context), &(status)) != 0)
#define PTLITE_JUMP(point) ((void)(point), ptlite_leave())

#else

struct JumpPoint {
  jmp_buf registers;
};
#if defined(_WIN32)
// a jump without a frame restores registers, and looks for no handlers of functions between
#define PTLITE_SET_JUMP(point) _setjmp((point).registers, nullptr)
#define PTLITE_JUMP(point) longjmp((point).registers, 1)
#else
#define PTLITE_SET_JUMP(point) _setjmp((point).registers)
#define PTLITE_JUMP(point) _longjmp((point).registers, 1)
#endif
// status = task(context); false where that was left by a jump. The function must not have returned before the jump, and `status` is volatile.
#define PTLITE_ATTEMPT(point, status, task, context) (PTLITE_SET_JUMP(point) == 0 && (((status) = (task)(context)), true))

#endif

}  // namespace ptlite
