// Rotary position embedding (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding").
#include "frames/rotary.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <string.h>

#include "vec/vec.h"

namespace {

using F = ptlite::Vec<float>;
using Lanes = ptlite::Vec<int32_t>;
constexpr int L = F::size;

/// a cos - b sin
F turned(F a, F cos_a, F b, F sin_a) { return a * cos_a - b * sin_a; }

/// Pairs of elements `pairs` apart. With `second` 0 both of a pair share a number of the tables, else they have their own so far apart.
void halves(const float* x, const float* cos, const float* sin, float* out, int64_t pairs, int64_t second) {
  for (int64_t i = 0; i < pairs; i += L) {
    const int64_t n = pairs - i;
    const F a = F::load(x + i, n), b = F::load(x + pairs + i, n);
    turned(a, F::load(cos + i, n), b, F::load(sin + i, n)).store(out + i, n);
    fma(a, F::load(sin + second + i, n), b * F::load(cos + second + i, n)).store(out + pairs + i, n);
  }
}

F pick(F a, Lanes lanes) { return F(F::Raw(ptlite::arch::shuffled(a.v, lanes.v))); }

/// Up to a vector of numbers: one per element, or one per pair.
F table(const float* numbers, int64_t i, int64_t n, bool doubled, Lanes pair) {
  return doubled ? F::load(numbers + i, n) : pick(F::load(numbers + i / 2, n / 2 < L / 2 ? n / 2 : L / 2), pair);
}

/// Pairs of neighbours.
void neighbours(const float* x, const float* cos, const float* sin, float* out, int64_t pairs, bool doubled) {
  const Lanes lane = Lanes::iota(), pair = lane >> 1, other = lane ^ Lanes(1);
  const Lanes::Mask first = (lane & Lanes(1)) == Lanes::zero();
  for (int64_t i = 0; i < 2 * pairs; i += L) {
    const int64_t n = 2 * pairs - i;
    const F v = F::load(x + i, n), s = table(sin, i, n, doubled, pair);
    fma(pick(v, other), select(first, -s, s), v * table(cos, i, n, doubled, pair)).store(out + i, n);
  }
}

int64_t place(const int64_t* strides, int64_t i, int64_t j, int64_t k) { return i * strides[0] + j * strides[1] + k * strides[2]; }

int32_t rotary(rotary_frame* f) {
  const float* x = reinterpret_cast<const float*>(f->x);
  const float* cos = reinterpret_cast<const float*>(f->cos);
  const float* sin = reinterpret_cast<const float*>(f->sin);
  float* out = reinterpret_cast<float*>(f->out);
  const int64_t rows = f->sizes[0] * f->sizes[1] * f->sizes[2], turned_width = 2 * f->pairs;
  ptlite::parallel_for(rows, ptlite::grain_for(2 * f->width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const int64_t i = r % f->sizes[0], outer = r / f->sizes[0];
      const int64_t j = outer % f->sizes[1], k = outer / f->sizes[1];
      const float* from = x + place(f->x_strides, i, j, k);
      const float* c = cos + place(f->cos_strides, i, j, k);
      const float* s = sin + place(f->sin_strides, i, j, k);
      float* to = out + place(f->out_strides, i, j, k);
      if (f->interleaved) neighbours(from, c, s, to, f->pairs, f->doubled != 0);
      else halves(from, c, s, to, f->pairs, f->doubled ? f->pairs : 0);
      for (int64_t d = turned_width; d < f->width; d += L) F::load(from + d, f->width - d).store(to + d, f->width - d);
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(rotary, rotary)
