// Locks, and what runs once. Constant-initialised and without destructors, so that threads can outlive static objects at exit; without the
// C++ library's own, which bring its exception handling along: 90 kB.
#pragma once

#if defined(__wasm_atomics__)
#include <stdint.h>

#include <atomic>
#elif !defined(__wasi__) && !defined(_WIN32)
#include <pthread.h>
#endif

namespace ptlite {

#if defined(__wasm_atomics__)

class Mutex {
 public:
  void lock();
  void unlock();

 private:
  /// 0: nobody has it; 2: others may sleep until it is given up.
  std::atomic<uint32_t> state_{0};
};

/// Whoever comes while the task runs waits for its end.
class Once {
 public:
  void run(void (*task)());

 private:
  std::atomic<bool> done_{false};
  Mutex mutex_;
};

#elif defined(__wasi__)

// one thread
class Mutex {
 public:
  void lock() {}
  void unlock() {}
};

class Once {
 public:
  void run(void (*task)()) {
    if (done_) return;
    done_ = true;
    task();
  }

 private:
  bool done_ = false;
};

#elif defined(_WIN32)

class Mutex {
 public:
  void lock();
  void unlock();

 private:
  /// An SRWLOCK.
  void* state_ = nullptr;
};

/// Whoever comes while the task runs waits for its end.
class Once {
 public:
  void run(void (*task)());

 private:
  /// An INIT_ONCE.
  void* state_ = nullptr;
};

#else

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Whoever comes while the task runs waits for its end.
class Once {
 public:
  void run(void (*task)()) { pthread_once(&once_, task); }

 private:
  pthread_once_t once_ = PTHREAD_ONCE_INIT;
};

#endif

/// Holds a mutex as long as it lives.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace ptlite
