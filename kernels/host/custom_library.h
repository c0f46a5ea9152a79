// Kernel libraries of users, which are plain shared libraries.
#pragma once

#include "node_api.h"

namespace ptlite {

/// open(path: string): { abiHash: number, launch: (frame: Uint8Array, host?: ArrayBufferView) => number }
/// Throws what the system says where it does not load the library, which stays loaded until the process ends.
napi_value open_custom_library(napi_env env, napi_callback_info info);

}  // namespace ptlite
