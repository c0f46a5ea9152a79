// What ends the work of a thread before it is done: a deadline, and a word that another thread sets. Kernels look at it between blocks of
// their work (`poll`); where there is none, that is one comparison. A kernel that is ended leaves its results undefined.
#pragma once

#include <stdint.h>

#include <atomic>

#include "os/jump.h"
#include "os/machine.h"

namespace ptlite {

struct Budget {
  int64_t deadline;                // nanoseconds of CLOCK_MONOTONIC
  const volatile int32_t* cancel;  // not zero ends the work; nullptr where nobody can
  std::atomic<int32_t> status{0};  // what the kernel returns; PTLITE_OK as long as the work goes on
};

/// The budget of a thread, and where it goes on when that is spent. Nothing between there and a poll may hold what has to be given back.
struct Guard {
  Budget* budget;
  JumpPoint* way_out;
  uint64_t seen;  // cycles when the clock was read last
};
extern __thread Guard guard __attribute__((visibility("hidden")));

inline bool limited() { return guard.budget != nullptr; }

__attribute__((cold)) void check_budget();

/// Goes on where `within_budget` was called once the thread's budget is spent. Takes a few nanoseconds at most: to be called for every few
/// microseconds of work.
inline void poll() {
  if (__builtin_expect(limited(), 0)) check_budget();
}

/// poll() for loops whose steps are short: once for this many elements.
class Pace {
 public:
  void after(int64_t elements) {
    done_ += elements;
    if (__builtin_expect(done_ < kElements, 1)) return;
    done_ = 0;
    poll();
  }

 private:
  static constexpr int64_t kElements = 1 << 14;
  int64_t done_ = 0;
};

/// Calls some(first, last) for pieces of [0, n), with a poll between: for rows of views with a stride of 0, which have no end in memory.
template <class Some>
void in_pieces(int64_t n, const Some& some) {
  constexpr int64_t kPiece = 1 << 14;
  for (int64_t first = 0; first < n; first += kPiece) {
    poll();
    some(first, n - first < kPiece ? n : first + kPiece);
  }
}

/// Calls task(context), which may be left by a poll. Its status, or that of the budget that was spent.
int32_t within_budget(int32_t (*task)(void* context), void* context);

/// The deadline that is so many nanoseconds from now.
int64_t deadline_after(int64_t nanoseconds);

}  // namespace ptlite
