// float16 and bfloat16 to float32 and back: round to nearest even, NaN stays NaN, infinities and denormals kept.
#pragma once

#include "support/bfloat16_bits.h"
#include "support/float16_bits.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// 16-bit floats as they lie in memory.
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};

PTLITE_INLINE float to_float(bfloat16 x) { return bfloat16_to_float(x.bits); }
PTLITE_INLINE bfloat16 to_bfloat16(float x) { return {float_to_bfloat16_bits(x)}; }

// A vector of floats in 16 bits each, as they lie in memory.
using HalfBits = detail::Raw<uint16_t, Vec<float>::size>::type;

// What a processor without instructions for it takes; "primitives/half.h" has those that there are.
namespace detail {
// The first `count` of a vector's 16-bit floats, fewer than there are; the others are zero.
PTLITE_INLINE HalfBits load_halves(const void* p, int64_t count) { return portable::load_first<HalfBits, 2>(p, count); }
PTLITE_INLINE void store_halves(void* p, HalfBits bits, int64_t count) { portable::store_first<HalfBits, 2>(p, bits, count); }

// A vector of bfloat16 to float32 and back.
PTLITE_INLINE Vec<float> widen_bfloat16(HalfBits bits) {
  return bit_cast<float>(Vec<int32_t>(__builtin_convertvector(bits, Vec<int32_t>::Raw)) << 16);
}
PTLITE_INLINE HalfBits narrow_bfloat16(Vec<float> a) {
  const Vec<int32_t> bits = bit_cast<int32_t>(a);
  const Vec<int32_t> odd = (bits >> 16) & Vec<int32_t>(1);
  const Vec<int32_t> rounded = (bits + odd + Vec<int32_t>(0x7fff)) >> 16;
  return __builtin_convertvector(select(is_nan(a), Vec<int32_t>(0x7fc0), rounded).v, HalfBits);
}
}  // namespace detail

}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#include "primitives/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

PTLITE_INLINE float to_float(float16 x) { return arch::float16_to_float(x.bits); }
PTLITE_INLINE float16 to_float16(float x) { return {arch::float_to_float16(x)}; }

namespace detail {
PTLITE_INLINE HalfBits load_halves(const void* p) {
  HalfBits bits;
  memcpy(&bits, p, sizeof(bits));
  return bits;
}
PTLITE_INLINE void store_halves(void* p, HalfBits bits) { memcpy(p, &bits, sizeof(bits)); }

PTLITE_INLINE Vec<float> widen(HalfBits bits, bfloat16) { return arch::widen_bfloat16(bits); }
PTLITE_INLINE Vec<float> widen(HalfBits bits, float16) { return arch::widen_float16(bits); }
PTLITE_INLINE HalfBits narrow(Vec<float> a, bfloat16) { return arch::narrow_bfloat16(a); }
PTLITE_INLINE HalfBits narrow(Vec<float> a, float16) { return arch::narrow_float16(a); }
}  // namespace detail

// A vector of float32 from and to memory of either type. Those with a count touch `count` elements only; lanes beyond it
// read as zero.
PTLITE_INLINE Vec<float> load_float(const float* p) { return Vec<float>::load(p); }
PTLITE_INLINE Vec<float> load_float(const float* p, int64_t count) { return Vec<float>::load(p, count); }
PTLITE_INLINE void store_float(float* p, Vec<float> a) { a.store(p); }
PTLITE_INLINE void store_float(float* p, Vec<float> a, int64_t count) { a.store(p, count); }

template <class Half>
PTLITE_INLINE Vec<float> load_float(const Half* p) {
  return detail::widen(detail::load_halves(p), Half{});
}
template <class Half>
PTLITE_INLINE Vec<float> load_float(const Half* p, int64_t count) {
  return count >= Vec<float>::size ? load_float(p) : detail::widen(arch::load_halves(p, count), Half{});
}
template <class Half>
PTLITE_INLINE void store_float(Half* p, Vec<float> a) {
  detail::store_halves(p, detail::narrow(a, Half{}));
}
template <class Half>
PTLITE_INLINE void store_float(Half* p, Vec<float> a, int64_t count) {
  if (count >= Vec<float>::size) return store_float(p, a);
  arch::store_halves(p, detail::narrow(a, Half{}), count);
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
