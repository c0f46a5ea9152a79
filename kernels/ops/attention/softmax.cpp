// Softmax and log-softmax. Along the last dimension a row is one run of vectors; along any other, the vectors lie
// across the dimension.
#include "frames/softmax.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <limits>

#include "softmax_row.h"
#include "vec/math.h"
#include "vec/vec.h"

namespace {

using ptlite::softmax_row;
using ptlite::Vec;

template <class T>
void softmax_across(const T* x, T* out, int64_t size, int64_t inner, bool log) {
  constexpr int L = Vec<T>::size;
  for (int64_t i = 0; i < inner; i += L) {
    const int64_t lanes = inner - i;
    Vec<T> top(-std::numeric_limits<T>::infinity());
    for (int64_t s = 0; s < size; s++) top = maximum(Vec<T>::load(x + s * inner + i, lanes), top);
    Vec<T> sum = Vec<T>::zero();
    for (int64_t s = 0; s < size; s++) {
      const Vec<T> e = exp(Vec<T>::load(x + s * inner + i, lanes) - top);
      sum += e;
      if (!log) e.store(out + s * inner + i, lanes);
    }
    if (log) {
      const Vec<T> shift = ptlite::log(sum);
      for (int64_t s = 0; s < size; s++) (Vec<T>::load(x + s * inner + i, lanes) - top - shift).store(out + s * inner + i, lanes);
    } else {
      const Vec<T> scale = Vec<T>(T(1)) / sum;
      for (int64_t s = 0; s < size; s++) (Vec<T>::load(out + s * inner + i, lanes) * scale).store(out + s * inner + i, lanes);
    }
  }
}

template <class T>
int32_t softmax(const softmax_frame& f) {
  const T* in = reinterpret_cast<const T*>(f.input);
  T* out = reinterpret_cast<T*>(f.output);
  const int64_t step = f.size * f.inner;
  // an exponential costs about as much as ten additions
  ptlite::parallel_for(f.outer, ptlite::grain_for(10 * step), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; o++) {
      if (f.inner == 1) softmax_row<T>(in + o * step, out + o * step, f.size, f.log != 0);
      else softmax_across<T>(in + o * step, out + o * step, f.size, f.inner, f.log != 0);
    }
  });
  return PTLITE_OK;
}

int32_t softmax_kernel(softmax_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return softmax<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return softmax<double>(*f);
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(softmax, softmax_kernel)
