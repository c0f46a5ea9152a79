// The generator behind PyTorch's CPU random numbers: the 32-bit Mersenne Twister of Matsumoto and Nishimura.
#pragma once

#include <math.h>
#include <stdint.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

struct Generator {
  static constexpr int kSize = 624;
  static constexpr int kShift = 397;

  uint32_t words[kSize];
  int32_t next;        // index of the next word; kSize: make new ones first
  int32_t has_normal;  // a second normal sample is left from the last pair
  double normal;

  PTLITE_INLINE void seed(uint32_t value) {
    words[0] = value;
    for (int i = 1; i < kSize; ++i) words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + static_cast<uint32_t>(i);
    next = kSize;
    has_normal = 0;
    normal = 0;
  }

  PTLITE_INLINE uint32_t bits32() {
    if (next == kSize) refill();
    return tempered(words[next++]);
  }

  // f(i, bits32()) for i = 0 .. n - 1, in that order; f has no part in the state.
  template <class F>
  PTLITE_INLINE void each32(int64_t n, F f) {
    for (int64_t i = 0; i < n;) {
      if (next == kSize) refill();
      const int64_t count = n - i < kSize - next ? n - i : kSize - next;
      const uint32_t* from = words + next;
      for (int64_t k = 0; k < count; ++k) f(i + k, tempered(from[k]));
      next += static_cast<int32_t>(count);
      i += count;
    }
  }

  PTLITE_INLINE uint64_t bits64() {
    const uint64_t high = bits32();
    return high << 32 | bits32();
  }

 private:
  static PTLITE_INLINE uint32_t tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static PTLITE_INLINE uint32_t twisted(uint32_t word, uint32_t after, uint32_t shifted) {
    const uint32_t mixed = (word & 0x80000000u) | (after & 0x7fffffffu);
    return shifted ^ (mixed >> 1) ^ ((0u - (mixed & 1)) & 0x9908b0dfu);
  }

  // The recurrence without its wrap-around, so that the compiler can take several words at a time.
  __attribute__((noinline)) void refill() {
    constexpr int kFirst = kSize - kShift;
    for (int i = 0; i < kFirst; ++i) words[i] = twisted(words[i], words[i + 1], words[i + kShift]);
    // the nearest word that a step needs was made kFirst steps before
    for (int i = kFirst; i < kSize - 1; ++i) words[i] = twisted(words[i], words[i + 1], words[i - kFirst]);
    words[kSize - 1] = twisted(words[kSize - 1], words[0], words[kShift - 1]);
    next = 0;
  }
};

// A number in 0..1 with 53 random bits.
[[maybe_unused]] static double uniform53(Generator& g) { return static_cast<double>(g.bits64() & ((1ull << 53) - 1)) * 0x1p-53; }

// Normal samples come in pairs; the second one of a pair waits in the generator.
[[maybe_unused]] static double normal_serial(Generator& g) {
  if (g.has_normal) {
    g.has_normal = 0;
    return g.normal;
  }
  const double first = uniform53(g);
  const double second = uniform53(g);
  const double radius = ::sqrt(-2.0 * ::log1p(-second));
  const double theta = 2.0 * M_PI * first;
  g.normal = radius * ::sin(theta);
  g.has_normal = 1;
  return radius * ::cos(theta);
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
