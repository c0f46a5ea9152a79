// A function with an implementation per level, for calls from C++ to C++: what profits from a higher level than its caller
// is compiled for. (Kernels that TypeScript calls have a frame instead; see kernel.h.)
//
//   declare, in a header:             PTLITE_DECLARE_STUB(double_all, void (*)(float* x, int64_t n));
//   define, in a file compiled once:  PTLITE_DEFINE_STUB(double_all, &reference)
//   register, in one per level:       PTLITE_REGISTER_STUB(double_all, &fn)
//   call:                             double_all(x, n);
//
// The reference serves until a better one is registered, so no slot is ever empty. The first call chooses, threads that
// race find the same answer, and every later call costs one indirect call. Arguments have types that do not depend on
// the level: pointers and numbers, no vectors.
#pragma once

#include <stdint.h>

#include <atomic>

#include "dispatch/levels.h"

namespace ptlite {

// The highest of `levels` that `table` has an entry for; -1 where there is none.
template <class Function>
int32_t serving_level(const Function* table, uint32_t levels) {
  for (int32_t level = highest_level(levels); level >= 0; level--) {
    if ((levels >> level & 1) != 0 && table[level] != nullptr) return level;
  }
  return -1;
}

template <class Function>
int32_t serving_level(const Function* table) {
  return serving_level(table, levels_in_use());
}

template <class Function>
class Stub;

template <class Result, class... Arguments>
class Stub<Result (*)(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);

  constexpr Stub(Function first_call, Function reference) : serving_(first_call), implementations_{reference} {}

  Result operator()(Arguments... arguments) const { return serving_.load(std::memory_order_relaxed)(arguments...); }

  // Before the first call: static initialisers do it.
  void add(int32_t level, Function function) { implementations_[level] = function; }

  int32_t level() const { return serving_level(implementations_); }

  Function choose() {
    const Function function = implementations_[level()];
    serving_.store(function, std::memory_order_relaxed);
    return function;
  }

 private:
  std::atomic<Function> serving_;
  Function implementations_[PTLITE_LEVEL_COUNT];
};

// What a stub calls first.
template <auto& stub, class Function>
struct FirstCall;
template <auto& stub, class Result, class... Arguments>
struct FirstCall<stub, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) { return stub.choose()(arguments...); }
};

}  // namespace ptlite

#define PTLITE_DECLARE_STUB(name, ...)        \
  namespace ptlite {                          \
  using name##_function = __VA_ARGS__;        \
  extern Stub<name##_function> name;          \
  }                                           \
  using ptlite::name

#define PTLITE_DEFINE_STUB(name, reference) \
  ::ptlite::Stub<::ptlite::name##_function> ptlite::name(&::ptlite::FirstCall<::ptlite::name, ::ptlite::name##_function>::call, reference);

#define PTLITE_REGISTER_STUB(name, function)                                                        \
  namespace {                                                                                       \
  const bool ptlite_registered_##name = (::ptlite::name.add(PTLITE_LEVEL, function), true);         \
  }
