// One vector class over the registers of the level that the including file is compiled for (primitives/registers.h). Kernels are written
// on it once.
//
//   using F = Vec<float>;
//   int64_t i = 0;
//   for (; i + F::size <= n; i += F::size) fma(F::load(a + i), F::load(b + i), c).store(out + i);
//   if (i < n) fma(F::load(a + i, n - i), F::load(b + i, n - i), c).store(out + i, n - i);
//
// Loads and stores need no alignment. Those with a count touch `count` elements only; lanes beyond it read as zero.
#pragma once

#include <stdint.h>
#include <string.h>

#if !defined(CPU_CAPABILITY)
#define CPU_CAPABILITY BASE
#endif

#define PTLITE_INLINE inline __attribute__((always_inline))

#include "primitives/vector.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

namespace detail {
template <int bytes>
struct SignedOf;
template <>
struct SignedOf<1> {
  using type = int8_t;
  using unsigned_type = uint8_t;
};
template <>
struct SignedOf<2> {
  using type = int16_t;
  using unsigned_type = uint16_t;
};
template <>
struct SignedOf<4> {
  using type = int32_t;
  using unsigned_type = uint32_t;
};
template <>
struct SignedOf<8> {
  using type = int64_t;
  using unsigned_type = uint64_t;
};

// `lanes` elements of T as one GCC vector.
template <class T, int lanes>
struct Raw {
  typedef T type __attribute__((vector_size(sizeof(T) * lanes)));
  typedef T unaligned __attribute__((vector_size(sizeof(T) * lanes), aligned(1), may_alias));
};

template <class T>
constexpr bool is_real = T(0.5) != T(0);

// What sums and products of T are computed in: T itself, or unsigned integers of its width, which wrap around as tensors' integers do.
template <class T, bool real = is_real<T>>
struct Wrapping {
  using type = T;
};
template <class T>
struct Wrapping<T, false> {
  using type = typename SignedOf<sizeof(T)>::unsigned_type;
};
}  // namespace detail

template <class T>
struct Vec {
  static constexpr int size = PTLITE_VEC_BYTES / sizeof(T);
  using Scalar = T;
  using Raw = typename detail::Raw<T, size>::type;
  using Wrap = typename detail::Raw<typename detail::Wrapping<T>::type, size>::type;
  // Comparisons give integers of T's width: all bits set where true.
  using Mask = Vec<typename detail::SignedOf<sizeof(T)>::type>;

  Raw v;

  Vec() = default;
  PTLITE_INLINE Vec(Raw raw) : v(raw) {}
  // every lane = x
  PTLITE_INLINE Vec(T x) : v(x - Raw{}) {}

  static PTLITE_INLINE Vec zero() { return Vec(Raw{}); }
  // start, start + 1, ...
  static PTLITE_INLINE Vec iota(T start = T(0)) {
    Vec r;
    for (int i = 0; i < size; i++) r.v[i] = start + T(i);
    return r;
  }

  static PTLITE_INLINE Vec load(const T* p) { return Vec(*reinterpret_cast<const typename detail::Raw<T, size>::unaligned*>(p)); }
  PTLITE_INLINE void store(T* p) const { *reinterpret_cast<typename detail::Raw<T, size>::unaligned*>(p) = v; }

  static PTLITE_INLINE Vec load(const T* p, int64_t count) {
    if (count >= size) return load(p);
    return Vec(arch::load_first<Raw, sizeof(T)>(p, count));
  }

  PTLITE_INLINE void store(T* p, int64_t count) const {
    if (count >= size) return store(p);
    arch::store_first<Raw, sizeof(T)>(p, v, count);
  }

  // size elements of another type, converted as by static_cast
  template <class S>
  static PTLITE_INLINE Vec load_from(const S* p) {
    return Vec(__builtin_convertvector(*reinterpret_cast<const typename detail::Raw<S, size>::unaligned*>(p), Raw));
  }
  template <class S>
  PTLITE_INLINE void store_to(S* p) const {
    *reinterpret_cast<typename detail::Raw<S, size>::unaligned*>(p) = __builtin_convertvector(v, typename detail::Raw<S, size>::type);
  }

  PTLITE_INLINE T operator[](int lane) const { return v[lane]; }

