// What becomes of the sums of packed products, and how those of rounded rows are called.
#pragma once

#include "dispatch/stub.h"
#include "ops/convolution/window_pixels.h"
#include "ops/gemm/packed_weight.h"
#include "primitives/int8.h"
#include "vec/half.h"
#include "vec/vec.h"

namespace ptlite {

// What becomes of rows: they are rounded, from where they lie one after the other, or from planes, of which each has a number of all of them; or they are
// those that windows of rounded pixels are; or they are multiplied.
enum class RowsStep { kRound, kRoundPlanes, kGather, kMultiply };

// Pixels that were rounded as rows of their own, and the windows that read them.
struct RoundedPixels {
  uint8_t* memory;
  int64_t count;
  const WindowPixels* windows;
};

// A part of a product of rows that are rounded: `m` rows from m0 on. Rows [begin, end) of these are written to `memory`, or all of them are multiplied by panels
// [begin, end), of which the first one is even.
struct RowsTask {
  const packed_linear_frame* f;
  uint8_t* memory;
  int64_t m0, m, begin, end;
  RowsStep step;
  // of kGather
  const RoundedPixels* pixels = nullptr;
  // numbers of a plane, of kRoundPlanes
  int64_t plane = 0;
  // kPanelScratch bytes for each block of a row where the caller has them; range_scratch has them otherwise
  uint8_t* scratch = nullptr;
};

// What a product of panels takes for itself, for each block of 32 numbers.
constexpr int64_t kPanelScratch = 2048;

// Rows beyond `m` that `memory` has room for, so that they are whole tiles.
constexpr int64_t kMostTileRows = 32;

}  // namespace ptlite

// Rows as bytes, by the dot products that the processor has. False where there is no memory.
PTLITE_DECLARE_STUB(packed_bytes, bool (*)(const RowsTask* task));
// Rows as bfloat16, by dot products of pairs: the same; or, without a task, whether they gain.
PTLITE_DECLARE_STUB(packed_pairs, bool (*)(const RowsTask* task));

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace packed {

constexpr int kLanes = PTLITE_VEC_BYTES / 4;
constexpr int kVectors = kPanel / kLanes;

// Scales, or offsets, of the rows of a vector, by a ScaleFormat.
PTLITE_INLINE Vec<float> load_scales(const uint8_t* at, int32_t scale) {
  if (scale == ScaleFormat_bfloat16) return load_float(reinterpret_cast<const bfloat16*>(at));
  if (scale == ScaleFormat_float16) return load_float(reinterpret_cast<const float16*>(at));
  return Vec<float>::load(reinterpret_cast<const float*>(at));
}

// The same of vector v of a panel, and zero points or offsets.
PTLITE_INLINE Vec<float> scales_of(const PackedWeight& w, int64_t panel, int64_t group, int v) {
  return load_scales(w.scales(panel, group) + v * kLanes * w.scale_bytes(), w.scale);
}
PTLITE_INLINE Vec<float> zeros_of(const PackedWeight& w, int64_t panel, int64_t group, int v) {
  const uint8_t* at = w.zeros(panel, group) + v * kLanes * w.zero_bytes();
  return w.zero == ZeroPoints_integers ? convert<float>(widen(reinterpret_cast<const int8_t*>(at))) : load_scales(at, w.scale);
}

// Where results go, and what becomes of them.
struct Finish {
  using F = Vec<float>;
  const packed_linear_frame& f;

  // R rows by V vectors of columns of a panel, from vector v0 on.
  template <int R, int V>
  PTLITE_INLINE void store(int64_t m0, int64_t panel, int v0, const F (&sums)[R][V]) const {
    for (int v = 0; v < V; v++) {
      const Column column(f, panel * kPanel + (v0 + v) * kLanes);
      if (column.count <= 0) return;
#pragma GCC unroll 6
      for (int r = 0; r < R; r++) column.store(f, m0 + r, sums[r][v]);
    }
  }

  // `rows` rows of `width` sums each.
  void store_tile(const float* sums, int64_t width, int64_t m0, int64_t rows, int64_t first) const {
    for (int64_t v = 0; v < width; v += kLanes) {
      const Column column(f, first + v);
      if (column.count <= 0) return;
      for (int64_t r = 0; r < rows; r++) column.store(f, m0 + r, F::load(sums + r * width + v));
    }
  }

 private:
  // A vector of columns, `count` of which are there.
  struct Column {
    int64_t at, count;
    F added, lo, hi;

    PTLITE_INLINE Column(const packed_linear_frame& f, int64_t at) : at(at), count(f.n - at), lo(static_cast<float>(f.lo)), hi(static_cast<float>(f.hi)) {
      const auto* bias = reinterpret_cast<const float*>(f.bias);
      added = bias == nullptr || count <= 0 ? F::zero() : F::load(bias + at, count);
    }

    PTLITE_INLINE void store(const packed_linear_frame& f, int64_t row, F x) const {
      x += added;
      if (f.clamped != 0) {
        // a NaN stays
        x = select(x < lo, lo, x);
        x = select(x > hi, hi, x);
      }
      x.store(reinterpret_cast<float*>(f.out) + row * f.n + at, count);
    }
  };
};

}  // namespace packed
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
