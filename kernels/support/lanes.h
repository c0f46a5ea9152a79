// A register-wide vector of T at the level this file is compiled for, and block loops built on it.
#pragma once

#include <cstdint>
#include <cstring>

#include "primitives/registers.h"

namespace {
namespace lanes {

constexpr int kBytes = PTLITE_VEC_BYTES;

template <class T>
struct Of {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <class T>
using V = typename Of<T>::type;
template <class T>
constexpr int kCount = kBytes / int(sizeof(T));

template <class T>
inline V<T> load(const T* from) {
  V<T> value;
  memcpy(&value, from, kBytes);
  return value;
}
template <class T>
inline void store(T* to, V<T> value) {
  memcpy(to, &value, kBytes);
}
template <class T>
inline V<T> splat(T value) {
  return V<T>{} + value;
}

}  // namespace lanes
}  // namespace
