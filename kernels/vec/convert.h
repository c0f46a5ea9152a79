// Runs of elements from one dtype to another, with any stride, by PyTorch's conversion rules: floats to integers
// truncate, wide integers keep their low bits, everything but zero is true.
#pragma once

#include "ptlite_abi.h"
#include "selection.h"
#include "support/bfloat16.h"
#include "support/truncated.h"
#include "vec/half.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// One byte that holds 0 or 1.
struct boolean {
  uint8_t value;
};

// Bytes per element of a dtype; 0 for an unknown one.
PTLITE_INLINE int64_t element_size(int32_t dtype) {
  switch (dtype) {
    case PTLITE_UINT8:
    case PTLITE_INT8:
    case PTLITE_BOOL:
    case PTLITE_QINT8:
    case PTLITE_QUINT8:
      return 1;
    case PTLITE_INT16:
    case PTLITE_FLOAT16:
    case PTLITE_BFLOAT16:
      return 2;
    case PTLITE_INT32:
    case PTLITE_FLOAT32:
    case PTLITE_QINT32:
      return 4;
    case PTLITE_INT64:
    case PTLITE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

// Calls f with a value of the C++ type of a dtype that the build holds: f(float{}). Returns what f returns, or PTLITE_NO_DTYPE.
template <class F>
PTLITE_INLINE int32_t with_dtype(int32_t dtype, F f) {
  switch (dtype) {
    case PTLITE_UINT8:
    case PTLITE_QUINT8:
      if constexpr (!ptlite_holds(PTLITE_UINT8) && !ptlite_holds(PTLITE_QUINT8)) return PTLITE_NO_DTYPE;
      else return f(uint8_t{});
    case PTLITE_INT8:
    case PTLITE_QINT8:
      if constexpr (!ptlite_holds(PTLITE_INT8) && !ptlite_holds(PTLITE_QINT8)) return PTLITE_NO_DTYPE;
      else return f(int8_t{});
    case PTLITE_INT16:
      if constexpr (!ptlite_holds(PTLITE_INT16)) return PTLITE_NO_DTYPE;
      else return f(int16_t{});
    case PTLITE_INT32:
    case PTLITE_QINT32:
      if constexpr (!ptlite_holds(PTLITE_INT32) && !ptlite_holds(PTLITE_QINT32)) return PTLITE_NO_DTYPE;
      else return f(int32_t{});
    case PTLITE_INT64:
      if constexpr (!ptlite_holds(PTLITE_INT64)) return PTLITE_NO_DTYPE;
      else return f(int64_t{});
    case PTLITE_FLOAT16:
      if constexpr (!ptlite_holds(PTLITE_FLOAT16)) return PTLITE_NO_DTYPE;
      else return f(float16{});
    case PTLITE_FLOAT32:
      if constexpr (!ptlite_holds(PTLITE_FLOAT32)) return PTLITE_NO_DTYPE;
      else return f(float{});
    case PTLITE_FLOAT64:
      if constexpr (!ptlite_holds(PTLITE_FLOAT64)) return PTLITE_NO_DTYPE;
      else return f(double{});
    case PTLITE_BOOL:
      if constexpr (!ptlite_holds(PTLITE_BOOL)) return PTLITE_NO_DTYPE;
      else return f(boolean{});
    case PTLITE_BFLOAT16:
      if constexpr (!ptlite_holds(PTLITE_BFLOAT16)) return PTLITE_NO_DTYPE;
      else return f(bfloat16{});
    default:
      return PTLITE_NO_DTYPE;
  }
}

namespace detail {
template <class T>
struct IsReal {
  static constexpr bool value = false;
};
template <>
struct IsReal<float> {
  static constexpr bool value = true;
};
template <>
struct IsReal<double> {
  static constexpr bool value = true;
};
template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};
template <class T>
constexpr bool is_half = Same<T, float16>::value || Same<T, bfloat16>::value;
}  // namespace detail

// The number behind an element: itself, but float for 16-bit floats and uint8_t for booleans.
template <class T>
PTLITE_INLINE T number_of(T x) {
  return x;
}
PTLITE_INLINE float number_of(float16 x) { return to_float(x); }
PTLITE_INLINE float number_of(bfloat16 x) { return to_float(x); }
PTLITE_INLINE uint8_t number_of(boolean x) { return x.value; }

template <class D, class S>
PTLITE_INLINE D convert_element(S s) {
  const auto x = number_of(s);
  using X = decltype(number_of(s));
  if constexpr (detail::Same<D, boolean>::value) {
    return boolean{static_cast<uint8_t>(x != 0)};
  } else if constexpr (detail::Same<D, float16>::value) {
    return to_float16(static_cast<float>(x));
  } else if constexpr (detail::Same<D, bfloat16>::value) {
    return to_bfloat16(static_cast<float>(x));
  } else if constexpr (detail::IsReal<X>::value && !detail::IsReal<D>::value) {
    // these are the widths PyTorch goes through on x86
    if constexpr (sizeof(D) == 8 || detail::Same<D, uint8_t>::value) return static_cast<D>(truncated<int64_t>(x));
    return static_cast<D>(truncated<int32_t>(x));
  } else {
    return static_cast<D>(x);
  }
}

// In a loop body: keeps the compiler from vectorising it, which for strided elements costs code and gains nothing.
#define PTLITE_NO_VECTOR __asm__ volatile("")

// to[i * to_stride] = from[i * from_stride] for i < n
template <class D, class S>
inline void convert_run(D* __restrict__ to, int64_t to_stride, const S* __restrict__ from, int64_t from_stride, int64_t n) {
  if (to_stride == 1 && from_stride == 1) {
    if constexpr (detail::Same<D, bfloat16>::value && detail::Same<S, float>::value) return float_to_bfloat16(to, from, n);
    int64_t i = 0;
    if constexpr (detail::is_half<S> && detail::Same<D, float>::value) {
      for (; i + Vec<float>::size <= n; i += Vec<float>::size) load_float(from + i).store(to + i);
    } else if constexpr (detail::is_half<D> && detail::Same<S, float>::value) {
      for (; i + Vec<float>::size <= n; i += Vec<float>::size) store_float(to + i, Vec<float>::load(from + i));
    }
    for (; i < n; i++) to[i] = convert_element<D>(from[i]);
  } else if (from_stride == 0) {
    const D value = convert_element<D>(*from);
    for (int64_t i = 0; i < n; i++) {
      to[i * to_stride] = value;
      PTLITE_NO_VECTOR;
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      to[i * to_stride] = convert_element<D>(from[i * from_stride]);
      PTLITE_NO_VECTOR;
    }
  }
}

// n elements of a dtype, read or written with a stride in elements, as C: float, double, int64_t or int32_t. Compiled
// once per level, in ops/copy/convert.cpp, so for files that are compiled once per level only.
template <class C>
int32_t load_as(C* to, int32_t dtype, const void* from, int64_t stride, int64_t n);
template <class C>
int32_t store_as(int32_t dtype, void* to, int64_t stride, const C* from, int64_t n);

// A walk over dimensions, innermost first, strides in elements.
struct Dims {
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
};

// n elements that follow the one at `start` (an index per dimension) in the order of the walk.
template <class C>
int32_t gather_as(C* to, int32_t dtype, const void* from, const Dims& dims, const int64_t* start, int64_t n);
template <class C>
int32_t scatter_as(int32_t dtype, void* to, const Dims& dims, const int64_t* start, const C* from, int64_t n);

template <class C>
constexpr int32_t dtype_of = -1;
template <>
inline constexpr int32_t dtype_of<float> = PTLITE_FLOAT32;
template <>
inline constexpr int32_t dtype_of<double> = PTLITE_FLOAT64;
template <>
inline constexpr int32_t dtype_of<int64_t> = PTLITE_INT64;
template <>
inline constexpr int32_t dtype_of<int32_t> = PTLITE_INT32;

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
