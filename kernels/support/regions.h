// Regions of interest: rows of image, x1, y1, x2, y2 in the pixels of an image that is 1 / scale times as large. They are data of a
// model and may hold anything.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>

#include "dispatch/kernel.h"
#include "pool/pool.h"

namespace ptlite {
namespace {

// More samples of one region than any detector takes.
constexpr int64_t kMostSamples = int64_t{1} << 26;

// The image of a region; -1 where there is none of this number.
template <class T>
int64_t image_of(const T* roi, int64_t batch) {
  const int64_t image = roi[0] > T(-1) && roi[0] < T(batch) ? int64_t(roi[0]) : -1;
  // the batch may be empty, or no number of T
  return image < batch ? image : -1;
}

// To the nearest integer, away from zero at halves; what is too large ends at 2^30, NaN is 0.
template <class T>
int64_t rounded(T x) {
  constexpr T limit = T(1 << 30);
  return x == x ? int64_t(std::round(std::min(std::max(x, -limit), limit))) : 0;
}

// Samples per bin in one direction: as many as asked for, else as there are pixels; -1 where those are too many.
template <class T>
int64_t samples_of(int64_t wanted, T bin) {
  if (wanted > 0) return wanted <= kMostSamples ? wanted : -1;
  const T count = std::ceil(bin);
  return count <= T(kMostSamples) ? int64_t(std::max(count, T(0))) : -1;
}

// Four neighbours of a sample and their weights; a sample outside the image has weights of zero.
template <class T>
struct Sample {
  int32_t at[4];
  T weight[4];

  T of(const T* plane) const { return weight[0] * plane[at[0]] + weight[1] * plane[at[1]] + weight[2] * plane[at[2]] + weight[3] * plane[at[3]]; }
};

template <class T>
Sample<T> sample_at(T y, T x, int64_t height, int64_t width) {
  if (!(y >= -1 && y <= T(height) && x >= -1 && x <= T(width))) return {};
  y = std::max(y, T(0));
  x = std::max(x, T(0));
  int64_t top = int64_t(y), left = int64_t(x);
  int64_t bottom = top + 1, right = left + 1;
  if (top >= height - 1) {
    top = bottom = height - 1;
    y = T(top);
  }
  if (left >= width - 1) {
    left = right = width - 1;
    x = T(left);
  }
  const T ly = y - T(top), lx = x - T(left), hy = 1 - ly, hx = 1 - lx;
  return {{int32_t(top * width + left), int32_t(top * width + right), int32_t(bottom * width + left), int32_t(bottom * width + right)},
          {hy * hx, hy * lx, ly * hx, ly * lx}};
}

// A grid of samples over the bins of a region that starts at (top, left).
template <class T>
struct Grid {
  T top, left, bin_h, bin_w;
  int64_t bins_h, bins_w, grid_h, grid_w;

  int64_t per_bin() const { return grid_h * grid_w; }
  int64_t count() const { return bins_h * bins_w * per_bin(); }
  // False where there are more samples than may be.
  bool usable() const {
    if (grid_h < 0 || grid_w < 0) return false;
    return per_bin() == 0 || (grid_h <= kMostSamples / grid_w && per_bin() <= kMostSamples / (bins_h * bins_w));
  }

  void fill(int64_t height, int64_t width, Sample<T>* next) const {
    for (int64_t by = 0; by < bins_h; by++)
      for (int64_t bx = 0; bx < bins_w; bx++)
        for (int64_t iy = 0; iy < grid_h; iy++) {
          const T y = top + T(by) * bin_h + (T(iy) + T(0.5)) * bin_h / T(grid_h);
          for (int64_t ix = 0; ix < grid_w; ix++) {
            const T x = left + T(bx) * bin_w + (T(ix) + T(0.5)) * bin_w / T(grid_w);
            *next++ = sample_at(y, x, height, width);
          }
        }
  }
};

// Calls region(k), which returns a status, for the regions 0 to count - 1, shared among threads.
template <class F>
int32_t each_region(int64_t count, int64_t work, const F& region) {
  std::atomic<int32_t> status{PTLITE_OK};
  parallel_for(count, grain_for(work), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end && status == PTLITE_OK; k++) {
      const int32_t s = region(k);
      if (s != PTLITE_OK) status = s;
    }
  });
  return status;
}

}  // namespace
}  // namespace ptlite