  friend PTLITE_INLINE Vec operator+(Vec a, Vec b) { return Vec(Raw((Wrap)a.v + (Wrap)b.v)); }
  friend PTLITE_INLINE Vec operator-(Vec a, Vec b) { return Vec(Raw((Wrap)a.v - (Wrap)b.v)); }
  friend PTLITE_INLINE Vec operator*(Vec a, Vec b) { return Vec(Raw((Wrap)a.v * (Wrap)b.v)); }
  friend PTLITE_INLINE Vec operator/(Vec a, Vec b) { return Vec(Raw(a.v / b.v)); }
  friend PTLITE_INLINE Vec operator-(Vec a) { return Vec(Raw(-(Wrap)a.v)); }
  PTLITE_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  PTLITE_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  PTLITE_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }

  // integers and masks only
  friend PTLITE_INLINE Vec operator&(Vec a, Vec b) { return Vec(Raw(a.v & b.v)); }
  friend PTLITE_INLINE Vec operator|(Vec a, Vec b) { return Vec(Raw(a.v | b.v)); }
  friend PTLITE_INLINE Vec operator^(Vec a, Vec b) { return Vec(Raw(a.v ^ b.v)); }
  friend PTLITE_INLINE Vec operator~(Vec a) { return Vec(Raw(~a.v)); }
  friend PTLITE_INLINE Vec operator<<(Vec a, int n) { return Vec(Raw((Wrap)a.v << n)); }
  friend PTLITE_INLINE Vec operator>>(Vec a, int n) { return Vec(Raw(a.v >> n)); }

  // comparisons with NaN are false, != is true
  friend PTLITE_INLINE Mask operator<(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v < b.v)); }
  friend PTLITE_INLINE Mask operator<=(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v <= b.v)); }
  friend PTLITE_INLINE Mask operator>(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v > b.v)); }
  friend PTLITE_INLINE Mask operator>=(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v >= b.v)); }
  friend PTLITE_INLINE Mask operator==(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v == b.v)); }
  friend PTLITE_INLINE Mask operator!=(Vec a, Vec b) { return Mask((typename Mask::Raw)(a.v != b.v)); }

  // mask ? a : b, lane by lane
  friend PTLITE_INLINE Vec select(Mask mask, Vec a, Vec b) { return Vec(Raw(mask.v ? a.v : b.v)); }

  friend PTLITE_INLINE bool any(Vec mask) {
    if constexpr (detail::is_real<T>) return false;
    return arch::any_bit((typename detail::Raw<int64_t, PTLITE_VEC_BYTES / 8>::type)mask.v);
  }
};

template <class T, class S>
PTLITE_INLINE Vec<T> bit_cast(Vec<S> a) {
  return Vec<T>((typename Vec<T>::Raw)a.v);
}

// Between types of the same width, as by static_cast.
template <class T, class S>
PTLITE_INLINE Vec<T> convert(Vec<S> a) {
  static_assert(sizeof(T) == sizeof(S), "convert keeps the number of lanes");
  return Vec<T>(__builtin_convertvector(a.v, typename Vec<T>::Raw));
}

// a * b + c; one rounding from AVX2 on, two at DEFAULT
template <class T>
PTLITE_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(PTLITE_VEC_MULTIPLY_ADDS)
  if constexpr (detail::is_real<T>) return Vec<T>(arch::multiplied_and_added<T>(a.v, b.v, c.v));
#endif
  return a * b + c;
}

template <class T>
PTLITE_INLINE typename Vec<T>::Mask is_nan(Vec<T> a) {
  return a != a;
}

// A NaN in either operand gives NaN, as torch.minimum and torch.maximum.
template <class T>
PTLITE_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  if constexpr (detail::is_real<T>) return select((a < b) | is_nan(a), a, b);
  return select(a < b, a, b);
}
template <class T>
PTLITE_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  if constexpr (detail::is_real<T>) return select((a > b) | is_nan(a), a, b);
  return select(a > b, a, b);
}
// One instruction; b where either operand is NaN.
template <class T>
PTLITE_INLINE Vec<T> fast_min(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 4 && detail::is_real<T>) return Vec<T>(arch::lesser(a.v, b.v));
  return select(a < b, a, b);
}
template <class T>
PTLITE_INLINE Vec<T> fast_max(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 4 && detail::is_real<T>) return Vec<T>(arch::greater(a.v, b.v));
  return select(a > b, a, b);
}

// A NaN among the elements stays.
template <class V>
PTLITE_INLINE V at_least(V a, V low) {
  return fast_max(low, a);
}
template <class V>
PTLITE_INLINE V at_most(V a, V high) {
  return fast_min(high, a);
}

