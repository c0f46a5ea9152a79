#include <algorithm>
#include <cmath>
#include <limits>

#include "frames/detection.h"
#include "isa/kernel.h"
#include "support/element.h"

namespace {

struct Span {
  int64_t first, last;
};

template <class T>
Span bin_of(int64_t bin, T size, int64_t start, int64_t limit) {
  const int64_t first = int64_t(std::floor(T(bin) * size)) + start;
  const int64_t last = int64_t(std::ceil(T(bin + 1) * size)) + start;
  return {std::min(std::max(first, int64_t(0)), limit), std::min(std::max(last, int64_t(0)), limit)};
}

template <class T>
int32_t pool_in(roi_pool_frame* f) {
  T* out = (T*)f->out;
  int32_t* argmax = (int32_t*)f->argmax;
  for (int64_t k = 0; k < f->rois; k++) {
    const T* roi = (const T*)f->roi + 5 * k;
    const int64_t image = int64_t(roi[0]);
    if (image < 0 || image >= f->batch) return PTLITE_INDEX_RANGE;
    int64_t edges[4];
    for (int e = 0; e < 4; e++) edges[e] = int64_t(std::round(roi[e + 1] * T(f->scale)));
    // regions without area count as one pixel
    const T bin_w = T(std::max(edges[2] - edges[0] + 1, int64_t(1))) / T(f->out_width);
    const T bin_h = T(std::max(edges[3] - edges[1] + 1, int64_t(1))) / T(f->out_height);
    for (int64_t c = 0; c < f->channels; c++) {
      const T* plane = (const T*)f->in + (image * f->channels + c) * f->height * f->width;
      for (int64_t y = 0; y < f->out_height; y++) {
        const Span rows = bin_of(y, bin_h, edges[1], f->height);
        for (int64_t x = 0; x < f->out_width; x++) {
          const Span columns = bin_of(x, bin_w, edges[0], f->width);
          const bool empty = rows.last <= rows.first || columns.last <= columns.first;
          T most = empty ? T(0) : -std::numeric_limits<T>::max();
          int32_t place = -1;
          for (int64_t h = rows.first; h < rows.last; h++)
            for (int64_t w = columns.first; w < columns.last; w++)
              if (plane[h * f->width + w] > most) {
                most = plane[h * f->width + w];
                place = int32_t(h * f->width + w);
              }
          *out++ = most;
          *argmax++ = place;
        }
      }
    }
  }
  return PTLITE_OK;
}

int32_t roi_pool_run(roi_pool_frame* f) { return f->dtype == elem::F64 ? pool_in<double>(f) : pool_in<float>(f); }

}  // namespace

PTLITE_KERNEL(roi_pool, roi_pool_run)
