// Blocks of a product of 8-bit rows that are read where they lie, by panels of weights, for the levels with dot products of bytes: no row is
// rearranged, and the integers of the result are made in registers.
#pragma once

#include "ops/quantized/quantized_narrow.h"

#if defined(PTLITE_INT8_DOT)

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// Where a block's sums go: to memory as they are, or narrowed into the output.
struct DirectOutput {
  int32_t* sums;           // [rows][panel], null for the other way
  const int32_t* offsets;  // what the sums begin with
  const float* scales;     // small
  uint8_t* out;
  int64_t stride;
  int64_t columns;  // of the panel that there are
};

// R rows of V registers, R * V = 4, into R rows of the output.
template <int V>
PTLITE_INLINE void store_rows(Reg bytes, const DirectOutput& to, int64_t first, int64_t rows) {
  constexpr int kRowsHere = 4 / V, kRowBytes = V * kLanes;
  alignas(64) uint8_t lines[kRowsHere][kRowBytes];
  store(lines, transposed(bytes));
  for (int r = 0; r < kRowsHere; r++) {
    if (first + r >= rows) return;
    uint8_t* out = to.out + (first + r) * to.stride;
    if (to.columns >= kRowBytes) memcpy(out, lines[r], kRowBytes);
    else memcpy(out, lines[r], static_cast<size_t>(to.columns));
  }
}

#if defined(PTLITE_INT8_MATRIX)

// The sums of M rows, `stride` bytes apart, by a panel of V registers: matrices of two rows by two columns.
template <int M, int V>
PTLITE_INLINE void direct_sums(const uint8_t* a, int64_t stride, const uint8_t* w, int64_t groups, const int32_t* offsets, Reg (&sums)[M][V]) {
  constexpr int kPairs = (M + 1) / 2, kColumnPairs = V * kLanes / 2;
  Reg acc[kPairs][kColumnPairs];
#pragma GCC unroll 4
  for (int q = 0; q < kColumnPairs; q++) {
    const Reg start = load_twice(offsets + 2 * q);
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; p++) acc[p][q] = start;
  }
#pragma GCC unroll 1
  for (; groups > 0; groups--, a += kGroup, w += kColumnPairs * PTLITE_VEC_BYTES) {
    Reg x[kColumnPairs];
#pragma GCC unroll 4
    for (int q = 0; q < kColumnPairs; q++) x[q] = load(w + q * PTLITE_VEC_BYTES);
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; p++) {
      // one row stands for two
      const uint8_t* row = a + 2 * p * stride;
      const Reg rows = load_rows(row, M == 1 ? row : row + stride);
#pragma GCC unroll 4
      for (int q = 0; q < kColumnPairs; q++) acc[p][q] = multiply_matrices(acc[p][q], rows, x[q]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      const Reg left = acc[r / 2][2 * v], right = acc[r / 2][2 * v + 1];
      sums[r][v] = r % 2 == 0 ? first_row(left, right) : second_row(left, right);
    }
  }
}

#else

// Adds the products of four bytes of each row. Every third row has a pointer, the others are at one and two strides from it.
template <int M, int V>
PTLITE_INLINE void add_group(const uint8_t* const* at, int offset, int64_t stride, const uint8_t* w, Reg (&acc)[M][V]) {
  Reg x[V];
#pragma GCC unroll 2
  for (int v = 0; v < V; v++) x[v] = load(w + v * PTLITE_VEC_BYTES);
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
    const Reg y = broadcast(dot::load_group(at[r / 3] + offset + r % 3 * stride));
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) acc[r][v] = dot_bytes(acc[r][v], y, x[v]);
  }
}

// The sums of M rows, `stride` bytes apart, by a panel of V registers.
template <int M, int V>
PTLITE_INLINE void direct_sums(const uint8_t* a, int64_t stride, const uint8_t* w, int64_t groups, const int32_t* offsets, Reg (&sums)[M][V]) {
  // few rows leave registers for a second set of sums, so that additions do not wait for each other
  constexpr int kSets = M * V <= 4 ? 2 : 1;
  constexpr int kPanelBytes = V * PTLITE_VEC_BYTES;
  constexpr int kPointers = (M + 2) / 3;
  const uint8_t* at[kPointers];
  for (int i = 0; i < kPointers; i++) at[i] = a + 3 * i * stride;
  Reg acc[kSets][M][V];
#pragma GCC unroll 2
  for (int v = 0; v < V; v++) {
    const Reg start = load(offsets + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < M; r++) {
      acc[0][r][v] = start;
      if (kSets == 2) acc[kSets - 1][r][v] = none();
    }
  }
  for (; groups >= kSets; groups -= kSets, w += kSets * kPanelBytes) {
#pragma GCC unroll 2
    for (int s = 0; s < kSets; s++) add_group<M, V>(at, 4 * s, stride, w + s * kPanelBytes, acc[s]);
#pragma GCC unroll 5
    for (int i = 0; i < kPointers; i++) at[i] += 4 * kSets;
  }
  if (kSets > 1 && groups > 0) add_group<M, V>(at, 0, stride, w, acc[0]);
  if constexpr (kSets == 2) {
#pragma GCC unroll 16
    for (int r = 0; r < M; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) acc[0][r][v] = add(acc[0][r][v], acc[1][r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) sums[r][v] = acc[0][r][v];
  }
}

#endif

// M rows, `stride` bytes apart, by a panel of V registers.
template <int M, int V>
__attribute__((noinline)) void direct_tile(const uint8_t* a, int64_t stride, const uint8_t* w, int64_t groups,
                                           const DirectOutput& to, const Narrow& narrow) {
  Reg acc[M][V];
  direct_sums<M, V>(a, stride, w, groups, to.offsets, acc);
  if (to.sums != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < M; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) store(to.sums + (r * V + v) * kLanes, acc[r][v]);
    }
    return;
  }
  Floats scales[V];
  for (int v = 0; v < V; v++) scales[v] = load_floats(to.scales + v * kLanes);
  constexpr int kRowsAtOnce = 4 / V;
#pragma GCC unroll 16
  for (int r = 0; r < M; r += kRowsAtOnce) {
    Reg q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      // what is beyond the last row is not stored
      const int row = r + i / V < M ? r + i / V : M - 1;
      q[i] = narrow.scale<true>(acc[row][i % V], scales[i % V]);
    }
    store_rows<V>(narrow.narrow(q[0], q[1], q[2], q[3]), to, r, M);
  }
}

// Rows by a panel of V registers, in the largest tiles that fit.
template <int V>
void direct_rows(const uint8_t* a, int64_t stride, const uint8_t* w, int64_t groups, int64_t rows, DirectOutput to, const Narrow& narrow) {
  const auto advance = [&](int64_t done) {
    rows -= done;
    a += done * stride;
    to.out += done * to.stride;
    if (to.sums != nullptr) to.sums += done * V * kLanes;
  };
#define PTLITE_TILE(M)                                     \
  for (; rows >= M; advance(M)) {                          \
    direct_tile<M, V>(a, stride, w, groups, to, narrow);   \
  }
#if PTLITE_VEC_BYTES >= 64
  PTLITE_TILE(14)
  PTLITE_TILE(7)
#elif PTLITE_VEC_REGISTERS >= 32
  PTLITE_TILE(8)
#else
  PTLITE_TILE(6)
#endif
  PTLITE_TILE(4)
  PTLITE_TILE(2)
  PTLITE_TILE(1)
#undef PTLITE_TILE
}

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#endif
