// Losses that pick elements by target.
#include <cmath>
#include <limits>
#include <type_traits>

#include "frames/loss.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

template <class S, class C>
int32_t nll(nll_loss_frame* f) {
  const S* in = (const S*)f->in;
  const int64_t* target = (const int64_t*)f->target;
  const S* weight = (const S*)f->weight;
  S* each = (S*)f->out_each;
  double sum = 0, total = 0;
  for (int64_t n = 0; n < f->batch; n++)
    for (int64_t s = 0; s < f->positions; s++) {
      const int64_t t = *target++;
      C loss = 0;
      if (t != f->ignore_index) {
        if (t < 0 || t >= f->classes) return PTLITE_INDEX_RANGE;
        const C w = weight ? elem::cast<C>(weight[t]) : C(1);
        loss = -elem::cast<C>(in[(n * f->classes + t) * f->positions + s]) * w;
        sum += double(loss);
        total += double(w);
      }
      if (each) *each++ = elem::to_stored<S, C>(loss);
    }
  if (f->out_sum) *(S*)f->out_sum = elem::to_stored<S, C>(C(sum));
  if (f->out_mean) *(S*)f->out_mean = elem::to_stored<S, C>(C(sum / total));
  if (f->out_weight) *(S*)f->out_weight = elem::to_stored<S, C>(C(total));
  return PTLITE_OK;
}

template <class F>
int32_t by_float(int32_t dtype, F&& f) {
  switch (dtype) {
    PTLITE_HELD_CASE(elem::F64, PTLITE_NO_DTYPE) return f(static_cast<double*>(nullptr), double());
    PTLITE_HELD_CASE(elem::F16, PTLITE_NO_DTYPE) return f(static_cast<elem::f16*>(nullptr), float());
    PTLITE_HELD_CASE(elem::BF16, PTLITE_NO_DTYPE) return f(static_cast<elem::bf16*>(nullptr), float());
    default: return f(static_cast<float*>(nullptr), float());
  }
}

int32_t nll_loss_run(nll_loss_frame* f) {
  return by_float(f->dtype, [&](auto* type, auto compute) {
    return nll<std::remove_pointer_t<decltype(type)>, decltype(compute)>(f);
  });
}

template <class S, class C>
int32_t margins(margin_loss_frame* f) {
  const int64_t classes = f->classes;
  ptlite::Pace pace;
  for (int64_t n = 0; n < f->batch; n++) {
    const S* x = (const S*)f->in + n * classes;
    const S* weight = (const S*)f->weight;
    const int64_t* target = (const int64_t*)f->target + (f->multilabel ? n * classes : n);
    double sum = 0;
    const int64_t labels = f->multilabel ? classes : 1;
    for (int64_t l = 0; l < labels; l++) {
      const int64_t t = target[l];
      if (f->multilabel && t < 0) break;
      if (t < 0 || t >= classes) return PTLITE_INDEX_RANGE;
      for (int64_t c = 0; c < classes; c++) {
        bool wanted = c == t;
        for (int64_t k = 0; f->multilabel && !wanted && k < classes && target[k] >= 0; k++) wanted = target[k] == c;
        pace.after(f->multilabel ? classes : 1);
        if (wanted) continue;
        const double z = f->margin - elem::cast<double>(x[t]) + elem::cast<double>(x[c]);
        if (z > 0) sum += (f->p == 1 ? z : std::pow(z, f->p)) * (weight ? elem::cast<double>(weight[t]) : 1.0);
      }
    }
    ((S*)f->out)[n] = elem::to_stored<S, C>(C(sum / double(classes)));
  }
  return PTLITE_OK;
}

int32_t margin_loss_run(margin_loss_frame* f) {
  return by_float(f->dtype, [&](auto* type, auto compute) {
    return margins<std::remove_pointer_t<decltype(type)>, decltype(compute)>(f);
  });
}

}  // namespace

PTLITE_KERNEL(nll_loss, nll_loss_run)
PTLITE_KERNEL(margin_loss, margin_loss_run)
