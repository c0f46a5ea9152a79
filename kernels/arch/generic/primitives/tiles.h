// Stands for tile registers where there are none.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace dot {

// 32-bit lanes of a register, columns of a panel, groups of steps in a chunk.
constexpr int kLanes = PTLITE_VEC_BYTES / 4;
constexpr int kColumns = 2 * kLanes;
constexpr int kGroups = 16;

// Nothing to configure.
struct Tiles {};

}  // namespace dot
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
