// The library as an addon of Node-API, which is how JavaScript reaches kernels. Where its environment ends, from one moment to the next for
// a worker that is terminated, all calls of Node-API fail: then nothing is returned, which no JavaScript sees any more.
#include "async_launch.h"
#include "custom_library.h"
#include "values.h"

namespace ptlite {
namespace {

/// launch(host?: ArrayBufferView): status. Runs the kernel of the frame that the function was made for, whose address is its data.
napi_value launch(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument, status;
  void *host = nullptr, *frame;
  if (napi_get_cb_info(env, info, &count, &argument, nullptr, &frame) != napi_ok) return nullptr;
  if (count > 0 && !address_of(env, argument, &host)) return refuse(env, "expected an ArrayBufferView");
  return napi_create_int32(env, ptlite_launch(frame, host), &status) == napi_ok ? status : nullptr;
}

/// bind(frame: Uint8Array): launch. The function holds the frame, whose buffer must not be transferred.
napi_value bind(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value frame, function;
  void* address;
  if (napi_get_cb_info(env, info, &count, &frame, nullptr, nullptr) != napi_ok) return nullptr;
  if (!frame_of(env, frame, &address)) return refuse(env, "expected a frame");
  const bool made = napi_create_function(env, "launch", SIZE_MAX, launch, address, &function) == napi_ok &&
                    napi_set_named_property(env, function, "frame", frame) == napi_ok;
  return made ? function : nullptr;
}

}  // namespace
}  // namespace ptlite

/// Called once per environment and copy of the library's JavaScript in it. The exports are declared in runtime/native/addon.ts.
extern "C" PTLITE_EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  using namespace ptlite;
#if defined(_WIN32)
  if (!find_node_api()) return nullptr;
#endif
  bool made = add_hash(env, exports, ptlite_abi_hash()) && add_function(env, exports, "bind", bind);
#ifdef PTLITE_ASYNC_LAUNCHES
  AsyncLaunches* const launches = made ? async_launches_of(env) : nullptr;
  made = launches != nullptr && add_function(env, exports, "launchAsync", launch_async, launches);
#endif
#ifdef PTLITE_CUSTOM_LIBRARIES
  made = made && add_function(env, exports, "open", open_custom_library);
#endif
  return made ? exports : nullptr;
}
