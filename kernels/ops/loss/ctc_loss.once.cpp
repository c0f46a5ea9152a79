// Connectionist temporal classification, forward variables in the log domain (Graves et al. 2006).
#include <cmath>
#include <limits>

#include "frames/loss.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

template <class T>
struct Forward {
  ctc_loss_frame* f;

  static constexpr T kNever = -std::numeric_limits<T>::infinity();

  int64_t label(int64_t at) const {
    return f->target_dtype == elem::I32 ? ((const int32_t*)f->targets)[at] : ((const int64_t*)f->targets)[at];
  }

  int32_t run() {
    const int64_t states = 2 * f->longest + 1;
    ptlite::Pace pace;
    for (int64_t n = 0; n < f->batch; n++) {
      const int64_t time = ((const int64_t*)f->input_lengths)[n], length = ((const int64_t*)f->target_lengths)[n];
      const int64_t first = ((const int64_t*)f->target_offsets)[n];
      const T* in = (const T*)f->in + n * f->batch_stride;
      T* alpha = (T*)f->alpha + n * f->time * states;
      for (int64_t i = 0; i < f->time * states; i++) alpha[i] = kNever;
      for (int64_t s = 0; s < length; s++) {
        const int64_t l = label(first + s * f->target_step);
        if (l < 0 || l >= f->classes) return PTLITE_INDEX_RANGE;
      }
      const int64_t used = 2 * length + 1;
      // even states are blanks, odd ones labels
      auto class_of = [&](int64_t s) { return s % 2 == 0 ? f->blank : label(first + (s / 2) * f->target_step); };
      T* out = (T*)f->out + n;
      if (time == 0) {
        *out = length == 0 ? T(0) : -kNever;
        continue;
      }
      for (int64_t s = 0; s < 2 && s < used; s++) alpha[s] = in[class_of(s) * f->class_stride];
      for (int64_t t = 1; t < time; t++) {
        pace.after(16 * used);
        const T* before = alpha + (t - 1) * states;
        T* now = alpha + t * states;
        const T* x = in + t * f->time_stride;
        for (int64_t s = 0; s < used; s++) {
          const T a = before[s], b = s > 0 ? before[s - 1] : kNever;
          const T c = s > 1 && s % 2 == 1 && class_of(s) != class_of(s - 2) ? before[s - 2] : kNever;
          T most = a > b ? a : b;
          most = c > most ? c : most;
          const T base = most == kNever ? T(0) : most;
          now[s] = std::log(std::exp(a - base) + std::exp(b - base) + std::exp(c - base)) + base + x[class_of(s) * f->class_stride];
        }
      }
      const T* last = alpha + (time - 1) * states;
      const T a = last[used - 1], b = length > 0 ? last[used - 2] : kNever;
      const T most = a > b ? a : b, base = most == kNever ? T(0) : most;
      *out = -(std::log(std::exp(a - base) + std::exp(b - base)) + base);
    }
    return PTLITE_OK;
  }
};

int32_t ctc_loss_run(ctc_loss_frame* f) { return f->dtype == elem::F64 ? Forward<double>{f}.run() : Forward<float>{f}.run(); }

}  // namespace

PTLITE_KERNEL(ctc_loss, ctc_loss_run)
