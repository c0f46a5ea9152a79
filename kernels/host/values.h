// Values of JavaScript as kernels take them.
#pragma once

#include "node_api.h"
#include "ptlite_abi.h"

namespace ptlite {

/// The address of what a typed array or a DataView shows. False where the value is neither.
inline bool address_of(napi_env env, napi_value view, void** address) {
  return napi_get_typedarray_info(env, view, nullptr, nullptr, address, nullptr, nullptr) == napi_ok ||
         napi_get_dataview_info(env, view, nullptr, address, nullptr, nullptr) == napi_ok;
}

/// The address of a frame: a Uint8Array with room for a header at least. False for other values.
inline bool frame_of(napi_env env, napi_value array, void** address) {
  napi_typedarray_type type = -1;
  size_t bytes = 0;
  return napi_get_typedarray_info(env, array, &type, &bytes, address, nullptr, nullptr) == napi_ok && type == napi_uint8_array &&
         bytes >= sizeof(ptlite_frame_header);
}

/// Throws an Error, where JavaScript can still run.
inline napi_value refuse(napi_env env, const char* message) {
  napi_throw_error(env, nullptr, message);
  return nullptr;
}

/// Sets exports.name to a function. False where that fails, as everything does in an environment that ends.
inline bool add_function(napi_env env, napi_value exports, const char* name, napi_callback call, void* data = nullptr) {
  napi_value function;
  return napi_create_function(env, name, SIZE_MAX, call, data, &function) == napi_ok &&
         napi_set_named_property(env, exports, name, function) == napi_ok;
}

inline bool add_hash(napi_env env, napi_value exports, uint32_t hash) {
  napi_value value;
  return napi_create_uint32(env, hash, &value) == napi_ok && napi_set_named_property(env, exports, "abiHash", value) == napi_ok;
}

}  // namespace ptlite
