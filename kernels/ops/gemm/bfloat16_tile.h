// Dot products of bfloat16 pairs, summed in float32. The instruction for a group of two steps is, by level,
//   AMX                       tdpbf16ps on tiles of 16 x 32 elements
//   AVX512_BF16               vdpbf16ps
//   AVX512, AVX2, DEFAULT     two multiply-adds on operands widened to float32
// The first two treat denormal operands and sums as zero.
#pragma once

#include "ops/gemm/dot_tile.h"
#include "vec/half.h"

#if defined(CPU_CAPABILITY_AMX)
#define PTLITE_BF16_AMX
#elif defined(CPU_CAPABILITY_AVX512_BF16)
#define PTLITE_BF16_DOT
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

using dot::kColumns;
using dot::kLanes;
using dot::Tiles;

// A block has as many rows as registers are left for.
#if defined(PTLITE_BF16_AMX)
constexpr int kRows = 32;
#elif defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 12;
#else
constexpr int kRows = 4;
#endif
// Steps of a chunk of rows, and steps that both operands are padded to with zeros.
constexpr int64_t kChunk = 32;
#if defined(PTLITE_BF16_AMX)
constexpr int64_t kStep = kChunk;
#else
constexpr int64_t kStep = 2;
#endif

#if defined(PTLITE_BF16_AMX)

constexpr bool kNarrowPanels = false;
constexpr int64_t kRowBytes = 64;

struct TileStep {
  using Element = float;
  static PTLITE_INLINE void upper() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  static PTLITE_INLINE void lower() {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
};

inline void multiply_block(const uint8_t* a, const uint8_t* b, int64_t groups, int64_t rows, int64_t, float* sums) {
  dot::multiply_tiles<TileStep>(a, b, groups, rows, sums);
}

#else

// The last panel is one register wide where that is enough.
constexpr bool kNarrowPanels = true;

#if defined(PTLITE_BF16_DOT)

constexpr int64_t kRowBytes = 64;

template <int V>
struct Step {
  using Reg = __m512;
  using Element = float;
  static constexpr int kVectors = V;
  static constexpr int64_t kRowBytes = bf16::kRowBytes;
  static PTLITE_INLINE Reg none() { return _mm512_setzero_ps(); }
  static PTLITE_INLINE Reg add(Reg x, Reg y) { return _mm512_add_ps(x, y); }
  static PTLITE_INLINE void store(float* p, Reg r) { _mm512_storeu_ps(p, r); }

  __m512bh b[V];
  PTLITE_INLINE explicit Step(const uint8_t* panel) {
    for (int v = 0; v < V; v++) b[v] = (__m512bh)_mm512_loadu_si512(panel + v * PTLITE_VEC_BYTES);
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const auto x = (__m512bh)_mm512_set1_epi32(dot::load_group(a));
    for (int v = 0; v < V; v++) acc[v] = _mm512_dpbf16_ps(acc[v], x, b[v]);
  }
};

#else

// float32: the even steps of a chunk, then the odd ones
constexpr int64_t kRowBytes = 128;

template <int V>
struct Step {
  using Reg = Vec<float>;
  using Element = float;
  static constexpr int kVectors = V;
  static constexpr int64_t kRowBytes = bf16::kRowBytes;
  static PTLITE_INLINE Reg none() { return Reg::zero(); }
  static PTLITE_INLINE Reg add(Reg x, Reg y) { return x + y; }
  static PTLITE_INLINE void store(float* p, Reg r) { r.store(p); }

  Reg even[V], odd[V];
  PTLITE_INLINE explicit Step(const uint8_t* panel) {
    for (int v = 0; v < V; v++) {
      const auto pairs = Vec<int32_t>::load(reinterpret_cast<const int32_t*>(panel + v * PTLITE_VEC_BYTES));
      even[v] = bit_cast<float>(pairs << 16);
      odd[v] = bit_cast<float>(pairs & Vec<int32_t>(static_cast<int32_t>(0xffff0000)));
    }
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x(bits_to_float(static_cast<uint32_t>(dot::load_group(a))));
    const Reg y(bits_to_float(static_cast<uint32_t>(dot::load_group(a + kRowBytes / 2))));
    for (int v = 0; v < V; v++) {
      acc[v] += x * even[v];
      acc[v] += y * odd[v];
    }
  }
};

#endif

// sums[rows][columns]: `columns` is kLanes or kColumns, the width of the panel.
inline void multiply_block(const uint8_t* a, const uint8_t* b, int64_t groups, int64_t rows, int64_t columns, float* sums) {
  if (columns == kLanes) dot::tile_rows<Step<1>, kRows>(a, b, groups, rows, sums);
  else dot::tile_rows<Step<2>, kRows>(a, b, groups, rows, sums);
}

#endif

// A chunk of one row, as multiply_block wants it.
inline void put_chunk(const bfloat16* row, uint8_t* out) {
#if defined(PTLITE_BF16_AMX) || defined(PTLITE_BF16_DOT)
  memcpy(out, row, static_cast<size_t>(kRowBytes));
#else
  for (int64_t i = 0; i < kChunk / 2; i += Vec<int32_t>::size) {
    const auto pairs = Vec<int32_t>::load(reinterpret_cast<const int32_t*>(row + 2 * i));
    (pairs << 16).store(reinterpret_cast<int32_t*>(out) + i);
    (pairs & Vec<int32_t>(static_cast<int32_t>(0xffff0000))).store(reinterpret_cast<int32_t*>(out + kRowBytes / 2) + i);
  }
#endif
}

}  // namespace bf16
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
