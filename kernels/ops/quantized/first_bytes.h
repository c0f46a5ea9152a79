// The rest of a row of bytes that does not fill a register. Levels with masks for bytes have a FirstBytes of their own.
#pragma once

#include "primitives/int8.h"
#include "vec/vec.h"

#if !defined(PTLITE_INT8_BYTE_MASKS)
namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// The first `count` bytes of a register, or all of them.
class FirstBytes {
 public:
  explicit FirstBytes(int64_t count) : count_(count < PTLITE_VEC_BYTES ? count : PTLITE_VEC_BYTES) {}
  PTLITE_INLINE Reg load(const uint8_t* p) const { return (Reg)Vec<uint8_t>::load(p, count_).v; }
  PTLITE_INLINE void store(uint8_t* p, Reg r) const { Vec<uint8_t>((Vec<uint8_t>::Raw)r).store(p, count_); }

 private:
  int64_t count_;
};

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
#endif
