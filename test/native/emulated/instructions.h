// The instructions that few machines have, in plain C++ after Intel's description of each, under the names of their
// intrinsics. A kernel source included after this header runs anywhere, with the control flow and the data layout it
// has at its level.
#pragma once

#include <immintrin.h>
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

struct Bfloat16x16 {
  uint16_t lane[16];
  explicit operator __m256i() const {
    __m256i v;
    memcpy(&v, lane, 32);
    return v;
  }
};

inline Bfloat16x16 convert(__m512 x) {
  float in[16];
  memcpy(in, &x, 64);
  Bfloat16x16 out;
  for (int i = 0; i < 16; i++) out.lane[i] = to_bfloat16(in[i]);
  return out;
}

}  // namespace emulated

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
