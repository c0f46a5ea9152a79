#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/element.h"

namespace {

/// Coordinate i of n evenly spaced ones in [-1, 1]: of the corners, or of the centres of n cells.
template <class T>
T coordinate(int64_t i, int64_t n, bool align) {
  if (n <= 1) return 0;
  const T step = T(2) / T(n - 1);
  const T x = i < n / 2 ? T(-1) + step * T(i) : T(1) - step * T(n - 1 - i);
  return align ? x : x * T(n - 1) / T(n);
}

template <class T>
void grid(const affine_grid_frame* f) {
  const int n = f->spatial;
  int64_t out = 0;
  for (int64_t b = 0; b < f->batch; b++) {
    T theta[12];
    elem::load<T>(theta, f->dtype, elem::at((const void*)f->theta, f->dtype, b * n * (n + 1)), 1, n * (n + 1));
    for (int64_t z = 0; z < f->sizes[0]; z++)
      for (int64_t y = 0; y < f->sizes[1]; y++)
        for (int64_t x = 0; x < f->sizes[2]; x++, out += n) {
          const T point[3] = {coordinate<T>(x, f->sizes[2], f->align_corners), coordinate<T>(y, f->sizes[1], f->align_corners),
                              coordinate<T>(z, f->sizes[0], f->align_corners)};
          T result[3];
          for (int r = 0; r < n; r++) {
            result[r] = theta[r * (n + 1) + n];
            for (int c = 0; c < n; c++) result[r] += theta[r * (n + 1) + c] * point[c];
          }
          elem::store<T>(elem::at((void*)f->out, f->dtype, out), f->dtype, result, 1, n);
        }
  }
}

int32_t affine_grid_run(affine_grid_frame* f) {
  if (f->dtype == elem::F64) grid<double>(f);
  else grid<float>(f);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(affine_grid, affine_grid_run)
