#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>

#include "futex.h"

namespace ptlite {
namespace {

/// How long a thread looks for work before it sleeps: longer than the serial steps between two parallel kernels, short
/// enough that an idle process costs nothing.
constexpr int64_t kSpinNanoseconds = 50000;

/// Ranges per thread: more even out threads of different speed, fewer cost less.
constexpr int64_t kRangesPerThread = 4;

struct Job {
  RangeTask task;
  const void* context;
  int64_t count;
  int64_t range;
  int32_t helpers;  // how many may join
};

// Everything here is constant-initialised and has no destructor, so that helpers can outlive static objects at exit.
std::atomic<int32_t> limit{1};
std::atomic_flag taken = ATOMIC_FLAG_INIT;  // by the caller that has the helpers
Job job;
std::atomic<int64_t> next_range{0};
// Number of the job in the upper bits, kOpen while it can be joined, and how many helpers are at work.
std::atomic<uint32_t> state{0};
constexpr uint32_t kCount = 0x3ff, kOpen = 0x400, kJob = 0x800;
std::atomic<uint32_t> sleepers{0};
// Changes when the last helper has left a closed job whose caller sleeps.
std::atomic<uint32_t> finished{0};
std::atomic<bool> caller_sleeps{false};
int32_t started = 0;
bool fork_handled = false;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

/// Spins until done() or the time is over; whether it is done.
template <class F>
bool spin(const F& done) {
  const int64_t end = now() + kSpinNanoseconds;
  do {
    for (int i = 0; i < 32; i++) {
      if (done()) return true;
      __builtin_ia32_pause();
    }
  } while (now() < end);
  return done();
}

void work() {
  const int64_t range = job.range, count = job.count;
  for (;;) {
    const int64_t begin = next_range.fetch_add(1, std::memory_order_relaxed) * range;
    if (begin >= count) return;
    job.task(job.context, begin, begin + range < count ? begin + range : count);
  }
}

/// Joins the job of state `seen`, which is open, and works on it. False where it was closed or is full.
bool join(uint32_t seen) {
  while (seen & kOpen) {
    // job is written before it is opened and stays until it is closed and empty, so it can only be read after joining
    if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (static_cast<int32_t>(seen & kCount) < job.helpers) work();
      const uint32_t before = state.fetch_sub(1, std::memory_order_seq_cst);
      if ((before & (kCount | kOpen)) == 1 && caller_sleeps.load(std::memory_order_seq_cst)) {
        finished.fetch_add(1, std::memory_order_seq_cst);
        wake(finished, 1);
      }
      return true;
    }
  }
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
    if (!((seen & kOpen) && (seen & ~(kCount | kOpen)) != joined)) sleep_while(state, seen);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
  return nullptr;
}

/// The child of a fork has only the thread that forked.
void after_fork() {
  started = 0;
  sleepers.store(0);
  state.store(0);
  caller_sleeps.store(false);
  taken.clear();
}

/// Starts helpers until there are `count`, or as many as the system allows; how many there are.
int32_t start(int32_t count) {
  if (started >= count) return started;
  if (!fork_handled) {
    fork_handled = true;
    pthread_atfork(nullptr, nullptr, after_fork);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, size_t{1} << 20);
  pthread_t thread;
  while (started < count && pthread_create(&thread, &attributes, help, nullptr) == 0) started++;
  pthread_attr_destroy(&attributes);
  return started;
}

void run(int32_t helpers) {
  next_range.store(0, std::memory_order_relaxed);
  job.helpers = helpers;
  // nobody is at work, so that the count is 0
  const uint32_t opened = ((state.load(std::memory_order_relaxed) & ~(kCount | kOpen)) + kJob) | kOpen;
  state.store(opened, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) wake(state, helpers);
  work();
  state.fetch_and(~kOpen, std::memory_order_seq_cst);
  const auto done = [] { return (state.load(std::memory_order_seq_cst) & kCount) == 0; };
  if (done() || spin(done)) return;
  caller_sleeps.store(true, std::memory_order_seq_cst);
  for (;;) {
    const uint32_t before = finished.load(std::memory_order_seq_cst);
    if (done()) break;
    sleep_while(finished, before);
  }
  caller_sleeps.store(false, std::memory_order_relaxed);
}

struct RangeMemory {
  void* memory = nullptr;
  size_t size = 0;
  ~RangeMemory() { free(memory); }
};
thread_local RangeMemory range_memory;

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
  if (threads <= 1 || taken.test_and_set(std::memory_order_acquire)) {
    task(context, 0, count);
    return;
  }
  const int32_t helpers = start(static_cast<int32_t>(threads - 1));
  if (helpers == 0) {
    task(context, 0, count);
  } else {
    const int64_t ranges = threads * kRangesPerThread < units ? threads * kRangesPerThread : units;
    job.task = task;
    job.context = context;
    job.count = count;
    job.range = (units + ranges - 1) / ranges * grain;
    run(static_cast<int32_t>(threads - 1 < helpers ? threads - 1 : helpers));
  }
  taken.clear(std::memory_order_release);
}

void* range_scratch(size_t bytes) {
  if (bytes <= range_memory.size) return range_memory.memory;
  const size_t size = (bytes + bytes / 2 + 4095) & ~size_t{4095};
  free(range_memory.memory);
  range_memory.memory = aligned_alloc(64, size);
  range_memory.size = range_memory.memory == nullptr ? 0 : size;
  return range_memory.memory;
}

}  // namespace ptlite
