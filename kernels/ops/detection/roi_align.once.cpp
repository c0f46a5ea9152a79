#include "frames/detection.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/regions.h"

namespace {

using namespace ptlite;

// Of a region that starts at (top, left).
template <class T, class Frame>
Grid<T> grid_of(const Frame& f, T top, T left, T bin_h, T bin_w) {
  return {top, left, bin_h, bin_w, f.out_height, f.out_width, samples_of(f.sampling, bin_h), samples_of(f.sampling, bin_w)};
}

// The samples of a grid, in memory that holds until the next region.
template <class T, class Frame>
int32_t take_samples(const Frame& f, const Grid<T>& grid, const Sample<T>*& samples) {
  if (!grid.usable()) return PTLITE_INDEX_RANGE;
  auto* memory = static_cast<Sample<T>*>(range_scratch(size_t(grid.count() + 1) * sizeof(Sample<T>)));
  if (!memory) return PTLITE_NO_MEMORY;
  grid.fill(f.height, f.width, memory);
  samples = memory;
  return PTLITE_OK;
}

template <class T>
struct Align {
  const roi_align_frame* f;
  int64_t bins = f->out_height * f->out_width;
  int64_t plane = f->height * f->width;

  int32_t region(int64_t k) const {
    const T* roi = (const T*)f->roi + 5 * k;
    const int64_t image = image_of(roi, f->batch);
    if (image < 0) return PTLITE_INDEX_RANGE;
    const T scale = T(f->scale), offset = f->aligned ? T(0.5) : T(0);
    const T left = roi[1] * scale - offset, top = roi[2] * scale - offset;
    T width = roi[3] * scale - offset - left, height = roi[4] * scale - offset - top;
    if (!f->aligned) {
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    const T bin_h = height / T(f->out_height), bin_w = width / T(f->out_width);
    const Grid<T> grid = grid_of(*f, top, left, bin_h, bin_w);
    const Sample<T>* samples;
    if (const int32_t status = take_samples(*f, grid, samples); status != PTLITE_OK) return status;
    average((const T*)f->in + image * f->channels * plane, (T*)f->out + k * f->channels * bins, samples, grid.per_bin());
    return PTLITE_OK;
  }

  void average(const T* planes, T* out, const Sample<T>* samples, int64_t per_bin) const {
    const T count = T(std::max(per_bin, int64_t(1)));
    Pace pace;
    for (int64_t c = 0; c < f->channels; c++) {
      const Sample<T>* s = samples;
      for (int64_t bin = 0; bin < bins; bin++) {
        pace.after(per_bin);
        T sum = 0;
        for (int64_t i = 0; i < per_bin; i++, s++) sum += s->of(planes + c * plane);
        out[c * bins + bin] = sum / count;
      }
    }
  }

  int32_t run() const {
    return f->channels == 0 ? PTLITE_OK : each_region(f->rois, f->channels * bins * 16, [&](int64_t k) { return region(k); });
  }
};

int32_t roi_align_run(roi_align_frame* f) { return f->dtype == elem::F64 ? Align<double>{f}.run() : Align<float>{f}.run(); }

// Each bin from a plane of its own.
template <class T>
struct PositionSensitive {
  const ps_roi_align_frame* f;
  int64_t bins = f->out_height * f->out_width;
  int64_t plane = f->height * f->width;

  int32_t region(int64_t k) const {
    const T* roi = (const T*)f->roi + 5 * k;
    const int64_t image = image_of(roi, f->batch);
    if (image < 0) return PTLITE_INDEX_RANGE;
    const T scale = T(f->scale), left = roi[1] * scale - T(0.5), top = roi[2] * scale - T(0.5);
    const T height = roi[4] * scale - T(0.5) - top, width = roi[3] * scale - T(0.5) - left;
    const T bin_h = height / T(f->out_height), bin_w = width / T(f->out_width);
    const Grid<T> grid = grid_of(*f, top, left, bin_h, bin_w);
    const Sample<T>* samples;
    if (const int32_t status = take_samples(*f, grid, samples); status != PTLITE_OK) return status;
    const T* planes = (const T*)f->in + image * f->channels * plane;
    T* out = (T*)f->out + k * f->channels;
    auto* mapping = (int32_t*)f->mapping + k * f->channels;
    // without samples in a reversed region or an empty one: negative, or 0
    const T count = f->sampling > 0 ? T(grid.per_bin()) : std::ceil(bin_h) * std::ceil(bin_w);
    Pace pace;
    for (int64_t c = 0; c < f->channels; c++) {
      pace.after(grid.per_bin());
      const Sample<T>* s = samples + c % bins * grid.per_bin();
      T sum = 0;
      for (int64_t i = 0; i < grid.per_bin(); i++) sum += s[i].of(planes + c * plane);
      out[c] = sum / count;
      mapping[c] = int32_t(c);
    }
    return PTLITE_OK;
  }

  int32_t run() const {
    // no channel, but as many bins as a frame says
    return f->channels == 0 ? PTLITE_OK : each_region(f->rois, f->channels * 16, [&](int64_t k) { return region(k); });
  }
};

int32_t ps_roi_align_run(ps_roi_align_frame* f) {
  return f->dtype == elem::F64 ? PositionSensitive<double>{f}.run() : PositionSensitive<float>{f}.run();
}

}  // namespace

PTLITE_KERNEL(roi_align, roi_align_run)
PTLITE_KERNEL(ps_roi_align, ps_roi_align_run)
