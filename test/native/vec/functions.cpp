// Elementary functions over a dense sample of all bit patterns, in units in the last place of a wider libm's result.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lanes.h"
#include "vec/half.h"
#include "vec/math.h"

namespace {

using ptlite::Vec;

// Distance of `got` in units in the last place of the number nearest to `want`; infinite where one is no number.
template <class T, class Wide>
double ulps(T got, Wide want) {
  const T nearest = static_cast<T>(want);
  if (got == nearest || (got != got && want != want)) return 0;
  if (!isfinite(nearest) || !isfinite(got)) return INFINITY;
  const T magnitude = fabs(nearest);
  const T next = sizeof(T) == 4 ? static_cast<T>(nextafterf(static_cast<float>(magnitude), INFINITY)) : static_cast<T>(nextafter(static_cast<double>(magnitude), INFINITY));
  return static_cast<double>(fabsl(static_cast<long double>(got) - static_cast<long double>(want)) / (static_cast<long double>(next) - magnitude));
}

// Every `step`th of the 2^32 patterns; a prime step meets every exponent, and all patterns where it is 1.
uint64_t pattern_step() {
  const char* text = getenv("PTLITE_PATTERN_STEP");
  return text == nullptr ? 1021 : strtoull(text, nullptr, 10);
}

template <class F>
void singles(const char* name, double bound, F f, double (*exact)(double)) {
  constexpr int size = Vec<float>::size;
  const uint64_t step = pattern_step();
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += step * size) {
    float in[size];
    for (int i = 0; i < size; i++) in[i] = bits_to_float(static_cast<uint32_t>(bits + step * static_cast<uint64_t>(i)));
    const Vec<float> out = f(Vec<float>::load(in));
    for (int i = 0; i < size; i++) {
      const double error = ulps(out[i], exact(static_cast<double>(in[i])));
      if (error > worst) {
        worst = error;
        at = in[i];
      }
    }
  }
  printf("float32 %s %.3f at %a\n", name, worst, static_cast<double>(at));
  CHECK(worst <= bound, "%s is %.3f units off at %a, more than %.2f", name, worst, static_cast<double>(at), bound);
}

uint64_t random_bits() {
  static uint64_t state = 1;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state ^ state >> 29;
}

double evenly(double low, double high) { return low + (high - low) * static_cast<double>(random_bits() >> 11) * 0x1p-53; }

// Of any magnitude, as likely as the next.
double by_pattern(double low, double high) {
  for (;;) {
    const uint64_t bits = random_bits();
    double x;
    memcpy(&x, &bits, 8);
    if (x >= low && x <= high) return x;
  }
}

template <class F>
void doubles(const char* name, double bound, F f, long double (*exact)(long double), double low, double high) {
  constexpr int size = Vec<double>::size;
  double worst = 0, at = 0;
  for (int round = 0; round < 1000000 / size; round++) {
    double in[size];
    for (double& x : in) x = round % 2 == 0 ? evenly(low, high) : by_pattern(low, high);
    const Vec<double> out = f(Vec<double>::load(in));
    for (int i = 0; i < size; i++) {
      const double error = ulps(out[i], exact(static_cast<long double>(in[i])));
      if (error > worst) {
        worst = error;
        at = in[i];
      }
    }
  }
  printf("float64 %s %.3f at %a\n", name, worst, at);
  CHECK(worst <= bound, "%s is %.3f units off at %a, more than %.2f", name, worst, at, bound);
}

}  // namespace

void check_functions() {
  using F32 = Vec<float>;
  using F64 = Vec<double>;
  singles("exp", 1.5, [](F32 x) { return ptlite::exp(x); }, ::exp);
  singles("log", 1, [](F32 x) { return ptlite::log(x); }, ::log);
  singles("tanh", 1.5, [](F32 x) { return ptlite::tanh(x); }, ::tanh);
  singles("erf", 1.5, [](F32 x) { return ptlite::erf(x); }, ::erf);
  doubles("exp", 1.5, [](F64 x) { return ptlite::exp(x); }, ::expl, -745, 709.7);
  doubles("log", 1, [](F64 x) { return ptlite::log(x); }, ::logl, 0, 1e300);
  doubles("tanh", 2.5, [](F64 x) { return ptlite::tanh(x); }, ::tanhl, -20, 20);
  doubles("erf", 1.5, [](F64 x) { return ptlite::erf(x); }, ::erfl, -6, 6);
}
