// Sampling at given points. The corners of a point and their weights are found once and used for every channel.
#include <cmath>
#include <limits>

#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/truncated.h"

namespace {

template <class T>
struct Sampler {
  const grid_sample_frame* f;

  T unnormalised(T x, int64_t size) const {
    return f->align_corners ? (x + 1) / 2 * T(size - 1) : ((x + 1) * T(size) - 1) / 2;
  }

  /// Mirrors at low/2 and high/2 until the coordinate lies between.
  static T reflected(T x, int64_t low, int64_t high) {
    if (low == high) return 0;
    const T least = T(low) / 2, span = T(high - low) / 2;
    x = std::fabs(x - least);
    const T extra = std::fmod(x, span);
    const int64_t flips = ptlite::truncated<int64_t>(std::floor(x / span));
    return flips % 2 == 0 ? extra + least : span - extra + least;
  }

  static T clipped(T x, int64_t size) {
    // comparisons written so that NaN goes to 0
    const T top = T(size - 1);
    x = x > 0 ? x : 0;
    return x < top ? x : top;
  }

  T placed(T x, int64_t size) const {
    if (f->padding == GridPadding_border) x = clipped(x, size);
    else if (f->padding == GridPadding_reflection) {
      x = f->align_corners ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1);
      x = clipped(x, size);
    }
    // beyond any index, so that what cannot be converted to an integer counts as outside
    return x > T(-1e9) && x < T(1e9) ? x : T(-100);
  }

  static bool within(int64_t i, int64_t size) { return i >= 0 && i < size; }

  int32_t run() const {
    const int n = f->spatial;
    const int64_t* sizes = f->in_sizes;
    const int64_t plane = sizes[0] * sizes[1] * sizes[2];
    for (int64_t b = 0; b < f->batch; b++)
      for (int64_t p = 0; p < f->points; p++) {
        T x[3] = {};
        elem::load<T>(x, f->dtype, elem::at((const void*)f->grid, f->dtype, (b * f->points + p) * n), 1, n);
        int64_t offsets[16];
        T weights[16];
        int taps = 0;
        if (f->interpolation == GridInterpolation_bicubic) taps = cubic_taps(x, offsets, weights);
        else if (f->interpolation == GridInterpolation_nearest) taps = nearest_tap(x, offsets, weights);
        else taps = linear_taps(x, offsets, weights);
        for (int64_t c = 0; c < f->channels; c++) {
          const int64_t from = (b * f->channels + c) * plane, to = (b * f->channels + c) * f->points + p;
          T sum = 0;
          for (int k = 0; k < taps; k++) sum += weights[k] * value(from + offsets[k]);
          elem::store<T>(elem::at((void*)f->out, f->dtype, to), f->dtype, &sum, 1, 1);
        }
      }
    return PTLITE_OK;
  }

  T value(int64_t at) const {
    if (f->dtype == elem::native_code<T>::value) return ((const T*)f->in)[at];
    T x;
    elem::load<T>(&x, f->dtype, elem::at((const void*)f->in, f->dtype, at), 1, 1);
    return x;
  }

  /// Size of the dim that grid coordinate k counts in: x is the last dim.
  int64_t size(int k) const { return f->in_sizes[2 - k]; }

  int linear_taps(const T* x, int64_t* offsets, T* weights) const {
    int64_t low[3];
    T part[3];
    for (int k = 0; k < f->spatial; k++) {
      const T at = placed(unnormalised(x[k], size(k)), size(k));
      const T floor = std::floor(at);
      low[k] = int64_t(floor);
      part[k] = at - floor;
    }
    int taps = 0;
    for (int corner = 0; corner < (1 << f->spatial); corner++) {
      T w = 1;
      int64_t offset = 0, step = 1;
      bool inside = true;
      for (int k = 0; k < f->spatial; k++) {
        const int64_t i = low[k] + ((corner >> k) & 1);
        inside &= within(i, size(k));
        w *= (corner >> k) & 1 ? part[k] : 1 - part[k];
        offset += i * step;
        step *= size(k);
      }
      if (!inside) continue;
      offsets[taps] = offset;
      weights[taps++] = w;
    }
    return taps;
  }

  int nearest_tap(const T* x, int64_t* offsets, T* weights) const {
    int64_t offset = 0, step = 1;
    for (int k = 0; k < f->spatial; k++) {
      const int64_t i = int64_t(std::nearbyint(placed(unnormalised(x[k], size(k)), size(k))));
      if (!within(i, size(k))) return 0;
      offset += i * step;
      step *= size(k);
    }
    offsets[0] = offset;
    weights[0] = 1;
    return 1;
  }

  static void cubic_weights(T t, T* w) {
    const T a = T(-0.75);
    auto near = [a](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    auto far = [a](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    w[0] = far(t + 1);
    w[1] = near(t);
    w[2] = near(1 - t);
    w[3] = far(2 - t);
  }

  int cubic_taps(const T* x, int64_t* offsets, T* weights) const {
    const T ax = unnormalised(x[0], size(0)), ay = unnormalised(x[1], size(1));
    const T fx = std::floor(ax), fy = std::floor(ay);
    T wx[4], wy[4];
    cubic_weights(ax - fx, wx);
    cubic_weights(ay - fy, wy);
    int taps = 0;
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 4; i++) {
        const int64_t column = int64_t(placed(fx - 1 + T(i), size(0))), row = int64_t(placed(fy - 1 + T(j), size(1)));
        if (!within(column, size(0)) || !within(row, size(1))) continue;
        offsets[taps] = row * size(0) + column;
        weights[taps++] = wx[i] * wy[j];
      }
    return taps;
  }
};

int32_t grid_sample_run(grid_sample_frame* f) {
  return f->dtype == elem::F64 ? Sampler<double>{f}.run() : Sampler<float>{f}.run();
}

}  // namespace

PTLITE_KERNEL(grid_sample, grid_sample_run)
