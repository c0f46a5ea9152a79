// The instructions that few machines have, in plain C++ after Intel's description of each, under the names of their
// intrinsics. A kernel source included after this header runs anywhere, with the control flow and the data layout it
// has at its level.
#pragma once

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace emulated {

[[noreturn]] inline void fault(const char* what) {
  fprintf(stderr, "fault: %s\n", what);
  exit(2);
}

inline float from_bfloat16(uint16_t x) {
  const uint32_t bits = uint32_t{x} << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

// Denormals count as zero, going in and coming out.
inline float flushed(float x) { return x < 0x1p-126f && x > -0x1p-126f ? 0.0f : x; }

// One step of vdpbf16ps and tdpbf16ps: two products, each sum rounded.
inline float dot_bfloat16(float sum, const uint16_t* a, const uint16_t* b) {
  volatile float odd = flushed(from_bfloat16(a[1])) * flushed(from_bfloat16(b[1]));
  volatile float even = flushed(from_bfloat16(a[0])) * flushed(from_bfloat16(b[0]));
  volatile float s = flushed(sum);
  s = flushed(s + flushed(odd));
  return flushed(s + flushed(even));
}

inline int32_t dot_bytes(int32_t sum, const uint8_t* a, const uint8_t* b) {
  for (int i = 0; i < 4; i++) sum += a[i] * static_cast<int8_t>(b[i]);
  return sum;
}

template <class V, class T, class F>
V lanes(V sum, const void* a, const void* b, F f) {
  T out[sizeof(V) / sizeof(T)];
  memcpy(out, &sum, sizeof(V));
  for (size_t i = 0; i < sizeof(V) / sizeof(T); i++) {
    out[i] = f(out[i], static_cast<const uint8_t*>(a) + 4 * i, static_cast<const uint8_t*>(b) + 4 * i);
  }
  memcpy(&sum, out, sizeof(V));
  return sum;
}

// Eight tiles of up to 16 rows of 64 bytes; using them before they are configured is a fault.
struct Tile {
  int rows = 0;
  int bytes = 0;
  uint8_t data[16][64] = {};
};
struct Tiles {
  bool configured = false;
  Tile tile[8];
};
inline Tiles state;

inline Tile& tile_at(int t) {
  if (!state.configured) fault("a tile is used before ldtilecfg");
  Tile& tile = state.tile[t];
  if (tile.rows == 0 || tile.rows > 16 || tile.bytes == 0 || tile.bytes > 64) fault("a tile is used that has no size");
  return tile;
}

inline void load_config(const void* p) {
  const auto* bytes = static_cast<const uint8_t*>(p);
  if (bytes[0] != 1) fault("palette");
  for (int i = 1; i < 16; i++) {
    if (bytes[i] != 0) fault("reserved bytes of the tile configuration");
  }
  for (int t = 0; t < 8; t++) {
    uint16_t width;
    memcpy(&width, bytes + 16 + 2 * t, 2);
    state.tile[t] = Tile{};
    state.tile[t].bytes = width;
    state.tile[t].rows = bytes[48 + t];
  }
  state.configured = true;
}

inline void load(int t, const void* p, int64_t stride) {
  Tile& tile = tile_at(t);
  memset(tile.data, 0, sizeof(tile.data));
  for (int r = 0; r < tile.rows; r++) memcpy(tile.data[r], static_cast<const uint8_t*>(p) + r * stride, static_cast<size_t>(tile.bytes));
}

inline void store(int t, void* p, int64_t stride) {
  const Tile& tile = tile_at(t);
  for (int r = 0; r < tile.rows; r++) memcpy(static_cast<uint8_t*>(p) + r * stride, tile.data[r], static_cast<size_t>(tile.bytes));
}

template <class T, class F>
void multiply(int c, int a, int b, F f) {
  Tile& sums = tile_at(c);
  const Tile& x = tile_at(a);
  const Tile& y = tile_at(b);
  if (sums.rows != x.rows || sums.bytes != y.bytes || x.bytes / 4 != y.rows) fault("tile sizes do not match");
  for (int m = 0; m < sums.rows; m++) {
    for (int k = 0; k < y.rows; k++) {
      for (int n = 0; n < sums.bytes / 4; n++) {
        T sum;
        memcpy(&sum, sums.data[m] + 4 * n, 4);
        sum = f(sum, x.data[m] + 4 * k, y.data[k] + 4 * n);
        memcpy(sums.data[m] + 4 * n, &sum, 4);
      }
    }
  }
}

inline float dot_pairs(float sum, const uint8_t* a, const uint8_t* b) {
  uint16_t x[2], y[2];
  memcpy(x, a, 4);
  memcpy(y, b, 4);
  return dot_bfloat16(sum, x, y);
}

// To nearest even, NaN quiet, denormals zero.
inline uint16_t to_bfloat16(float f) {
  uint32_t bits;
  f = flushed(f);
  memcpy(&bits, &f, 4);
  if (f != f) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline __m256i convert(__m512 x) {
  float in[16];
  uint16_t out[16];
  memcpy(in, &x, 64);
  for (int i = 0; i < 16; i++) out[i] = to_bfloat16(in[i]);
  __m256i v;
  memcpy(&v, out, 32);
  return v;
}

// float16 to double and back: to nearest even, denormals kept. Sums and products of float16 are exact in double, and
// quotients and roots have more than twice the digits, so one rounding is what the instruction does.
inline double from_float16(uint16_t x) {
  const double sign = x >> 15 != 0 ? -1 : 1;
  const int exponent = x >> 10 & 31, fraction = x & 1023;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

inline uint16_t to_float16(double x) {
  const auto sign = static_cast<uint16_t>(signbit(x) ? 0x8000 : 0);
  if (x != x) return static_cast<uint16_t>(sign | 0x7e00);
  x = fabs(x);
  if (x == 0) return sign;
  if (x >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = 0;
  frexp(x, &exponent);
  if (exponent < -13) exponent = -13;
  // an integral number of units of the last digit; a carry goes on into the exponent
  const auto units = static_cast<uint16_t>(nearbyint(ldexp(x, 11 - exponent)));
  return static_cast<uint16_t>(sign | (((exponent + 13) << 10) + units));
}

struct Float16x32 {
  uint16_t lane[32];
};

template <class F>
__m512i float16_lanes(__m512i a, __m512i b, F f) {
  Float16x32 x, y;
  memcpy(&x, &a, 64);
  memcpy(&y, &b, 64);
  for (int i = 0; i < 32; i++) x.lane[i] = to_float16(f(from_float16(x.lane[i]), from_float16(y.lane[i])));
  memcpy(&a, &x, 64);
  return a;
}

template <class F>
__mmask32 float16_compare(__m512i a, __m512i b, F f) {
  Float16x32 x, y;
  memcpy(&x, &a, 64);
  memcpy(&y, &b, 64);
  __mmask32 mask = 0;
  for (int i = 0; i < 32; i++) mask |= static_cast<__mmask32>(f(from_float16(x.lane[i]), from_float16(y.lane[i]))) << i;
  return mask;
}

inline __mmask32 compare(__m512i a, __m512i b, int how) {
  switch (how) {
    case _CMP_LT_OQ: return float16_compare(a, b, [](double x, double y) { return x < y; });
    case _CMP_GT_OQ: return float16_compare(a, b, [](double x, double y) { return x > y; });
    case _CMP_UNORD_Q: return float16_compare(a, b, [](double x, double y) { return x != x || y != y; });
    default: fault("a comparison that is not emulated");
  }
}

inline __m512i roundscale(__m512i a, int how) {
  return float16_lanes(a, a, [how](double x, double) {
    switch (how & 3) {
      case 0: return nearbyint(x);
      case 1: return floor(x);
      case 2: return ceil(x);
      default: return trunc(x);
    }
  });
}

}  // namespace emulated

#define __m512h __m512i
#define _mm512_add_ph(a, b) emulated::float16_lanes(a, b, [](double x, double y) { return x + y; })
#define _mm512_sub_ph(a, b) emulated::float16_lanes(a, b, [](double x, double y) { return x - y; })
#define _mm512_mul_ph(a, b) emulated::float16_lanes(a, b, [](double x, double y) { return x * y; })
#define _mm512_div_ph(a, b) emulated::float16_lanes(a, b, [](double x, double y) { return x / y; })
#define _mm512_sqrt_ph(a) emulated::float16_lanes(a, a, [](double x, double) { return ::sqrt(x); })
#undef _mm512_cmp_ph_mask
#undef _mm512_roundscale_ph
#define _mm512_cmp_ph_mask(a, b, how) emulated::compare(a, b, how)
#define _mm512_roundscale_ph(a, how) emulated::roundscale(a, how)
#define __m512bh __m512i
#define _mm512_dpbusd_epi32(s, a, b) emulated::lanes<__m512i, int32_t>(s, &a, &b, emulated::dot_bytes)
#define _mm256_dpbusd_avx_epi32(s, a, b) emulated::lanes<__m256i, int32_t>(s, &a, &b, emulated::dot_bytes)
#define _mm512_dpbf16_ps(s, a, b) emulated::lanes<__m512, float>(s, &a, &b, emulated::dot_pairs)
#define _mm512_cvtneps_pbh(x) emulated::convert(x)
#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbusd
#undef _tile_dpbf16ps
#define _tile_loadconfig(p) emulated::load_config(p)
#define _tile_release() (emulated::state.configured = false)
#define _tile_zero(t) memset(emulated::tile_at(t).data, 0, 1024)
#define _tile_loadd(t, p, s) emulated::load(t, p, s)
#define _tile_stored(t, p, s) emulated::store(t, p, s)
#define _tile_dpbusd(c, a, b) emulated::multiply<int32_t>(c, a, b, emulated::dot_bytes)
#define _tile_dpbf16ps(c, a, b) emulated::multiply<float>(c, a, b, emulated::dot_pairs)
