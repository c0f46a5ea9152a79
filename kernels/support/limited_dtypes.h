// Dtypes with little arithmetic, numbered as c10::ScalarType: what elements of them kernels can do is move and convert.
#pragma once

#include <cstdint>

namespace ptlite {

enum limited_dtype : int32_t {
  FLOAT8_E5M2 = 23,
  FLOAT8_E4M3FN = 24,
  FLOAT8_E5M2FNUZ = 25,
  FLOAT8_E4M3FNUZ = 26,
  UINT16 = 27,
  UINT32 = 28,
  UINT64 = 29,
};

inline bool is_float8(int32_t dtype) { return dtype >= FLOAT8_E5M2 && dtype <= FLOAT8_E4M3FNUZ; }

/// Bytes of an element of a dtype with little arithmetic.
inline int64_t limited_size(int32_t dtype) { return is_float8(dtype) ? 1 : dtype == UINT16 ? 2 : dtype == UINT32 ? 4 : 8; }

}  // namespace ptlite
