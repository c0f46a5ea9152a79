#include "generated/custom_kernels.h"

int32_t scale_shift(scale_shift_frame* f) {
  const float* in = reinterpret_cast<const float*>(f->in);
  float* out = reinterpret_cast<float*>(f->out);
  for (int64_t i = 0; i < f->n; i++) out[i] = in[i] * f->scale + f->shift;
  return PTLITE_OK;
}

PTLITE_KERNEL_LIBRARY
