// The functions of Node-API by their addresses, for Windows: an import would name the program, and node.exe is one of several that have them.
#include "node_api.h"

#include "os/windows/host_program.h"

#define PTLITE_NODE_API(name, ...) napi_status (*name)(__VA_ARGS__);
extern "C" {
PTLITE_FOR_EACH_NODE_API(PTLITE_NODE_API)
}
#undef PTLITE_NODE_API

namespace ptlite {

bool find_node_api() {
  bool found = true;
#define PTLITE_NODE_API(name, ...)                                     \
  name = reinterpret_cast<decltype(name)>(find_in_host(#name)); \
  found = found && name != nullptr;
  PTLITE_FOR_EACH_NODE_API(PTLITE_NODE_API)
#undef PTLITE_NODE_API
  return found;
}

}  // namespace ptlite
