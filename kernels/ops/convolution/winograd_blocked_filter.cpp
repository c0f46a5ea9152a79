// Filters of 16 bits for F(4x4, 3x3), transformed at each call as winograd_filter.once.cpp does once, in float32: a vector has a number of as many outputs.
#include "frames/blocked.h"
#include "dispatch/kernel.h"
#include "ops/blocked/blocked_tile.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using namespace ptlite::blocked;
using ptlite::bfloat16;
using ptlite::float16;
using ptlite::load_float;
using F = ptlite::Vec<float>;

constexpr int kTaps = 3;
constexpr int kWindow = 6;

// G g for one row or column of a filter.
PTLITE_INLINE void transform(const F (&g)[kTaps], F (&u)[kWindow]) {
  const F outer = (g[0] + g[2]) * F(-1.f / 6), inner = g[1] * F(1.f / 6);
  const F far = g[0] * F(1.f / 24) + g[2] * F(1.f / 6), middle = g[1] * F(1.f / 12);
  u[0] = g[0] * F(1.f / 4);
  u[1] = outer - inner;
  u[2] = outer + inner;
  u[3] = far + middle;
  u[4] = far - middle;
  u[5] = g[2];
}

template <class Half>
void transform_filters(const winograd_blocked_filter_frame& f) {
  const auto* in = reinterpret_cast<const Half*>(f.input);
  auto* out = reinterpret_cast<float*>(f.output);
  const int64_t inputs = f.inputs, row = inputs * kBlock, slices = int64_t{f.blocks} * f.taps, position = slices * row;
  ptlite::parallel_for(slices * inputs, ptlite::grain_for(kWindow * kWindow * kBlock * 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const Half* filter = in + i / inputs * kTaps * kTaps * row + i % inputs * kBlock;
      for (int v = 0; v < kParts; v++) {
        F rows[kTaps][kWindow];
        for (int x = 0; x < kTaps; x++) {
          F column[kTaps];
          for (int y = 0; y < kTaps; y++) column[y] = load_float(filter + (y * kTaps + x) * row + v * kLanes);
          transform(column, rows[x]);
        }
        float* to = out + i * kBlock + v * kLanes;
        for (int y = 0; y < kWindow; y++) {
          const F across[kTaps] = {rows[0][y], rows[1][y], rows[2][y]};
          F u[kWindow];
          transform(across, u);
          for (int x = 0; x < kWindow; x++) u[x].store(to + (y * kWindow + x) * position);
        }
      }
    }
  });
}

int32_t transform_blocked(winograd_blocked_filter_frame* f) {
  if (f->dtype == PTLITE_BFLOAT16) transform_filters<bfloat16>(*f);
  else if (f->dtype == PTLITE_FLOAT16) transform_filters<float16>(*f);
  else return PTLITE_NO_DTYPE;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(winograd_blocked_filter, transform_blocked)
