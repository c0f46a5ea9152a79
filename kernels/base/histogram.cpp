#include <cmath>
#include <type_traits>

#include "frames/sort.h"
#include "isa/kernel.h"
#include "support/element.h"

namespace {

/// Edge i of `bins` equal bins, computed from the nearer end as torch.linspace does.
template <class C>
C edge(int64_t i, int64_t bins, C low, C high) {
  const C step = (high - low) / C(bins);
  return i < (bins + 1) / 2 ? low + step * C(i) : high - step * C(bins - i);
}

template <class S, class C>
void count_bins(const histogram_frame* f) {
  const S* in = (const S*)f->in;
  S* out = (S*)f->out;
  const C low = C(f->low), high = C(f->high);
  for (int64_t i = 0; i < f->count; i++) {
    const C x = elem::cast<C>(in[i]);
    if (!(x >= low && x <= high)) continue;
    int64_t bin = int64_t((x - low) * C(f->bins) / (high - low));
    // rounding may have put x one bin off; the edges decide
    if (bin >= f->bins) bin = f->bins - 1;
    while (bin > 0 && x < edge<C>(bin, f->bins, low, high)) bin--;
    while (bin + 1 < f->bins && x >= edge<C>(bin + 1, f->bins, low, high)) bin++;
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
