#include "custom_library.h"

#include "os/files.h"
#include "values.h"

namespace ptlite {
namespace {

/// More than any system takes.
constexpr size_t kPathRoom = size_t{1} << 15;

using Launch = int32_t (*)(void* frame, void* host);
using Hash = uint32_t (*)(void);

/// launch(frame, host?): status. The function's data is the library's ptlite_launch.
napi_value launch(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value arguments[2], status;
  void *frame, *host = nullptr, *library;
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, &library) != napi_ok) return nullptr;
  if (!frame_of(env, arguments[0], &frame)) return refuse(env, "expected a frame");
  if (count > 1 && !address_of(env, arguments[1], &host)) return refuse(env, "expected an ArrayBufferView");
  return napi_create_int32(env, reinterpret_cast<Launch>(library)(frame, host), &status) == napi_ok ? status : nullptr;
}

}  // namespace

napi_value open_custom_library(napi_env env, napi_callback_info info) {
  size_t count = 1, length;
  napi_value argument, result;
  char path[kPathRoom];
  if (napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr) != napi_ok) return nullptr;
  if (napi_get_value_string_utf8(env, argument, path, sizeof(path), &length) != napi_ok || length + 1 == sizeof(path))
    return refuse(env, "expected a path");
  void* const library = open_library(path);
  if (library == nullptr) return refuse(env, library_error());
  void* const found = find_symbol(library, "ptlite_launch");
  const auto hash = reinterpret_cast<Hash>(find_symbol(library, "ptlite_abi_hash"));
  if (found == nullptr || hash == nullptr) return refuse(env, "it is no kernel library: it has no ptlite_launch and ptlite_abi_hash");
  const bool made =
      napi_create_object(env, &result) == napi_ok && add_hash(env, result, hash()) && add_function(env, result, "launch", launch, found);
  return made ? result : nullptr;
}

}  // namespace ptlite