PTLITE_INLINE Vec<float> abs(Vec<float> a) { return bit_cast<float>(bit_cast<int32_t>(a) & Vec<int32_t>(0x7fffffff)); }
PTLITE_INLINE Vec<double> abs(Vec<double> a) { return bit_cast<double>(bit_cast<int64_t>(a) & Vec<int64_t>(INT64_MAX)); }
PTLITE_INLINE Vec<int32_t> abs(Vec<int32_t> a) { return select(a < Vec<int32_t>::zero(), Vec<int32_t>::zero() - a, a); }
PTLITE_INLINE Vec<int64_t> abs(Vec<int64_t> a) { return select(a < Vec<int64_t>::zero(), Vec<int64_t>::zero() - a, a); }

// magnitude of a, sign of b
PTLITE_INLINE Vec<float> copysign(Vec<float> a, Vec<float> b) {
  const Vec<int32_t> magnitude(0x7fffffff);
  return bit_cast<float>((bit_cast<int32_t>(a) & magnitude) | (bit_cast<int32_t>(b) & ~magnitude));
}
PTLITE_INLINE Vec<double> copysign(Vec<double> a, Vec<double> b) {
  const Vec<int64_t> magnitude(INT64_MAX);
  return bit_cast<double>((bit_cast<int64_t>(a) & magnitude) | (bit_cast<int64_t>(b) & ~magnitude));
}

// A function of one lane on every lane, for what has no vector form.
template <class T, class F>
PTLITE_INLINE Vec<T> map_lanes(Vec<T> a, F f) {
  alignas(PTLITE_VEC_BYTES) T lanes[Vec<T>::size];
  a.store(lanes);
  for (int i = 0; i < Vec<T>::size; i++) lanes[i] = f(lanes[i]);
  return Vec<T>::load(lanes);
}
template <class T, class F>
PTLITE_INLINE Vec<T> map_lanes(Vec<T> a, Vec<T> b, F f) {
  alignas(PTLITE_VEC_BYTES) T x[Vec<T>::size];
  alignas(PTLITE_VEC_BYTES) T y[Vec<T>::size];
  a.store(x);
  b.store(y);
  for (int i = 0; i < Vec<T>::size; i++) x[i] = f(x[i], y[i]);
  return Vec<T>::load(x);
}

#define PTLITE_VEC_ROUND(name, mode, scalar_f, scalar_d)                                                         \
  PTLITE_INLINE Vec<float> name(Vec<float> a) {                                                                  \
    return Vec<float>(arch::rounded<arch::mode, float>(a.v, [](float x) { return scalar_f(x); }));               \
  }                                                                                                              \
  PTLITE_INLINE Vec<double> name(Vec<double> a) {                                                                \
    return Vec<double>(arch::rounded<arch::mode, double>(a.v, [](double x) { return scalar_d(x); }));            \
  }
PTLITE_VEC_ROUND(floor, kDown, __builtin_floorf, __builtin_floor)
PTLITE_VEC_ROUND(ceil, kUp, __builtin_ceilf, __builtin_ceil)
PTLITE_VEC_ROUND(trunc, kToZero, __builtin_truncf, __builtin_trunc)
// to nearest, ties to even
PTLITE_VEC_ROUND(rint, kToEven, __builtin_rintf, __builtin_rint)
#undef PTLITE_VEC_ROUND

PTLITE_INLINE Vec<float> sqrt(Vec<float> a) { return Vec<float>(arch::root<float>(a.v)); }
PTLITE_INLINE Vec<double> sqrt(Vec<double> a) { return Vec<double>(arch::root<double>(a.v)); }

namespace detail {
// f over all lanes, halving; f takes and gives GCC vectors
template <class T, int lanes, class F>
PTLITE_INLINE T reduce_tree(typename Raw<T, lanes>::type v, F f) {
  if constexpr (lanes == 1) {
    return v[0];
  } else {
    typename Raw<T, lanes / 2>::type low, high;
    memcpy(&low, &v, sizeof(low));
    memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof(low), sizeof(high));
    return reduce_tree<T, lanes / 2>(f(low, high), f);
  }
}
}  // namespace detail

template <class T>
PTLITE_INLINE T reduce_add(Vec<T> a) {
  return detail::reduce_tree<T, Vec<T>::size>(a.v, [](auto x, auto y) { return x + y; });
}
// A NaN lane gives NaN.
template <class T>
PTLITE_INLINE T reduce_max(Vec<T> a) {
  return detail::reduce_tree<T, Vec<T>::size>(a.v, [](auto x, auto y) { return ((x > y) | (x != x)) ? x : y; });
}
template <class T>
PTLITE_INLINE T reduce_min(Vec<T> a) {
  return detail::reduce_tree<T, Vec<T>::size>(a.v, [](auto x, auto y) { return ((x < y) | (x != x)) ? x : y; });
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
