// What becomes of the sums of packed products, and how those of bytes are called.
#pragma once

#include "dispatch/stub.h"
#include "ops/gemm/packed_weight.h"
#include "vec/vec.h"

namespace ptlite {

// A part of a product of bytes: `m` rows from m0 on. Rows [begin, end) of these become bytes in `memory`, or, where `multiply` is set, all of them are multiplied by
// panels [begin, end).
struct BytesTask {
  const packed_linear_frame* f;
  uint8_t* memory;
  int64_t m0, m, begin, end;
  bool multiply;
};

}  // namespace ptlite

// By the dot products that the processor has.
PTLITE_DECLARE_STUB(packed_bytes, void (*)(const BytesTask* task));

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace packed {

constexpr int kLanes = PTLITE_VEC_BYTES / 4;
constexpr int kVectors = kPanel / kLanes;

// Where results go, and what becomes of them.
struct Finish {
  using F = Vec<float>;
  const packed_linear_frame& f;

  // R rows by V vectors of columns of a panel, from vector v0 on.
  template <int R, int V>
  PTLITE_INLINE void store(int64_t m0, int64_t panel, int v0, const F (&sums)[R][V]) const {
    const auto* bias = reinterpret_cast<const float*>(f.bias);
    const F lo(static_cast<float>(f.lo)), hi(static_cast<float>(f.hi));
    for (int v = 0; v < V; v++) {
      const int64_t column = panel * kPanel + (v0 + v) * kLanes, count = f.n - column;
      if (count <= 0) return;
      const F added = bias == nullptr ? F::zero() : F::load(bias + column, count);
#pragma GCC unroll 6
      for (int r = 0; r < R; r++) {
        F x = sums[r][v] + added;
        if (f.clamped != 0) {
          // a NaN stays
          x = select(x < lo, lo, x);
          x = select(x > hi, hi, x);
        }
        x.store(reinterpret_cast<float*>(f.out) + (m0 + r) * f.n + column, count);
      }
    }
  }
};

}  // namespace packed
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
