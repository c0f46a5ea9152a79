#include "os/tiles.h"

namespace ptlite {

// No processor of these machines has them.
bool request_tiles() { return false; }

}  // namespace ptlite
