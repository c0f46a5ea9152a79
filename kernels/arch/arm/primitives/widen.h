// Bytes to vectors of 32-bit integers.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) {
  int32_t four;
  memcpy(&four, bytes, sizeof(four));
  return Vec<int32_t>((Vec<int32_t>::Raw)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) {
  uint32_t four;
  memcpy(&four, bytes, sizeof(four));
  return Vec<int32_t>((Vec<int32_t>::Raw)vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))))));
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
