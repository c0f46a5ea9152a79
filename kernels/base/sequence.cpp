// arange, linspace and logspace. Equally spaced values are counted from the nearer end, which makes both ends exact.
#include <math.h>

#include "frames/sequence.h"
#include "isa/kernel.h"

namespace {

// T is the element type, S the type that PyTorch computes the step in.
template <typename T, typename S>
void fill(const sequence_frame* f) {
  T* out = reinterpret_cast<T*>(f->out);
  const int64_t n = f->count;
  const S start = static_cast<S>(f->start);
  const S end = static_cast<S>(f->end);
  if (f->op == SequenceOp_arithmetic) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(f->start + f->step * static_cast<double>(i));
    return;
  }
  const S step = n > 1 ? (end - start) / static_cast<S>(n - 1) : S{0};
  const int64_t half = n > 1 ? n / 2 : n;
  for (int64_t i = 0; i < n; ++i) {
    const S value = i < half ? start + step * static_cast<S>(i) : end - step * static_cast<S>(n - 1 - i);
    out[i] = f->op == SequenceOp_spaced ? static_cast<T>(value) : static_cast<T>(pow(static_cast<S>(f->base), value));
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
