#include "async_launch.h"

#include <stdlib.h>

#include "os/threads.h"
#include "values.h"

namespace ptlite {

/// Held by the environment, until it ends, and by each of its launches.
struct AsyncLaunches {
  std::atomic<uint32_t> holders;
  /// How many run, and whether no other may begin.
  std::atomic<uint32_t> running;
  static constexpr uint32_t kClosed = 1u << 31;

  void release() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) free(this);
  }

  bool begin() {
    uint32_t now = running.load(std::memory_order_relaxed);
    while ((now & kClosed) == 0)
      if (running.compare_exchange_weak(now, now + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return false;
  }

  void end() {
    if (running.fetch_sub(1, std::memory_order_release) == kClosed + 1) wake(running, 1);
  }

  /// Frames, and the memory that they name, go with the environment.
  void close() {
    for (uint32_t now = running.fetch_or(kClosed) | kClosed; now != kClosed; now = running.load(std::memory_order_acquire))
      sleep_while(running, now);
    release();
  }
};

namespace {

struct AsyncLaunch {
  AsyncLaunches* launches;
  void* frame;
  napi_ref frame_kept, done;
  napi_async_work work;
  int32_t status;
};

void execute(napi_env, void* data) {
  auto* const launch = static_cast<AsyncLaunch*>(data);
  if (!launch->launches->begin()) return;
  launch->status = ptlite_launch(launch->frame, nullptr);
  launch->launches->end();
}

void forget(napi_env env, AsyncLaunch* launch) {
  if (launch->work != nullptr) napi_delete_async_work(env, launch->work);
  if (launch->frame_kept != nullptr) napi_delete_reference(env, launch->frame_kept);
  if (launch->done != nullptr) napi_delete_reference(env, launch->done);
  launch->launches->release();
  free(launch);
}

/// Comes at the end of the environment, too; nothing can be called then.
void complete(napi_env env, napi_status, void* data) {
  auto* const launch = static_cast<AsyncLaunch*>(data);
  napi_value done = nullptr, status;
  const bool found = napi_get_reference_value(env, launch->done, &done) == napi_ok && done != nullptr;
  const bool known = napi_create_int32(env, launch->status, &status) == napi_ok;
  forget(env, launch);
  if (found && known) napi_call_function(env, done, done, 1, &status, nullptr);
}

}  // namespace

AsyncLaunches* async_launches_of(napi_env env) {
  auto* const launches = static_cast<AsyncLaunches*>(calloc(1, sizeof(AsyncLaunches)));
  if (launches == nullptr) return nullptr;
  launches->holders.store(1, std::memory_order_relaxed);
  const auto close = [](void* data) { static_cast<AsyncLaunches*>(data)->close(); };
  if (napi_add_env_cleanup_hook(env, close, launches) == napi_ok) return launches;
  free(launches);
  return nullptr;
}

napi_value launch_async(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value arguments[2], name;
  void *frame, *launches;
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, &launches) != napi_ok) return nullptr;
  if (!frame_of(env, arguments[0], &frame)) return refuse(env, "expected a frame");
  auto* const launch = static_cast<AsyncLaunch*>(calloc(1, sizeof(AsyncLaunch)));
  if (launch == nullptr) return refuse(env, "no memory is left");
  launch->launches = static_cast<AsyncLaunches*>(launches);
  launch->launches->holders.fetch_add(1, std::memory_order_relaxed);
  launch->frame = frame;
  // of a launch that never came to run
  launch->status = PTLITE_NO_MEMORY;
  if (napi_create_reference(env, arguments[0], 1, &launch->frame_kept) == napi_ok &&
      napi_create_reference(env, arguments[1], 1, &launch->done) == napi_ok &&
      napi_create_string_utf8(env, "ptlite", SIZE_MAX, &name) == napi_ok &&
      napi_create_async_work(env, nullptr, name, execute, complete, launch, &launch->work) == napi_ok &&
      napi_queue_async_work(env, launch->work) == napi_ok)
    return nullptr;
  forget(env, launch);
  return refuse(env, "cannot launch a kernel on another thread");
}

}  // namespace ptlite
