// The functions of Node-API (https://nodejs.org/api/n-api.html) that the library calls, all of version 3 or lower. They come from the
// process that loads the library as an addon, such as Node. They are weak, so that the library also loads where there are none; Windows has no
// such symbols, and they are pointers there, which find_node_api() sets.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct napi_env__* napi_env;
typedef struct napi_value__* napi_value;
typedef struct napi_ref__* napi_ref;
typedef struct napi_callback_info__* napi_callback_info;
typedef struct napi_async_work__* napi_async_work;

/// An enumeration in C; any other than napi_ok means that nothing was done.
typedef int32_t napi_status;
constexpr napi_status napi_ok = 0;

/// An enumeration in C.
typedef int32_t napi_typedarray_type;
constexpr napi_typedarray_type napi_uint8_array = 1;

typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
typedef void (*napi_async_execute_callback)(napi_env env, void* data);
typedef void (*napi_async_complete_callback)(napi_env env, napi_status status, void* data);

// X(name, arguments...)
#define PTLITE_FOR_EACH_NODE_API(X) \
  /* functions and their arguments */ \
  X(napi_get_cb_info, napi_env env, napi_callback_info info, size_t* count, napi_value* arguments, napi_value* self, void** data) \
  X(napi_create_function, napi_env env, const char* name, size_t length, napi_callback call, void* data, napi_value* result) \
  X(napi_call_function, napi_env env, napi_value self, napi_value function, size_t count, const napi_value* arguments, napi_value* result) \
  X(napi_throw_error, napi_env env, const char* code, const char* message) \
  /* values */ \
  X(napi_create_int32, napi_env env, int32_t value, napi_value* result) \
  X(napi_create_uint32, napi_env env, uint32_t value, napi_value* result) \
  X(napi_create_string_utf8, napi_env env, const char* text, size_t length, napi_value* result) \
  X(napi_get_value_string_utf8, napi_env env, napi_value value, char* text, size_t room, size_t* length) \
  X(napi_create_object, napi_env env, napi_value* result) \
  X(napi_set_named_property, napi_env env, napi_value object, const char* name, napi_value value) \
  X(napi_get_typedarray_info, napi_env env, napi_value array, napi_typedarray_type* type, size_t* length, void** data, napi_value* buffer, size_t* offset) \
  X(napi_get_dataview_info, napi_env env, napi_value view, size_t* length, void** data, napi_value* buffer, size_t* offset) \
  /* what outlives a call */ \
  X(napi_create_reference, napi_env env, napi_value value, uint32_t count, napi_ref* result) \
  X(napi_get_reference_value, napi_env env, napi_ref reference, napi_value* result) \
  X(napi_delete_reference, napi_env env, napi_ref reference) \
  X(napi_add_env_cleanup_hook, napi_env env, void (*hook)(void* data), void* data) \
  /* work on other threads */ \
  X(napi_create_async_work, napi_env env, napi_value resource, napi_value name, napi_async_execute_callback execute, napi_async_complete_callback complete, void* data, napi_async_work* result) \
  X(napi_queue_async_work, napi_env env, napi_async_work work) \
  X(napi_delete_async_work, napi_env env, napi_async_work work)

#if defined(_WIN32)
#define PTLITE_NODE_API(name, ...) extern napi_status (*name)(__VA_ARGS__);
#else
#define PTLITE_NODE_API(name, ...) napi_status name(__VA_ARGS__) __attribute__((weak));
#endif
PTLITE_FOR_EACH_NODE_API(PTLITE_NODE_API)
#undef PTLITE_NODE_API

}  // extern "C"

#if defined(_WIN32)
namespace ptlite {

/// Looks the functions up in the program that has loaded the library. False where it lacks one.
bool find_node_api();

}  // namespace ptlite
#endif
