// Tile registers of x86 processors, whose content the system saves only for processes that have asked for it.
#pragma once

namespace ptlite {

/// Asks for it. Where it is refused, the first tile instruction is a fault.
bool request_tiles();

}  // namespace ptlite
