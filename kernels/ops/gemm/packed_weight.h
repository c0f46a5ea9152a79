// Where numbers and scales of packed weights lie: see codegen/kernels/packed_weight.yaml.
#pragma once

#include <stdint.h>

#include "frames/packed_weight.h"

namespace ptlite {

// Rows of a weight that lie together, which are columns of its products, and numbers of each.
constexpr int kPanel = 16;
constexpr int kBlock = 32;

struct PackedWeight {
  int32_t format;
  int64_t n, k, group;
  int32_t scale, zero;
  uint8_t* data;

  template <class Frame>
  PackedWeight(const Frame& f, uint64_t address) : PackedWeight(f, address, f.scale, f.zero) {}
  template <class Frame>
  PackedWeight(const Frame& f, uint64_t address, int32_t scale, int32_t zero)
      : format(f.format), n(f.n), k(f.k), group(f.group), scale(scale), zero(zero), data(reinterpret_cast<uint8_t*>(address)) {}

  bool floats() const { return format <= WeightFormat_float16; }
  int64_t panels() const { return (n + kPanel - 1) / kPanel; }
  int64_t blocks() const { return (k + kBlock - 1) / kBlock; }
  // Blocks of a group.
  int64_t span() const { return group == 0 ? (blocks() == 0 ? 1 : blocks()) : group / kBlock; }
  int64_t groups() const { return group == 0 ? 1 : (blocks() + span() - 1) / span(); }
  int64_t block_bytes() const { return floats() ? kBlock * kPanel * 2 : format == WeightFormat_int8 ? kBlock * kPanel : kBlock * kPanel / 2; }
  uint8_t* block(int64_t panel, int64_t block) const { return data + (panel * blocks() + block) * block_bytes(); }
  int64_t scale_bytes() const { return scale == ScaleFormat_float32 ? 4 : 2; }
  int64_t zero_bytes() const { return zero == ZeroPoints_integers ? 1 : scale_bytes(); }
  // Of the 16 rows of a panel.
  uint8_t* scales(int64_t panel, int64_t group_at) const {
    return data + panels() * blocks() * block_bytes() + (panel * groups() + group_at) * kPanel * scale_bytes();
  }
  // What `zero` says, where it says something.
  uint8_t* zeros(int64_t panel, int64_t group_at) const {
    return scales(panels(), 0) + (panel * groups() + group_at) * kPanel * zero_bytes();
  }
};

// Where number i of row r of a block lies: its byte, or half of one.
constexpr int int8_place(int i, int r) { return i / 4 * 4 * kPanel + r * 4 + i % 4; }
constexpr int int4_place(int i, int r) { return i / 8 * 4 * kPanel + r * 4 + i % 4; }
constexpr bool int4_is_high(int i) { return i % 8 >= 4; }

}  // namespace ptlite
