#include "pool.h"

#include <atomic>

#include "memory/scratch.h"
#include "os/threads.h"
#include "primitives/cycles.h"
#include "primitives/shared_code.h"
#include "ptlite_abi.h"
#if defined(__wasi__)
#include "os/wasi/imports.h"
#endif

namespace ptlite {
namespace {

/// How long a thread looks for work before it sleeps: longer than the serial steps between two parallel kernels, short
/// enough that an idle process costs nothing.
constexpr int64_t kSpinNanoseconds = 50000;

/// A helper that had nothing to do for so long ends; another is started when one is needed. Where they cannot be started at once, they stay.
#if defined(__wasi__)
constexpr int64_t kIdle = -1;
#else
constexpr int64_t kIdle = 5000000000;
#endif

/// What is written by one thread while others look at something else gets a cache line of its own.
constexpr size_t kLine = 64;

struct alignas(kLine) Job {
  RangeTask task;
  const void* context;
  int64_t count;
  int64_t grain;
  int32_t helpers;  // how many may join
  Budget* budget;   // of the caller; nullptr where it has none
};

/// A thread's share of a job, in units of its grain. Its owner takes the first half of it, then halves of what is left, as does whoever has
/// nothing else to do; kernels that follow each other find what they left in the caches of their core.
struct alignas(kLine) Share {
  std::atomic<int64_t> next;
  int64_t end;
  int64_t least;  // units of a range: what a range costs beside its units is paid a few times
};

/// Of a share.
constexpr int64_t kLeastPart = 8;

// Everything here is constant-initialised and has no destructor, so that helpers can outlive static objects at exit.
std::atomic<int32_t> limit{1};
std::atomic_flag taken = ATOMIC_FLAG_INIT;  // by the caller that has the helpers
Job job;
Share shares[kMaxThreads];
// Number of the job in the upper bits, kOpen while it can be joined, and how many helpers are at work.
alignas(kLine) std::atomic<uint32_t> state{0};
constexpr uint32_t kCount = 0x3ff, kOpen = 0x400, kJob = 0x800;
alignas(kLine) std::atomic<uint32_t> sleepers{0};
// Changes when the last helper has left a closed job whose caller sleeps.
std::atomic<uint32_t> finished{0};
std::atomic<bool> caller_sleeps{false};
std::atomic<int32_t> started{0};  // helpers that have not ended
std::atomic<int32_t> dismissed{0};  // helpers that are to end
// A helper was ended in the middle of a job, which is not done.
std::atomic<bool> broken{false};
// In the middle of one.
__thread bool at_work = false;
bool fork_handled = false;

/// Spins until done() or the time is over; whether it is done.
template <class F>
bool spin(const F& done) {
  const int64_t end = clock_nanoseconds() + kSpinNanoseconds;
  do {
    for (int i = 0; i < 32; i++) {
      if (done()) return true;
      pause();
    }
  } while (clock_nanoseconds() < end);
  return done();
}

/// Ranges between two looks at a budget: twice as many units as long as they take less than half a millisecond or so.
class Stride {
 public:
  explicit Stride(int64_t units) : units_(units) {}

  int64_t units() const { return units_; }

  template <class F>
  void time(const F& range) {
    poll();
    const uint64_t begin = cycles();
    range();
    if (cycles() - begin < kCycles && units_ < kMost) units_ *= 2;
  }

