// Products on the tile registers of AMX, and what stands for them at the other levels.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace dot {

// 32-bit lanes of a register, columns of a panel, groups of steps in a chunk.
constexpr int kLanes = PTLITE_VEC_BYTES / 4;
constexpr int kColumns = 2 * kLanes;
constexpr int kGroups = 16;

#if defined(CPU_CAPABILITY_AMX)

#if defined(_WIN32)
// strides of the compiler's own are `long`, which has 4 bytes there
#undef _tile_loadd
#undef _tile_stored
#define _tile_loadd(tile, from, stride) \
  __asm__ volatile("tileloadd\t(%0,%1,1), %%tmm" #tile ::"r"(from), "r"(static_cast<int64_t>(stride)) : "memory")
#define _tile_stored(tile, to, stride) \
  __asm__ volatile("tilestored\t%%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"(static_cast<int64_t>(stride)) : "memory")
#endif

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

// Nothing to configure.
struct Tiles {};

#endif

}  // namespace dot
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
