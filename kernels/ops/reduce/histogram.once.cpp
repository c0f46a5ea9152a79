#include <cmath>
#include <type_traits>

#include "frames/sort.h"
#include "dispatch/kernel.h"
#include "support/element.h"

namespace {

template <class S, class C>
void count_bins(const histogram_frame* f) {
  const S* in = (const S*)f->in;
  S* out = (S*)f->out;
  const C low = C(f->low), high = C(f->high);
  for (int64_t i = 0; i < f->count; i++) {
    const C x = elem::cast<C>(in[i]);
    if (!(x >= low && x <= high)) continue;
    const C place = (x - low) / (high - low) * C(f->bins);
    // a range that overflows makes NaN of it, which goes into the first bin
    const int64_t bin = place >= C(f->bins) ? f->bins - 1 : place > 0 ? int64_t(place) : 0;
    out[bin] = elem::to_stored<S, C>(elem::cast<C>(out[bin]) + C(1));
  }
}

int32_t histogram_run(histogram_frame* f) {
  switch (f->dtype) {
    case elem::F32: count_bins<float, float>(f); break;
    case elem::F64: count_bins<double, double>(f); break;
    default: return PTLITE_NO_DTYPE;
  }
  return PTLITE_OK;
}

int32_t bin_count_run(bin_count_frame* f) {
  const int64_t* in = (const int64_t*)f->in;
  const double* weights = (const double*)f->weights;
  for (int64_t i = 0; i < f->count; i++) {
    if (in[i] < 0 || in[i] >= f->bins) return PTLITE_INDEX_RANGE;
    if (weights) ((double*)f->out)[in[i]] += weights[i];
    else ((int64_t*)f->out)[in[i]]++;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(histogram, histogram_run)
PTLITE_KERNEL(bin_count, bin_count_run)
