// The innermost loops that the 8-bit and the bfloat16 products share: a block of rows by a panel of columns, where each
// 32-bit lane sums the products of a group of steps (four bytes or two bfloat16) with one instruction. Storage:
//   panel of columns   [group][columns][32 bits]: what a lane multiplies lies together
//   block of rows      [chunk of 16 groups][rows][kRowBytes]: rows are a constant distance apart
// which is at once the layout that the dot-product instructions and the AMX tiles want.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace dot {

constexpr int kLanes = PTLITE_VEC_BYTES / 4;
constexpr int kColumns = 2 * kLanes;
constexpr int kGroups = 16;

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

#if defined(CPU_CAPABILITY_AMX)

constexpr int kTileRows = 16;
constexpr int kTileBytes = 64;

// Configures the tile registers for one call of a kernel: 0-3 sums, 4-5 rows, 6-7 columns, each 16 rows of 64 bytes.
class Tiles {
 public:
  Tiles() {
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes};
      uint8_t rows[16] = {kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows};
    } config;
    _tile_loadconfig(&config);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { _tile_release(); }
};

// out[32][32]: 32 rows by 32 columns, or the upper 16 rows where a block has no more. S::upper and S::lower add the
// products of tiles 4 and 5 with 6 and 7 to the sums.
template <class S>
void multiply_tiles(const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, typename S::Element* out) {
  constexpr int kPanelRow = kColumns * 4;
  const bool lower = rows > kTileRows;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (; groups > 0; groups -= kGroups, a += 2 * kTileRows * kTileBytes, w += kGroups * kPanelRow) {
    _tile_loadd(6, w, kPanelRow);
    _tile_loadd(7, w + kTileBytes, kPanelRow);
    _tile_loadd(4, a, kTileBytes);
    S::upper();
    if (lower) {
      _tile_loadd(5, a + kTileRows * kTileBytes, kTileBytes);
      S::lower();
    }
  }
  _tile_stored(0, out, kPanelRow);
  _tile_stored(1, out + kLanes, kPanelRow);
  if (lower) {
    _tile_stored(2, out + kTileRows * kColumns, kPanelRow);
    _tile_stored(3, out + kTileRows * kColumns + kLanes, kPanelRow);
  }
}

#else

struct Tiles {};

#endif

}  // namespace dot
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
