// Launches that other threads make for an environment of Node-API.
#pragma once

#include "node_api.h"

namespace ptlite {

struct AsyncLaunches;

/// What counts the launches of an environment, at whose end it waits for those that run and lets no other begin. nullptr where there is no
/// memory, or the environment ends.
AsyncLaunches* async_launches_of(napi_env env);

/// launchAsync(frame: Uint8Array, done: (status: number) => void): void
/// Runs the kernel of the frame, which is kept until then. The function's data is the AsyncLaunches of its environment.
napi_value launch_async(napi_env env, napi_callback_info info);

}  // namespace ptlite
