// Dot products of bfloat16 pairs, summed in float32: by one instruction for a group of two steps where primitives/bfloat16.h has it
// (PTLITE_BF16_AMX, PTLITE_BF16_DOT), which takes denormal operands and sums as zero; else by two multiply-adds on operands widened to float32.
#pragma once

#include "ops/gemm/dot_tile.h"
#include "primitives/bfloat16.h"
#include "vec/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

using dot::kColumns;
using dot::kLanes;
using dot::Tiles;

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
  using Reg = Sums;
  using Element = float;
  static constexpr int kVectors = V;
  static constexpr int64_t kRowBytes = bf16::kRowBytes;
  static PTLITE_INLINE Reg none() { return no_sums(); }
  static PTLITE_INLINE Reg add(Reg x, Reg y) { return add_sums(x, y); }
  static PTLITE_INLINE void store(float* p, Reg r) { store_sums(p, r); }

  Pairs b[V];
  PTLITE_INLINE explicit Step(const uint8_t* panel) {
    for (int v = 0; v < V; v++) b[v] = load_pairs(panel + v * PTLITE_VEC_BYTES);
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Pairs x = repeat_pair(dot::load_group(a));
    for (int v = 0; v < V; v++) acc[v] = dot_pairs(acc[v], x, b[v]);
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
