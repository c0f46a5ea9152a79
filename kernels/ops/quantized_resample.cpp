// Bilinear resampling of quantized images by tables of source positions.
#include <stdint.h>

#include "frames/quantized_spatial.h"
#include "isa/kernel.h"

namespace {

constexpr int32_t kQInt8 = 12;

template <class T>
void bilinear(const quantized_bilinear_frame* f) {
  const auto* row = reinterpret_cast<const int32_t*>(f->row);
  const auto* row_step = reinterpret_cast<const int32_t*>(f->row_step);
  const auto* row_share = reinterpret_cast<const float*>(f->row_share);
  const auto* column = reinterpret_cast<const int32_t*>(f->column);
  const auto* column_step = reinterpret_cast<const int32_t*>(f->column_step);
  const auto* column_share = reinterpret_cast<const float*>(f->column_share);
  constexpr float low = T(-1) < T(0) ? -128 : 0, high = low + 255;
  // copies: a store of bytes might change the frame for all the compiler knows
  const int64_t ci = f->in_strides[1], co = f->out_strides[1], channels = f->channels;
  for (int64_t n = 0; n < f->batch; n++) {
    for (int64_t h = 0; h < f->out_size[1]; h++) {
      const float below = row_share[h], above = 1.0f - below;
      const int64_t down = row_step[h] * f->in_strides[3];
      const T* line = reinterpret_cast<const T*>(f->in) + n * f->in_strides[0] + row[h] * f->in_strides[3];
      T* out = reinterpret_cast<T*>(f->out) + n * f->out_strides[0] + h * f->out_strides[3];
      for (int64_t w = 0; w < f->out_size[2]; w++, out += f->out_strides[4]) {
        const float right = column_share[w], left = 1.0f - right;
        const int64_t next = column_step[w] * f->in_strides[4];
        const T* p = line + column[w] * f->in_strides[4];
        for (int64_t c = 0; c < channels; c++) {
          const T* x = p + c * ci;
          const float top = left * x[0] + right * x[next], bottom = left * x[down] + right * x[down + next];
          const float q = __builtin_rintf(above * top + below * bottom);
          out[c * co] = static_cast<T>(static_cast<int32_t>(q < low ? low : q > high ? high : q));
        }
      }
    }
  }
}

int32_t run(quantized_bilinear_frame* f) {
  if (f->dtype == kQInt8) bilinear<int8_t>(f);
  else bilinear<uint8_t>(f);
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantized_bilinear, run)
