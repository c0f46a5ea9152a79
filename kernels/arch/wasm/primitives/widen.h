// Bytes to vectors of 32-bit integers.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) {
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(bytes))));
}
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) {
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(bytes))));
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
