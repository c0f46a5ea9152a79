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
  uint8_t* data;

  template <class Frame>
  PackedWeight(const Frame& f, uint64_t address) : format(f.format), n(f.n), k(f.k), group(f.group), data(reinterpret_cast<uint8_t*>(address)) {}

  bool floats() const { return format <= WeightFormat_float16; }
  int64_t panels() const { return (n + kPanel - 1) / kPanel; }
  int64_t blocks() const { return (k + kBlock - 1) / kBlock; }
  // Blocks of a group.
  int64_t span() const { return group == 0 ? (blocks() == 0 ? 1 : blocks()) : group / kBlock; }
  int64_t groups() const { return group == 0 ? 1 : (blocks() + span() - 1) / span(); }
  int64_t block_bytes() const { return floats() ? kBlock * kPanel * 2 : format == WeightFormat_int8 ? kBlock * kPanel : kBlock * kPanel / 2; }
  uint8_t* block(int64_t panel, int64_t block) const { return data + (panel * blocks() + block) * block_bytes(); }
  // bfloat16, of the 16 rows of a panel.
  uint16_t* scales(int64_t panel, int64_t group_at) const {
    return reinterpret_cast<uint16_t*>(data + panels() * blocks() * block_bytes()) + (panel * groups() + group_at) * kPanel;
  }
};

// Where number i of row r of a block lies: its byte, or half of one.
constexpr int int8_place(int i, int r) { return i / 4 * 4 * kPanel + r * 4 + i % 4; }
constexpr int int4_place(int i, int r) { return i / 8 * 4 * kPanel + r * 4 + i % 4; }
constexpr bool int4_is_high(int i) { return i % 8 >= 4; }

}  // namespace ptlite
