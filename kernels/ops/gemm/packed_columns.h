// Numbers of packed weights as floats, in columns as gemm_core.h wants them.
#pragma once

#include <algorithm>

#include "ops/gemm/gemm_core.h"
#include "ops/gemm/packed_product.h"
#include "vec/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace packed {

// Numbers of a word of a row as floats, and how much more they are there than they are.
struct Bytes4 {
  static constexpr int kNumbers = 4, kBytes = kBlock * kPanel;
  static constexpr float kMore = 0;
  static PTLITE_INLINE Vec<float> number(Vec<int32_t> word, int j) { return convert<float>((word << (24 - 8 * j)) >> 24); }
};
struct Halves8 {
  static constexpr int kNumbers = 8, kBytes = kBlock * kPanel / 2;
  // 2 ** 23 more than the integer, whose bits are the last ones of that float: nothing is converted, and differences are exact
  static constexpr float kMore = 8388616;
  static PTLITE_INLINE Vec<float> number(Vec<int32_t> word, int j) {
    using I = Vec<int32_t>;
    return bit_cast<float>(((word >> (j < 4 ? 8 * j : 8 * (j - 4) + 4)) & I(15)) | I(0x4b000000));
  }
};

// The numbers of vector v of a panel's rows in a block, in each of kBlock lines `line` apart.
inline void unpack_vector(const PackedWeight& w, int64_t panel, int64_t b, int v, float* out, int64_t line) {
  using F = Vec<float>;
  using I = Vec<int32_t>;
  const uint8_t* at = w.block(panel, b);
  const auto halves = [&](const auto* from) {
    for (int i = 0; i < kBlock; i++) load_float(from + i * kPanel + v * kLanes).store(out + i * line);
  };
  if (w.format == WeightFormat_bfloat16) return halves(reinterpret_cast<const bfloat16*>(at));
  if (w.format == WeightFormat_float16) return halves(reinterpret_cast<const float16*>(at));
  const int64_t g = b / w.span();
  const F scale = scales_of(w, panel, g, v);
  const F zero = w.zero == ZeroPoints_integers ? zeros_of(w, panel, g, v) : F::zero();
  const F offset = w.zero == ZeroPoints_offsets ? zeros_of(w, panel, g, v) : F::zero();
  const auto each = [&](auto numbers, const auto& number) __attribute__((always_inline)) {
    using W = decltype(numbers);
    for (int i = 0; i < kBlock; i += W::kNumbers) {
      const I word = I::load(reinterpret_cast<const int32_t*>(at + i / W::kNumbers * 4 * kPanel) + v * kLanes);
#pragma GCC unroll 8
      for (int j = 0; j < W::kNumbers; j++) number(W::number(word, j)).store(out + (i + j) * line);
    }
  };
  if (w.format == WeightFormat_int8) {
    if (w.zero == ZeroPoints_none) each(Bytes4{}, [&](F q) { return q * scale; });
    else each(Bytes4{}, [&](F q) { return fma(q - zero, scale, offset); });
  } else {
    const F more = zero + F(Halves8::kMore);
    if (w.zero == ZeroPoints_offsets) each(Halves8{}, [&](F q) { return fma(q - more, scale, offset); });
    else each(Halves8{}, [&](F q) { return (q - more) * scale; });
  }
}

// Tiles of columns of products, of a part of their depth at a time, laid out as gemm::pack_b lays them out.
class Columns {
 public:
  static constexpr int64_t kTile = gemm::kCols<float>;
  // Floats of a tile, and of what blocks have beyond the depth. It stays in the first-level cache beside a tile's rows.
  static constexpr int64_t kMostBlocks = std::min<int64_t>(gemm::kDepth, (24 << 10) / (4 * kTile)) / kBlock;
  static constexpr int64_t kFloats = kMostBlocks * kBlock * kTile;

  // Numbers of a part.
  const int64_t depth;

  explicit Columns(const PackedWeight& w) : depth(part_of(w.blocks()) * kBlock), w_(w) {}

  // `count` columns from the first one of a tile on, numbers [from, from + length) of each, from the first one of a block on.
  void unpack(int64_t column, int64_t count, int64_t from, int64_t length, float* out) const {
    const int64_t width = gemm::round_up(count, kLanes);
    for (int64_t i = 0; i < length; i += kBlock, out += kBlock * width) {
      const int64_t b = (from + i) / kBlock;
      for (int64_t v = 0; v < width; v += kLanes) {
        const int64_t at = column + v;
        unpack_vector(w_, at / kPanel, b, static_cast<int>(at % kPanel / kLanes), out + v, width);
      }
    }
  }

 private:
  // Equal parts of the depth.
  static int64_t part_of(int64_t blocks) {
    const int64_t parts = (blocks + kMostBlocks - 1) / kMostBlocks;
    return parts <= 1 ? blocks : (blocks + parts - 1) / parts;
  }

  PackedWeight w_;
};

}  // namespace packed
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
