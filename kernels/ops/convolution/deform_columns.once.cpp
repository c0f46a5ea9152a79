// The samples of one image that a deformable convolution multiplies with its weights.
#include <algorithm>
#include <cmath>

#include "frames/detection.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "support/element.h"

namespace {

// Samples whose places are kept for all channels of a group.
constexpr int64_t kSamples = 64;

// Four neighbours and their weights; those outside of the image have weights of zero.
template <class T>
struct Neighbours {
  int32_t at[4];
  T weight[4];
};

template <class T>
Neighbours<T> neighbours_of(T y, T x, T factor, int64_t height, int64_t width) {
  // offsets are data: what is no number lies outside
  if (!(y > -1 && y < T(height) && x > -1 && x < T(width))) return {};
  const auto top = int64_t(std::floor(y)), left = int64_t(std::floor(x));
  const T ly = y - T(top), lx = x - T(left), hy = 1 - ly, hx = 1 - lx;
  const bool above = top >= 0, below = top + 1 < height, before = left >= 0, after = left + 1 < width;
  const int64_t t = above ? top : 0, b = below ? top + 1 : 0, l = before ? left : 0, r = after ? left + 1 : 0;
  return {{int32_t(t * width + l), int32_t(t * width + r), int32_t(b * width + l), int32_t(b * width + r)},
          {above && before ? factor * hy * hx : 0, above && after ? factor * hy * lx : 0, below && before ? factor * ly * hx : 0,
           below && after ? factor * ly * lx : 0}};
}

template <class T>
struct Columns {
  const deform_columns_frame* f;
  int64_t pixels = f->out[0] * f->out[1];
  int64_t taps = f->kernel[0] * f->kernel[1];
  int64_t per_group = f->channels / f->groups;

  // All channels of a group at one tap.
  void tap(int64_t group, int64_t tap) const {
    const T* down = (const T*)f->offset + (group * taps + tap) * 2 * pixels;
    const T* factors = f->mask == 0 ? nullptr : (const T*)f->mask + (group * taps + tap) * pixels;
    const T row = T(tap / f->kernel[1] * f->dilation[0] - f->padding[0]), column = T(tap % f->kernel[1] * f->dilation[1] - f->padding[1]);
    Neighbours<T> places[kSamples];
    for (int64_t from = 0; from < pixels; from += kSamples) {
      const int64_t count = std::min(kSamples, pixels - from);
      for (int64_t i = 0; i < count; i++) {
        const int64_t p = from + i;
        const T y = T(p / f->out[1] * f->stride[0]) + row + down[p], x = T(p % f->out[1] * f->stride[1]) + column + down[pixels + p];
        places[i] = neighbours_of(y, x, factors == nullptr ? T(1) : factors[p], f->in_size[0], f->in_size[1]);
      }
      for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
        const T* plane = (const T*)f->in + c * f->in_size[0] * f->in_size[1];
        T* to = (T*)f->columns + (c * taps + tap) * pixels + from;
        for (int64_t i = 0; i < count; i++) {
          const Neighbours<T>& n = places[i];
          to[i] = n.weight[0] * plane[n.at[0]] + n.weight[1] * plane[n.at[1]] + n.weight[2] * plane[n.at[2]] + n.weight[3] * plane[n.at[3]];
        }
      }
    }
  }

  int32_t run() const {
    ptlite::parallel_for(f->groups * taps, ptlite::grain_for(pixels * (per_group + 4)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) tap(i / taps, i % taps);
    });
    return PTLITE_OK;
  }
};

int32_t deform_columns(deform_columns_frame* f) { return f->dtype == elem::F64 ? Columns<double>{f}.run() : Columns<float>{f}.run(); }

}  // namespace

PTLITE_KERNEL(deform_columns, deform_columns)
