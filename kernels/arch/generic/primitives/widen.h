// Bytes to vectors of 32-bit integers.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) { return Vec<int32_t>::load_from(bytes); }
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) { return Vec<int32_t>::load_from(bytes); }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
