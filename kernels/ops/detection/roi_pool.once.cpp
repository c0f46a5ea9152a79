#include <limits>

#include "frames/detection.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/regions.h"

namespace {

using namespace ptlite;

struct Span {
  int64_t first, last;
  bool empty() const { return last <= first; }
};

template <class T>
Span bin_of(int64_t bin, T size, int64_t start, int64_t limit) {
  const int64_t first = int64_t(std::floor(T(bin) * size)) + start;
  const int64_t last = int64_t(std::ceil(T(bin + 1) * size)) + start;
  return {std::min(std::max(first, int64_t(0)), limit), std::min(std::max(last, int64_t(0)), limit)};
}

// The edges of a region in whole pixels; `closed` where the last ones belong to it.
template <class T>
struct Edges {
  int64_t left, top;
  T bin_w, bin_h;

  Edges(const T* roi, T scale, int64_t closed, int64_t out_height, int64_t out_width)
      : left(rounded(roi[1] * scale)),
        top(rounded(roi[2] * scale)),
        bin_w(T(std::max(rounded(roi[3] * scale) - left + closed, int64_t(1))) / T(out_width)),
        bin_h(T(std::max(rounded(roi[4] * scale) - top + closed, int64_t(1))) / T(out_height)) {}
};

template <class T>
int32_t pool_region(const roi_pool_frame* f, int64_t k) {
  const int64_t bins = f->out_height * f->out_width;
  T* out = (T*)f->out + k * f->channels * bins;
  int32_t* argmax = (int32_t*)f->argmax + k * f->channels * bins;
  const T* roi = (const T*)f->roi + 5 * k;
  const int64_t image = image_of(roi, f->batch);
  if (image < 0) return PTLITE_INDEX_RANGE;
  const Edges<T> edges(roi, T(f->scale), 1, f->out_height, f->out_width);
  for (int64_t c = 0; c < f->channels; c++) {
    const T* plane = (const T*)f->in + (image * f->channels + c) * f->height * f->width;
    for (int64_t y = 0; y < f->out_height; y++) {
      poll();
      const Span rows = bin_of(y, edges.bin_h, edges.top, f->height);
      for (int64_t x = 0; x < f->out_width; x++) {
        const Span columns = bin_of(x, edges.bin_w, edges.left, f->width);
        T most = rows.empty() || columns.empty() ? T(0) : -std::numeric_limits<T>::max();
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
  return PTLITE_OK;
}

template <class T>
int32_t pool_in(roi_pool_frame* f) {
  return each_region(f->rois, f->channels * f->out_height * f->out_width * 16, [&](int64_t k) { return pool_region<T>(f, k); });
}

int32_t roi_pool_run(roi_pool_frame* f) { return f->dtype == elem::F64 ? pool_in<double>(f) : pool_in<float>(f); }

// Means, each bin from a plane of its own; the last row and column of the image belong to none.
template <class T>
int32_t mean_region(const ps_roi_pool_frame* f, int64_t k) {
  const T* roi = (const T*)f->roi + 5 * k;
  const int64_t image = image_of(roi, f->batch);
  if (image < 0) return PTLITE_INDEX_RANGE;
  const Edges<T> edges(roi, T(f->scale), 0, f->out_height, f->out_width);
  T* out = (T*)f->out + k * f->channels;
  int32_t* mapping = (int32_t*)f->mapping + k * f->channels;
  for (int64_t c = 0; c < f->channels; c++) {
    const T* plane = (const T*)f->in + (image * f->channels + c) * f->height * f->width;
    const Span rows = bin_of(c / f->out_width % f->out_height, edges.bin_h, edges.top, f->height - 1);
    const Span columns = bin_of(c % f->out_width, edges.bin_w, edges.left, f->width - 1);
    T sum = 0;
    for (int64_t h = rows.first; h < rows.last; h++)
      for (int64_t w = columns.first; w < columns.last; w++) sum += plane[h * f->width + w];
    out[c] = rows.empty() || columns.empty() ? T(0) : sum / T((rows.last - rows.first) * (columns.last - columns.first));
    mapping[c] = int32_t(c);
  }
  return PTLITE_OK;
}

template <class T>
int32_t means_in(ps_roi_pool_frame* f) {
  return each_region(f->rois, f->channels * 16, [&](int64_t k) { return mean_region<T>(f, k); });
}

int32_t ps_roi_pool_run(ps_roi_pool_frame* f) { return f->dtype == elem::F64 ? means_in<double>(f) : means_in<float>(f); }

}  // namespace

PTLITE_KERNEL(roi_pool, roi_pool_run)
PTLITE_KERNEL(ps_roi_pool, ps_roi_pool_run)