 private:
  static constexpr uint64_t kCycles = 1 << 20;
  static constexpr int64_t kMost = int64_t{1} << 40;
  int64_t units_;
};

/// The whole of a job on this thread, which has a budget.
void run_alone(int64_t count, int64_t grain, RangeTask task, const void* context) {
  Stride stride(1);
  for (int64_t begin = 0; begin < count;) {
    const int64_t size = stride.units() < (count - begin) / grain ? stride.units() * grain : count - begin;
    stride.time([&] { task(context, begin, begin + size); });
    begin += size;
  }
}

/// As work(), below, where the caller has a budget. Always PTLITE_OK.
int32_t work_in_strides(void* at) {
  const int32_t self = *static_cast<const int32_t*>(at);
  const int64_t grain = job.grain, count = job.count;
  const int32_t threads = job.helpers + 1;
  Stride stride(1);
  for (int32_t i = 0; i < threads; i++) {
    Share& share = shares[self + i < threads ? self + i : self + i - threads];
    int64_t begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end) {
      const int64_t left = share.end - begin;
      const int64_t end = begin + (left < stride.units() ? left : stride.units());
      if (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      stride.time([&] { job.task(job.context, begin * grain, end * grain < count ? end * grain : count); });
      begin = share.next.load(std::memory_order_relaxed);
    }
  }
  return PTLITE_OK;
}

void work_within_budget(int32_t self) {
  Guard& own = guard;
  Budget* const before = own.budget;
  own.budget = job.budget;
  // what others have taken of the job ends at their own next look
  within_budget(work_in_strides, &self);
  own.budget = before;
}

/// Works on the share of thread `self`, then on what the others have left.
void work(int32_t self) {
  if (job.budget != nullptr) return work_within_budget(self);
  const int64_t grain = job.grain, count = job.count;
  const int32_t threads = job.helpers + 1;
  for (int32_t i = 0; i < threads; i++) {
    Share& share = shares[self + i < threads ? self + i : self + i - threads];
    int64_t begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end) {
      const int64_t left = share.end - begin, half = (left + 1) / 2;
      const int64_t end = begin + (half > share.least ? half : left < share.least ? left : share.least);
      if (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      job.task(job.context, begin * grain, end * grain < count ? end * grain : count);
      begin = share.next.load(std::memory_order_relaxed);
    }
  }
}

void leave() {
  at_work = false;
  const uint32_t before = state.fetch_sub(1, std::memory_order_seq_cst);
  if ((before & (kCount | kOpen)) == 1 && caller_sleeps.load(std::memory_order_seq_cst)) {
    finished.fetch_add(1, std::memory_order_seq_cst);
    wake(finished, 1);
  }
}

/// Joins the job of state `seen`, which is open, and works on it. False where it was closed or is full.
bool join(uint32_t seen) {
  while (seen & kOpen) {
    // job is written before it is opened and stays until it is closed and empty, so it can only be read after joining
    if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      const int32_t before_it = static_cast<int32_t>(seen & kCount);
      at_work = true;
      if (before_it < job.helpers && has_shared_code()) work(1 + before_it);
      leave();
      return true;
    }
  }
  return false;
}

/// Whether this helper is one of those that are to end.
bool is_dismissed() {
  int32_t left = dismissed.load(std::memory_order_seq_cst);
  while (left > 0)
    if (dismissed.compare_exchange_weak(left, left - 1, std::memory_order_seq_cst)) return true;
  return false;
}

void* help(void*) {
  uint32_t joined = 0;
  for (;;) {
    uint32_t seen = state.load(std::memory_order_acquire);
    const auto fresh = [&] {
      seen = state.load(std::memory_order_acquire);
      return (seen & kOpen) && (seen & ~(kCount | kOpen)) != joined;
    };
    if (fresh() || spin(fresh)) {
      const uint32_t number = seen & ~(kCount | kOpen);
      if (join(seen)) joined = number;
      continue;
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen = state.load(std::memory_order_seq_cst);
    const bool idle = !((seen & kOpen) && (seen & ~(kCount | kOpen)) != joined) && (is_dismissed() || !sleep_while(state, seen, kIdle));
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    // a job that comes now goes without it
    if (idle) break;
  }
  started.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

/// The child of a fork has only the thread that forked.
void after_fork() {
  started.store(0);
  sleepers.store(0);
  state.store(0);
  caller_sleeps.store(false);
  taken.clear();
}

/// Starts helpers until there are `count`, or as many as the system allows; how many there are.
int32_t start(int32_t count) {
  int32_t running = started.load(std::memory_order_relaxed);
  if (running >= count) return running;
  if (!fork_handled) {
    fork_handled = true;
    after_forks(after_fork);
  }
  // counted before it can end
  const auto count_one = [] { started.fetch_add(1, std::memory_order_relaxed); };
  const auto forget_one = [] { started.fetch_sub(1, std::memory_order_relaxed); };
  running += start_threads(count - running, size_t{1} << 20, help, count_one, forget_one);
  return running;
}

void run(int32_t helpers, int64_t units) {
  job.helpers = helpers;
  for (int64_t i = 0; i <= helpers; i++) {
    const int64_t begin = units * i / (helpers + 1), end = units * (i + 1) / (helpers + 1);
    shares[i].next.store(begin, std::memory_order_relaxed);
    shares[i].end = end;
    shares[i].least = (end - begin + kLeastPart - 1) / kLeastPart;
  }
  // nobody is at work, so that the count is 0
  const uint32_t opened = ((state.load(std::memory_order_relaxed) & ~(kCount | kOpen)) + kJob) | kOpen;
  state.store(opened, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) wake(state, helpers);
  work(0);
  state.fetch_and(~kOpen, std::memory_order_seq_cst);
  const auto done = [] { return (state.load(std::memory_order_seq_cst) & kCount) == 0; };
  if (!done() && !spin(done)) {
    caller_sleeps.store(true, std::memory_order_seq_cst);
    for (;;) {
      const uint32_t before = finished.load(std::memory_order_seq_cst);
      if (done()) break;
      sleep_while(finished, before);
    }
    caller_sleeps.store(false, std::memory_order_relaxed);
  }
  if (__builtin_expect(broken.load(std::memory_order_relaxed), 0)) __builtin_trap();
}

thread_local Scratch range_memory;

}  // namespace

int32_t thread_limit() { return limit.load(std::memory_order_relaxed); }

void set_thread_limit(int32_t count) {
  limit.store(count < 1 ? 1 : count > kMaxThreads ? kMaxThreads : count, std::memory_order_relaxed);
}

void parallel_ranges(int64_t count, int64_t grain, RangeTask task, const void* context) {
  if (count <= 0) return;
  if (grain < 1) grain = 1;
  const int64_t units = (count + grain - 1) / grain;
  const int64_t threads = thread_limit() < units ? thread_limit() : units;
  Budget* const budget = guard.budget;
  const auto alone = [=] {
    if (budget == nullptr) task(context, 0, count);
    else run_alone(count, grain, task, context);
  };
  if (threads <= 1 || taken.test_and_set(std::memory_order_acquire)) return alone();
  const int32_t helpers = start(static_cast<int32_t>(threads - 1));
  if (helpers == 0) {
    taken.clear(std::memory_order_release);
    return alone();
  }
  job.task = task;
  job.context = context;
  job.count = count;
  job.grain = grain;
  job.budget = budget;
  run(static_cast<int32_t>(threads - 1 < helpers ? threads - 1 : helpers), units);
  taken.clear(std::memory_order_release);
  // a part of the work may have been left out
  poll();
}

void* range_scratch(size_t bytes) { return range_memory.at_least(bytes); }

}  // namespace ptlite

#if defined(__wasi__)

// JavaScript starts helpers and ends them (runtime/native/wasm/threads/crew.ts).
extern "C" {

/// Works for others on the calling thread until it is dismissed.
PTLITE_EXPORTED("ptlite_help") void ptlite_help() {
  ptlite::started.fetch_add(1, std::memory_order_relaxed);
  ptlite::help(nullptr);
}

/// Kernels are to use so many threads.
PTLITE_EXPORTED("ptlite_use_threads") void ptlite_use_threads(int32_t count) { ptlite::set_thread_limit(count); }

/// So many helpers end as soon as they are idle.
PTLITE_EXPORTED("ptlite_dismiss") void ptlite_dismiss(int32_t count) {
  ptlite::dismissed.fetch_add(count, std::memory_order_seq_cst);
  // another state, for those that are about to sleep
  ptlite::state.fetch_add(ptlite::kJob, std::memory_order_seq_cst);
  ptlite::wake(ptlite::state, ptlite::kMaxThreads);
}

/// The engine has ended this helper by a trap. Whoever waits for it goes on, and traps, too.
PTLITE_EXPORTED("ptlite_abandon") void ptlite_abandon() {
  ptlite::broken.store(true, std::memory_order_relaxed);
  ptlite::started.fetch_sub(1, std::memory_order_relaxed);
  if (ptlite::at_work) ptlite::leave();
}

}  // extern "C"

#endif
