// Division of complex numbers, by the names that compilers call it by: the system has none for 64-bit Arm. C17, annex G.5.1: a finite number by an infinite one is 0,
// an infinite one by a finite one infinite, and a number other than 0 by 0 infinite, whatever the parts that are no numbers.
#include <math.h>

namespace {

template <class T>
struct Quotient {
  T re, im;
};

template <class T>
T signed_one_if(bool infinite, T x) {
  return copysign(infinite ? T{1} : T{0}, x);
}

template <class T>
Quotient<T> divided(T a, T b, T c, T d) {
  // by a power of two, so that squares neither overflow nor vanish
  const T exponent = logb(fmax(fabs(c), fabs(d)));
  const int scale = isfinite(exponent) ? static_cast<int>(exponent) : 0;
  const T x = scalbn(c, -scale), y = scalbn(d, -scale);
  const T length = x * x + y * y;
  Quotient<T> q{scalbn((a * x + b * y) / length, -scale), scalbn((b * x - a * y) / length, -scale)};
  if (!isnan(q.re) || !isnan(q.im)) return q;
  if (length == 0 && (!isnan(a) || !isnan(b))) {
    const T infinity = copysign(T{INFINITY}, c);
    return {infinity * a, infinity * b};
  }
  if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {
    const T re = signed_one_if(isinf(a), a), im = signed_one_if(isinf(b), b);
    return {T{INFINITY} * (re * c + im * d), T{INFINITY} * (im * c - re * d)};
  }
  if (isinf(exponent) && exponent > 0 && isfinite(a) && isfinite(b)) {
    const T re = signed_one_if(isinf(c), c), im = signed_one_if(isinf(d), d);
    return {T{0} * (a * re + b * im), T{0} * (b * re - a * im)};
  }
  return q;
}

template <class C, class T>
C of_parts(Quotient<T> q) {
  C z;
  __real__ z = q.re;
  __imag__ z = q.im;
  return z;
}

}  // namespace

extern "C" float _Complex __divsc3(float a, float b, float c, float d) {
  return of_parts<float _Complex>(divided(a, b, c, d));
}

extern "C" double _Complex __divdc3(double a, double b, double c, double d) {
  return of_parts<double _Complex>(divided(a, b, c, d));
}
