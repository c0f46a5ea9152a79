// The generator behind PyTorch's CPU random numbers: the 32-bit Mersenne Twister of Matsumoto and Nishimura.
#pragma once

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
    uint32_t y = words[next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  PTLITE_INLINE uint64_t bits64() {
    const uint64_t high = bits32();
    return high << 32 | bits32();
  }

 private:
  void refill() {
    for (int i = 0; i < kSize; ++i) {
      const uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % kSize] & 0x7fffffffu);
      words[i] = words[(i + kShift) % kSize] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
    }
    next = 0;
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
