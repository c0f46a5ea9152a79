// Rounds weights to few bits and packs them. A lane is a row of the weight: what a group of numbers is rounded by depends on that group alone.
#include <string.h>

#include <atomic>

#include "dispatch/kernel.h"
#include "ops/gemm/packed_weight.h"
#include "pool/pool.h"
#include "vec/half.h"
#include "vec/vec.h"

namespace {

using namespace ptlite;
using F = Vec<float>;

// Magnitudes below have no scale that bfloat16 tells from zero.
constexpr float kLeast = 1e-35f;
// By how much another scale has to fit better.
constexpr float kBetter = 1.000004f;

// The integers of a format, and what is tried for the one that the number of the largest magnitude becomes: first + i * step for i < count. Clipping it pays
// where there are few integers.
struct Range {
  float low, high, first, step;
  int count;
};
constexpr Range kInt8{-127, 127, 127, 3, 4};
// that number is negative then, as the range has one more there, or lies beyond it
constexpr Range kInt4{-8, 7, -9.5f, 0.25f, 13};

// Sums of the products of `count` numbers, 16 floats apart, with their integers, and of these integers squared.
struct Fit {
  F xq = F::zero(), qq = F::zero();

  Fit(const float* x, int64_t count, F inverse, const Range& range) {
    for (int64_t i = 0; i < count; i++) {
      const F value = F::load(x + i * kPanel), q = integer(value, inverse, range);
      xq = fma(value, q, xq);
      qq = fma(q, q, qq);
    }
  }

  static PTLITE_INLINE F integer(F x, F inverse, const Range& range) { return fast_max(fast_min(rint(x * inverse), F(range.high)), F(range.low)); }
};

// The scales of F::size rows of `count` numbers: the least sum of (x - scale * q)^2 is where xq^2 / qq is largest, at xq / qq.
F scales_of(const float* x, int64_t count, const Range& range) {
  F extreme = F::zero(), sum = F::zero();
  for (int64_t i = 0; i < count; i++) {
    const F value = F::load(x + i * kPanel);
    extreme = select(abs(value) > abs(extreme), value, extreme);
    sum += value * F(0);  // NaN where a number is not finite
  }
  const auto some = abs(extreme) > F(kLeast);
  const F largest = select(some, extreme, F(1));
  F best = F(-1), scale = F::zero();
  for (int t = 0; t < range.count; t++) {
    const Fit fit(x, count, F(range.first + static_cast<float>(t) * range.step) / largest, range);
    const F gain = select(fit.qq > F::zero(), fit.xq * fit.xq / fit.qq, F::zero());
    // as good up to rounding is no better: levels differ in that, and are to choose the same
    const auto better = (gain > best * F(kBetter)) & (fit.qq > F::zero());
    best = select(better, gain, best);
    scale = select(better, fit.xq / fit.qq, scale);
  }
  return select(some, scale, F::zero()) + sum;
}

struct Packing {
  const weight_pack_frame& f;
  PackedWeight w{f, f.dst, ScaleFormat_bfloat16, ZeroPoints_none};

  // `count` numbers from `from` on of the rows of a panel, as [count][16 rows], zeros in the place of missing rows.
  void gather(int64_t panel, int64_t from, int64_t count, float* x) const {
    const float* src = reinterpret_cast<const float*>(f.src);
    const int64_t n0 = panel * kPanel, rows = f.n - n0 < kPanel ? f.n - n0 : kPanel;
    if (rows < kPanel) memset(x, 0, static_cast<size_t>(count * kPanel) * 4);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t i = 0; i < count; i++) x[i * kPanel + r] = src[(n0 + r) * f.n_stride + (from + i) * f.k_stride];
  }

  template <class Half>
  void floats(int64_t panel, int64_t block, int64_t count, const float* x) const {
    auto* out = reinterpret_cast<Half*>(w.block(panel, block));
    memset(out, 0, static_cast<size_t>(w.block_bytes()));
    for (int64_t i = 0; i < count * kPanel; i += F::size) store_float(out + i, F::load(x + i));
  }

  // The integers of a block, [32][16 rows].
  void integers(int64_t panel, int64_t block, const int8_t* q) const {
    uint8_t* out = w.block(panel, block);
    memset(out, 0, static_cast<size_t>(w.block_bytes()));
    for (int i = 0; i < kBlock; i++) {
      for (int r = 0; r < kPanel; r++) {
        const int8_t value = q[i * kPanel + r];
        if (w.format == WeightFormat_int8) out[int8_place(i, r)] = static_cast<uint8_t>(value);
        else out[int4_place(i, r)] |= static_cast<uint8_t>((value + 8) << (int4_is_high(i) ? 4 : 0));
      }
    }
  }

  void group(int64_t panel, int64_t g, const float* x, int64_t count, const Range& range) const {
    alignas(64) float inverse[kPanel];
    auto* stored = reinterpret_cast<uint16_t*>(w.scales(panel, g));
    for (int r = 0; r < kPanel; r += F::size) {
      auto* to = reinterpret_cast<bfloat16*>(stored + r);
      store_float(to, scales_of(x + r, count, range));
      const F scale = load_float(to);
      select(abs(scale) > F::zero(), F(1) / scale, F::zero()).store(inverse + r);
    }
    for (int64_t from = 0; from < count; from += kBlock) {
      int8_t q[kBlock * kPanel] = {};
      const int64_t some = count - from < kBlock ? count - from : kBlock;
      for (int64_t i = 0; i < some * kPanel; i += F::size) {
        alignas(64) float lanes[F::size];
        // what is not finite has a scale that is not, whose inverse is no number either
        const F rounded = Fit::integer(F::load(x + from * kPanel + i), F::load(inverse + i % kPanel), range);
        select(is_nan(rounded), F::zero(), rounded).store(lanes);
        for (int l = 0; l < F::size; l++) q[i + l] = static_cast<int8_t>(lanes[l]);
      }
      integers(panel, g * w.span() + from / kBlock, q);
    }
  }

  // False where there is no memory.
  bool panels(int64_t begin, int64_t end) const {
    const int64_t most = w.floats() ? kBlock : w.span() * kBlock;
    auto* x = static_cast<float*>(range_scratch(static_cast<size_t>(most * kPanel) * 4));
    if (x == nullptr) return false;
    for (int64_t p = begin; p < end; p++) {
      poll();
      for (int64_t from = 0, g = 0; from < f.k; from += most, g++) {
        const int64_t count = f.k - from < most ? f.k - from : most;
        gather(p, from, count, x);
        if (w.format == WeightFormat_bfloat16) floats<bfloat16>(p, g, count, x);
        else if (w.format == WeightFormat_float16) floats<float16>(p, g, count, x);
        else group(p, g, x, count, w.format == WeightFormat_int8 ? kInt8 : kInt4);
      }
    }
    return true;
  }
};

int32_t weight_pack(weight_pack_frame* f) {
  const Packing packing{*f};
  std::atomic<bool> done{true};
  parallel_for(packing.w.panels(), grain_for(f->k * kPanel * 8), [&](int64_t begin, int64_t end) {
    if (!packing.panels(begin, end)) done = false;
  });
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

}  // namespace

PTLITE_KERNEL(weight_pack, weight_pack)
