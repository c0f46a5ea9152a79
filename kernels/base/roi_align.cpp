#include <algorithm>
#include <cmath>

#include "frames/detection.h"
#include "isa/kernel.h"
#include "support/element.h"

namespace {

// Four neighbours of a sample and their weights; a sample outside the image has weights of zero.
template <class T>
struct Sample {
  int32_t at[4];
  T weight[4];
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

template <class T>
struct Align {
  roi_align_frame* f;

  int32_t run() {
    for (int64_t k = 0; k < f->rois; k++) {
      const int32_t status = region(k);
      if (status != PTLITE_OK) return status;
    }
    return PTLITE_OK;
  }

  int32_t region(int64_t k) {
    const T* roi = (const T*)f->roi + 5 * k;
    const int64_t image = int64_t(roi[0]);
    if (image < 0 || image >= f->batch) return PTLITE_INDEX_RANGE;
    const T scale = T(f->scale), offset = f->aligned ? T(0.5) : T(0);
    const T left = roi[1] * scale - offset, top = roi[2] * scale - offset;
    T roi_w = roi[3] * scale - offset - left, roi_h = roi[4] * scale - offset - top;
    if (!f->aligned) {
      roi_w = std::max(roi_w, T(1));
      roi_h = std::max(roi_h, T(1));
    }
    const T bin_h = roi_h / T(f->out_height), bin_w = roi_w / T(f->out_width);
    const int64_t grid_h = f->sampling > 0 ? f->sampling : int64_t(std::ceil(bin_h));
    const int64_t grid_w = f->sampling > 0 ? f->sampling : int64_t(std::ceil(bin_w));
    const int64_t per_bin = std::max(grid_h, int64_t(0)) * std::max(grid_w, int64_t(0));
    const int64_t bins = f->out_height * f->out_width;
    auto* samples = static_cast<Sample<T>*>(ptlite_scratch(size_t(bins * per_bin + 1) * sizeof(Sample<T>)));
    if (!samples) return PTLITE_NO_MEMORY;
    Sample<T>* next = samples;
    for (int64_t by = 0; by < f->out_height; by++)
      for (int64_t bx = 0; bx < f->out_width; bx++)
        for (int64_t iy = 0; iy < grid_h; iy++) {
          const T y = top + T(by) * bin_h + (T(iy) + T(0.5)) * bin_h / T(grid_h);
          for (int64_t ix = 0; ix < grid_w; ix++) {
            const T x = left + T(bx) * bin_w + (T(ix) + T(0.5)) * bin_w / T(grid_w);
            *next++ = sample_at(y, x, f->height, f->width);
          }
        }
    average((const T*)f->in + image * f->channels * f->height * f->width, (T*)f->out + k * f->channels * bins, samples, per_bin);
    return PTLITE_OK;
  }

  void average(const T* planes, T* out, const Sample<T>* samples, int64_t per_bin) {
    const int64_t bins = f->out_height * f->out_width, plane = f->height * f->width;
    const T count = T(std::max(per_bin, int64_t(1)));
    for (int64_t c = 0; c < f->channels; c++) {
      const T* in = planes + c * plane;
      const Sample<T>* s = samples;
      for (int64_t bin = 0; bin < bins; bin++) {
        T sum = 0;
        for (int64_t i = 0; i < per_bin; i++, s++)
          sum += s->weight[0] * in[s->at[0]] + s->weight[1] * in[s->at[1]] + s->weight[2] * in[s->at[2]] + s->weight[3] * in[s->at[3]];
        out[c * bins + bin] = sum / count;
      }
    }
  }
};

int32_t roi_align_run(roi_align_frame* f) { return f->dtype == elem::F64 ? Align<double>{f}.run() : Align<float>{f}.run(); }

}  // namespace

PTLITE_KERNEL(roi_align, roi_align_run)
