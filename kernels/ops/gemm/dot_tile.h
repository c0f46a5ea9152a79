// The innermost loops that the 8-bit and the bfloat16 products share: a block of rows by a panel of columns, where each
// 32-bit lane sums the products of a group of steps (four bytes or two bfloat16) with one instruction. Storage:
//   panel of columns   [group][columns][32 bits]: what a lane multiplies lies together
//   block of rows      [chunk of 16 groups][rows][kRowBytes]: rows are a constant distance apart
// which is at once the layout that dot-product instructions and tiles (primitives/tiles.h) want.
#pragma once

#include "primitives/tiles.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace dot {

// Four bytes as they lie in memory.
PTLITE_INLINE int32_t load_group(const uint8_t* p) {
  int32_t group;
  memcpy(&group, p, 4);
  return group;
}

// M rows by a panel of S::kVectors registers, into out[M][panel]. S(panel) loads the columns of a group and row(a, sums) adds a
// row's products to its sums. Few rows leave registers for a second set of sums, so that additions do not wait for each other.
template <class S, int M, int kBlockRows>
void tile(const uint8_t* a, const uint8_t* w, int64_t groups, typename S::Element* out) {
  constexpr int V = S::kVectors;
  constexpr int kSets = M <= 2 ? 2 : 1;
  constexpr int64_t kPanelBytes = V * PTLITE_VEC_BYTES;
  typename S::Reg acc[kSets][M][V];
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      for (int s = 0; s < kSets; s++) acc[s][r][v] = S::none();
    }
  }
  for (; groups > 0; groups -= kGroups, a += kBlockRows * S::kRowBytes) {
    const int64_t here = groups < kGroups ? groups : kGroups;
    const uint8_t* x = a;
    int64_t g = 0;
    for (; g + kSets <= here; g += kSets) {
#pragma GCC unroll 2
      for (int s = 0; s < kSets; s++, x += 4, w += kPanelBytes) {
        const S step(w);
#pragma GCC unroll 16
        for (int r = 0; r < M; r++) step.row(x + r * S::kRowBytes, acc[s][r]);
      }
    }
    if (kSets > 1 && g < here) {
      const S step(w);
#pragma GCC unroll 16
      for (int r = 0; r < M; r++) step.row(x + r * S::kRowBytes, acc[0][r]);
      w += kPanelBytes;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      typename S::Reg sum = acc[0][r][v];
      for (int s = 1; s < kSets; s++) sum = S::add(sum, acc[s][r][v]);
      S::store(out + (r * V + v) * kLanes, sum);
    }
  }
}

// The tile with at least `rows` rows; a block holds kBlockRows, those beyond the last are zero.
template <class S, int kBlockRows>
PTLITE_INLINE void tile_rows(const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, typename S::Element* out) {
#define PTLITE_TILE(M)                                                                                    \
  if constexpr (M <= kBlockRows) {                                                                        \
    if (rows <= M) return tile<S, M, kBlockRows>(a, w, groups, out);                                      \
  }
  PTLITE_TILE(1)
  PTLITE_TILE(2)
  PTLITE_TILE(4)
  PTLITE_TILE(6)
  PTLITE_TILE(9)
  PTLITE_TILE(12)
#undef PTLITE_TILE
}

}  // namespace dot
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
