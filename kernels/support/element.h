// Elements of every dtype, loaded into and stored from the type a kernel computes in.
//
// Everything sits in an anonymous namespace: the header is compiled once per ISA level.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "primitives/float16.h"
#include "selection.h"
#include "support/bfloat16_bits.h"

namespace {
namespace elem {

/// c10::ScalarType numbers of the dtypes with arithmetic.
enum Code : int32_t { U8 = 0, I8 = 1, I16 = 2, I32 = 3, I64 = 4, F16 = 5, F32 = 6, F64 = 7, BOOL = 11, BF16 = 15 };

constexpr bool ptlite_holds(Code code) { return ::ptlite_holds(static_cast<ptlite_dtype>(code)); }

/// Widths by dtype number; quantized dtypes count as their integers.
inline int64_t size_of(int32_t dtype) {
  static const int8_t sizes[17] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1};
  return sizes[dtype];
}

struct bf16 {
  uint16_t bits;
  operator float() const { return bfloat16_to_float(bits); }
  static bf16 from(float value) { return {float_to_bfloat16_bits(value)}; }
};

using f16 = ptlite::compiler_float16;

/// A stored bool: any non-zero byte is true.
struct boolean {
  uint8_t byte;
  operator uint8_t() const { return byte != 0; }
};

/// Converts between any two element types the way a C cast does, halves through float.
template <class To, class From>
inline To cast(From value) {
  return static_cast<To>(value);
}
template <class To>
inline To cast(f16 value) {
  return static_cast<To>(static_cast<float>(value));
}
template <class To>
inline To cast(bf16 value) {
  return static_cast<To>(static_cast<float>(value));
}

template <class Stored, class T>
inline Stored to_stored(T value) {
  return static_cast<Stored>(value);
}
/// Integers narrow by wrapping; a float outside int64 has no defined integer.
template <>
inline f16 to_stored<f16, double>(double value) {
  return static_cast<f16>(static_cast<float>(value));
}
template <>
inline bf16 to_stored<bf16, double>(double value) {
  return bf16::from(static_cast<float>(value));
}
template <>
inline bf16 to_stored<bf16, float>(float value) {
  return bf16::from(value);
}
template <>
inline bf16 to_stored<bf16, int64_t>(int64_t value) {
  return bf16::from(static_cast<float>(value));
}
template <>
inline boolean to_stored<boolean, double>(double value) {
  return {uint8_t(value != 0)};
}
template <>
inline boolean to_stored<boolean, float>(float value) {
  return {uint8_t(value != 0)};
}
template <>
inline boolean to_stored<boolean, int64_t>(int64_t value) {
  return {uint8_t(value != 0)};
}

/// Calls f with a null pointer of the stored type of `dtype`; false for a dtype without arithmetic and one that the build leaves out.
template <class F>
inline bool visit(int32_t dtype, F&& f) {
  switch (dtype) {
    case U8:
      if constexpr (!ptlite_holds(U8)) return false;
      else return f(static_cast<uint8_t*>(nullptr)), true;
    case I8:
      if constexpr (!ptlite_holds(I8)) return false;
      else return f(static_cast<int8_t*>(nullptr)), true;
    case I16:
      if constexpr (!ptlite_holds(I16)) return false;
      else return f(static_cast<int16_t*>(nullptr)), true;
    case I32:
      if constexpr (!ptlite_holds(I32)) return false;
      else return f(static_cast<int32_t*>(nullptr)), true;
    case I64:
      if constexpr (!ptlite_holds(I64)) return false;
      else return f(static_cast<int64_t*>(nullptr)), true;
    case F16:
      if constexpr (!ptlite_holds(F16)) return false;
      else return f(static_cast<f16*>(nullptr)), true;
    case F32:
      if constexpr (!ptlite_holds(F32)) return false;
      else return f(static_cast<float*>(nullptr)), true;
    case F64:
      if constexpr (!ptlite_holds(F64)) return false;
      else return f(static_cast<double*>(nullptr)), true;
    case BOOL:
      if constexpr (!ptlite_holds(BOOL)) return false;
      else return f(static_cast<boolean*>(nullptr)), true;
    case BF16:
      if constexpr (!ptlite_holds(BF16)) return false;
      else return f(static_cast<bf16*>(nullptr)), true;
    default: return false;
  }
}

template <class S, class T>
inline void load_run(T* to, const S* from, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; i++) to[i] = cast<T>(from[i]);
  } else {
    for (int64_t i = 0; i < n; i++) to[i] = cast<T>(from[i * stride]);
  }
}

/// to[i] = element i of a strided run of `dtype`.
template <class T>
__attribute__((noinline)) void load(T* to, int32_t dtype, const void* from, int64_t stride, int64_t n) {
  visit(dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    load_run<S, T>(to, static_cast<const S*>(from), stride, n);
  });
}

template <class S, class T>
inline void store_run(S* to, const T* from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i * stride] = to_stored<S, T>(from[i]);
}

/// Element i of a strided run of `dtype` = from[i].
template <class T>
__attribute__((noinline)) void store(void* to, int32_t dtype, const T* from, int64_t stride, int64_t n) {
  visit(dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    store_run<S, T>(static_cast<S*>(to), from, stride, n);
  });
}

/// The number of the stored type that T is read from without conversion.
template <class T>
struct native_code;
template <>
struct native_code<float> {
  static constexpr int32_t value = F32;
};
template <>
struct native_code<double> {
  static constexpr int32_t value = F64;
};
template <>
struct native_code<int64_t> {
  static constexpr int32_t value = I64;
};

/// The run itself where it can be read in place, else a converted copy in `buffer`.
template <class T>
inline const T* view(T* buffer, int32_t dtype, const void* from, int64_t stride, int64_t n) {
  if (dtype == native_code<T>::value && stride == 1) return static_cast<const T*>(from);
  load<T>(buffer, dtype, from, stride, n);
  return buffer;
}

inline const char* at(const void* base, int32_t dtype, int64_t elements) {
  return static_cast<const char*>(base) + elements * size_of(dtype);
}
inline char* at(void* base, int32_t dtype, int64_t elements) { return static_cast<char*>(base) + elements * size_of(dtype); }

}  // namespace elem

/// Counts through `ndim` dims, innermost first, keeping element offsets of up to three operands in step.
struct Odometer {
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides[3];
  int64_t index[12];
  int64_t offset[3];

  Odometer(int32_t dims, const int64_t* size, const int64_t* a, const int64_t* b = nullptr, const int64_t* c = nullptr)
      : ndim(dims), sizes(size), strides{a, b, c}, index{}, offset{} {}

  int64_t count() const {
    int64_t n = 1;
    for (int32_t d = 0; d < ndim; d++) n *= sizes[d];
    return n;
  }

  void next() {
    for (int32_t d = 0; d < ndim; d++) {
      index[d]++;
      for (int k = 0; k < 3; k++)
        if (strides[k]) offset[k] += strides[k][d];
      if (index[d] < sizes[d]) return;
      for (int k = 0; k < 3; k++)
        if (strides[k]) offset[k] -= strides[k][d] * sizes[d];
      index[d] = 0;
    }
  }

  void reset() {
    for (int32_t d = 0; d < ndim; d++) index[d] = 0;
    offset[0] = offset[1] = offset[2] = 0;
  }
};

}  // namespace
