// What decompositions need to know of their numbers, real or complex.
#pragma once

#include <cmath>
#include <complex>

namespace {
namespace ptlite_linalg {

template <class T>
struct parts {
  using type = T;
  static constexpr bool complex = false;
};
template <class T>
struct parts<std::complex<T>> {
  using type = T;
  static constexpr bool complex = true;
};

/// The type of the parts of a number.
template <class T>
using Real = typename parts<T>::type;
template <class T>
inline constexpr bool is_complex = parts<T>::complex;

/// The conjugate; a real number is its own.
template <class T>
inline T adjoint(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

template <class T>
inline Real<T> real_part(T x) {
  if constexpr (is_complex<T>) return x.real();
  else return x;
}

/// What LAPACK compares pivots by.
template <class T>
inline Real<T> magnitude(T x) {
  if constexpr (is_complex<T>) return std::fabs(x.real()) + std::fabs(x.imag());
  else return std::fabs(x);
}

/// |x| of a number whose squares may overflow.
template <class T>
inline Real<T> size(T x) {
  if constexpr (is_complex<T>) return std::hypot(x.real(), x.imag());
  else return std::fabs(x);
}

}  // namespace ptlite_linalg
}  // namespace
