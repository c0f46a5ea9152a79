// Going on where a function was entered, past those that it called. Nothing of these is cleaned up.
#pragma once

#if !defined(__wasi__)
#include <setjmp.h>
#endif

namespace ptlite {

#if defined(__wasi__)

// The stack cannot be left: work that is to end goes on to its own end.
struct JumpPoint {};
constexpr bool kJumps = false;
#define PTLITE_JUMP_POINT(point) ((void)(point), true)
#define PTLITE_JUMP(point) ((void)(point))

#else

struct JumpPoint {
  jmp_buf registers;
};
constexpr bool kJumps = true;
// True at first, false after a jump there. The function must not have returned.
#if defined(_WIN32)
// a jump without a frame restores registers, and looks for no handlers of functions between
#define PTLITE_JUMP_POINT(point) (_setjmp((point).registers, nullptr) == 0)
#define PTLITE_JUMP(point) longjmp((point).registers, 1)
#else
#define PTLITE_JUMP_POINT(point) (_setjmp((point).registers) == 0)
#define PTLITE_JUMP(point) _longjmp((point).registers, 1)
#endif

#endif

}  // namespace ptlite
