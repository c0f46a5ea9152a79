#include "os/tiles.h"

#include "os/windows/system.h"

namespace ptlite {

bool request_tiles() {
  using Enable = BOOL WINAPI(DWORD64 features);
  auto* const enable = function_of<Enable>(L"kernel32.dll", "EnableProcessOptionalXStateFeatures");
  constexpr DWORD64 tile_data = DWORD64{1} << 18;
  return enable != nullptr && enable(tile_data);
}

}  // namespace ptlite
