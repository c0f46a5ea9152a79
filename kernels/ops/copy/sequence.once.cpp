// arange, linspace and logspace. Equally spaced values are counted from the nearer end, which makes both ends exact.
#include <math.h>

#include <type_traits>

#include "frames/sequence.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/truncated.h"

namespace {

// T is the element type, S the type that PyTorch computes the step in.
template <typename T, typename S>
void fill(const sequence_frame* f) {
  T* out = reinterpret_cast<T*>(f->out);
  const int64_t n = f->count;
  const S start = static_cast<S>(f->start);
  const S end = static_cast<S>(f->end);
  if (f->op == SequenceOp_arithmetic) {
    ptlite::in_pieces(n, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) out[i] = ptlite::truncated<T>(f->start + f->step * static_cast<double>(i));
    });
    return;
  }
  const S step = n > 1 ? (end - start) / static_cast<S>(n - 1) : S{0};
  const int64_t half = n > 1 ? n / 2 : n;
  // integers are computed as PyTorch's compiler does, with one rounding
  const auto along = [&](int64_t i) {
    const S steps = static_cast<S>(i < half ? i : i - (n - 1)), from = i < half ? start : end;
    return std::is_integral<T>::value ? static_cast<S>(fma(step, steps, from)) : from + step * steps;
  };
  ptlite::Pace pace;
  int64_t i = 0;
  if (f->lanes > 0) {
    // whole pairs of vectors step on from their first element, which was truncated
    const int64_t vectors = n - n % (2 * f->lanes);
    for (; i < vectors; i += f->lanes) {
      pace.after(f->lanes);
      const S first = static_cast<S>(ptlite::truncated<T>(along(i)));
      for (int64_t k = 0; k < f->lanes; ++k) out[i + k] = ptlite::truncated<T>(fma(static_cast<S>(k), step, first));
    }
  }
  for (; i < n; ++i) {
    pace.after(1);
    out[i] = ptlite::truncated<T>(f->op == SequenceOp_spaced ? along(i) : pow(static_cast<S>(f->base), along(i)));
  }
}

int32_t sequence(sequence_frame* f) {
  switch (f->dtype) {
    PTLITE_HELD_CASE(PTLITE_FLOAT32, PTLITE_NO_DTYPE) { fill<float, float>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(PTLITE_FLOAT64, PTLITE_NO_DTYPE) { fill<double, double>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(PTLITE_INT64, PTLITE_NO_DTYPE) { fill<int64_t, double>(f); return PTLITE_OK; }
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(sequence, sequence)
