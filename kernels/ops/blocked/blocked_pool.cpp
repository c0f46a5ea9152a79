// Pooling over channels in blocks of 16: windows are walked pixel by pixel, a vector of channels at a time.
#include "frames/blocked.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <algorithm>
#include <limits>

#include "blocked_mean.h"

namespace {

using ptlite::Vec;

using namespace ptlite::blocked;

/// Elements of one dimension of a window inside the input.
struct Span {
  int64_t first, count;
  int64_t padded;  ///< elements inside input and padding

  Span(const blocked_pool_frame& f, int d, int64_t o) {
    const int64_t start = o * f.stride[d] - f.padding[d], step = f.dilation[d];
    const int64_t skipped = start >= 0 ? 0 : (-start + step - 1) / step;
    first = start + skipped * step;
    count = std::max<int64_t>(0, std::min<int64_t>(f.window[d] - skipped, (f.in[d] - first + step - 1) / step));
    padded = std::min<int64_t>(start + f.window[d], f.in[d] + f.padding[d]) - start;
  }
};

/// Row `r` of all slices of a plane.
template <bool kMax>
void pool_row(const blocked_pool_frame& f, const float* plane, int64_t r, float* out) {
  const Span slices(f, 0, r / f.out[1]), rows(f, 1, r % f.out[1]);
  for (int64_t c = 0; c < f.out[2]; c++, out += kBlock) {
    const Span cols(f, 2, c);
    const int64_t divisor =
        f.count_include_pad != 0 ? slices.padded * rows.padded * cols.padded : slices.count * rows.count * cols.count;
    for (int v = 0; v < kParts; v++) {
      Vec<float> acc(kMax ? -std::numeric_limits<float>::infinity() : 0.f);
      for (int64_t d = 0; d < slices.count; d++) {
        const int64_t slice = slices.first + d * f.dilation[0];
        for (int64_t h = 0; h < rows.count; h++) {
          const float* p = plane + ((slice * f.in[1] + rows.first + h * f.dilation[1]) * f.in[2] + cols.first) * kBlock + v * kLanes;
          for (int64_t w = 0; w < cols.count; w++, p += f.dilation[2] * kBlock) {
            if constexpr (kMax) acc = maximum(Vec<float>::load(p), acc);
            else acc += Vec<float>::load(p);
          }
        }
      }
      if constexpr (!kMax) acc = acc / Vec<float>(float(divisor));
      acc.store(out + v * kLanes);
    }
  }
}

int32_t pool(blocked_pool_frame* f) {
  const float* input = reinterpret_cast<const float*>(f->input);
  float* output = reinterpret_cast<float*>(f->output);
  const int64_t in_plane = int64_t{f->in[0]} * f->in[1] * f->in[2] * kBlock, row = f->out[2] * kBlock;
  const int64_t rows = int64_t{f->out[0]} * f->out[1], work = row * f->window[0] * f->window[1] * f->window[2];
  ptlite::parallel_for(f->planes * rows, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const float* plane = input + u / rows * in_plane;
      if (f->mode == BlockedPool_max) pool_row<true>(*f, plane, u % rows, output + u * row);
      else pool_row<false>(*f, plane, u % rows, output + u * row);
    }
  });
  return PTLITE_OK;
}

int32_t mean(blocked_mean_frame* f) {
  const float* input = reinterpret_cast<const float*>(f->input);
  float* output = reinterpret_cast<float*>(f->output);
  const int64_t channels = f->channels, pixels = f->pixels, blocks = (channels + kBlock - 1) / kBlock;
  ptlite::parallel_for(f->batch * blocks, ptlite::grain_for(pixels * kBlock), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t block = u % blocks, some = std::min<int64_t>(kBlock, channels - block * kBlock);
      float* out = output + u / blocks * channels + block * kBlock;
      for (int v = 0; v < kParts && v * kLanes < some; v++) {
        const Vec<float> mean = ptlite::blocked::mean_of(input + u * pixels * kBlock + v * kLanes, pixels);
        mean.store(out + v * kLanes, std::min<int64_t>(kLanes, some - v * kLanes));
      }
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(blocked_pool, pool)
PTLITE_KERNEL(blocked_mean, mean)
