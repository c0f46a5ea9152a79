// Linear and cubic resampling of bfloat16 with the roundings of PyTorch's kernels, which compute in bfloat16 itself.
#include <cmath>

#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/truncated.h"
#include "support/bfloat16_bits.h"

namespace {

/// A number that every operation rounds to bfloat16.
struct Rounded {
  float value;
  Rounded() = default;
  Rounded(double v) : value(bfloat16_to_float(float_to_bfloat16_bits(float(v)))) {}
};
Rounded operator+(Rounded a, Rounded b) { return double(a.value) + b.value; }
Rounded operator-(Rounded a, Rounded b) { return double(a.value) - b.value; }
Rounded operator*(Rounded a, Rounded b) { return double(a.value) * b.value; }

struct Taps {
  int64_t count;
  const int64_t* index;   // [out][count]
  const float* weight;    // [out][count]
};

void linear_taps(int64_t* index, float* weight, double x, int64_t in) {
  const int64_t i = ptlite::truncated_between(x, 0, in - 1);
  double part = x - double(i);
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  index[0] = i;
  index[1] = i < in - 1 ? i + 1 : i;
  weight[0] = Rounded(1 - Rounded(part).value).value;
  weight[1] = Rounded(part).value;
}

/// Keys' cubic kernel with a = -0.75.
Rounded cubic_near(Rounded x) { return (Rounded(1.25) * x - 2.25) * x * x + 1; }
Rounded cubic_far(Rounded x) { return ((Rounded(-0.75) * x + 3.75) * x - 6) * x + 3; }

void cubic_taps(int64_t* index, float* weight, double x, int64_t in) {
  const double low = std::floor(x);
  const Rounded t = x - low, rest = Rounded(1) - t;
  const Rounded weights[4] = {cubic_far(t + 1), cubic_near(t), cubic_near(rest), cubic_far(rest + 1)};
  // from 4 elements outside on, all that is read is the one at the edge
  const int64_t i = ptlite::truncated_between(low, -4, in + 4);
  for (int k = 0; k < 4; k++) {
    const int64_t at = i - 1 + k;
    index[k] = at < 0 ? 0 : at > in - 1 ? in - 1 : at;
    weight[k] = weights[k].value;
  }
}

struct Volume {
  const uint16_t* in;
  const int64_t* sizes;
  const Taps* taps;
  int64_t width;
  bool once;
  float* rows;   // a row of the result per dim
};

/// Writes a row of the result: of dims from `d` on, of the input from element `at` on, for output indices `place`.
/// `factor` is the product of the outer dims' weights where all products are summed unrounded.
void row_of(const Volume& v, int d, int64_t at, const int64_t* place, float factor, float* out) {
  const Taps& taps = v.taps[d];
  if (d == 2) {
    const uint16_t* row = v.in + at * v.sizes[2];
    for (int64_t o = 0; o < v.width; o++) {
      Rounded sum(0);
      for (int64_t k = 0; k < taps.count; k++) {
        const float x = bfloat16_to_float(row[taps.index[o * taps.count + k]]);
        const float w = taps.weight[o * taps.count + k];
        if (v.once) out[o] += Rounded(factor * w).value * x;
        else sum = k == 0 ? Rounded(x * w) : sum + Rounded(x * w);
      }
      if (!v.once) out[o] = sum.value;
    }
    return;
  }
  for (int64_t k = 0; k < taps.count; k++) {
    const int64_t entry = place[d] * taps.count + k;
    const float w = taps.weight[entry];
    const int64_t next = at * v.sizes[d] + taps.index[entry];
    if (v.once) {
      row_of(v, d + 1, next, place, Rounded(factor * w).value, out);
      continue;
    }
    float* part = v.rows + d * v.width;
    row_of(v, d + 1, next, place, 1, part);
    for (int64_t o = 0; o < v.width; o++) out[o] = (k == 0 ? Rounded(part[o] * w) : Rounded(out[o]) + Rounded(part[o] * w)).value;
  }
}

int32_t resample_bfloat16_run(resample_bfloat16_frame* f) {
  Taps taps[3];
  size_t entries = 0;
  for (int d = 0; d < 3; d++) {
    taps[d].count = d < 3 - f->spatial ? 1 : f->mode == ResampleMode_cubic ? 4 : 2;
    entries += size_t(taps[d].count * f->out_sizes[d]);
  }
  const int64_t width = f->out_sizes[2];
  char* memory = static_cast<char*>(ptlite_scratch(entries * (sizeof(int64_t) + sizeof(float)) + size_t(3 * width) * sizeof(float)));
  if (!memory) return PTLITE_NO_MEMORY;
  int64_t* index = reinterpret_cast<int64_t*>(memory);
  float* weight = reinterpret_cast<float*>(index + entries);
  float* rows = weight + entries;
  for (int d = 0; d < 3; d++) {
    taps[d].index = index;
    taps[d].weight = weight;
    const int64_t in = f->in_sizes[d], count = taps[d].count;
    const double scale = Rounded(f->scales[d]).value;
    for (int64_t o = 0; o < f->out_sizes[d]; o++, index += count, weight += count) {
      const double x = f->align_corners ? scale * double(o) : scale * (double(o) + 0.5) - 0.5;
      if (count == 1) *index = 0, *weight = 1;
      else if (count == 4) cubic_taps(index, weight, x, in);
      else if (in == f->out_sizes[d]) index[0] = index[1] = o, weight[0] = 1, weight[1] = 0;
      else linear_taps(index, weight, x, in);
    }
  }
  const uint16_t* in = reinterpret_cast<const uint16_t*>(f->in);
  uint16_t* out = reinterpret_cast<uint16_t*>(f->out);
  const int64_t plane = f->in_sizes[0] * f->in_sizes[1] * f->in_sizes[2];
  float* result = rows + 2 * width;
  for (int64_t p = 0; p < f->planes; p++, in += plane)
    for (int64_t z = 0; z < f->out_sizes[0]; z++)
      for (int64_t y = 0; y < f->out_sizes[1]; y++, out += width) {
        const int64_t place[2] = {z, y};
        if (f->once)
          for (int64_t o = 0; o < width; o++) result[o] = 0;
        row_of({in, f->in_sizes, taps, width, f->once != 0, rows}, 0, 0, place, 1, result);
        for (int64_t o = 0; o < width; o++) out[o] = float_to_bfloat16_bits(result[o]);
      }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(resample_bfloat16, resample_bfloat16_run)
