// Rows of packed weights as floats: what an embedding reads.
#include "dispatch/kernel.h"
#include "ops/gemm/packed_weight.h"
#include "pool/budget.h"
#include "support/float16_bits.h"

namespace {

using namespace ptlite;

constexpr int32_t kInt64 = 4;

// A scale or an offset.
float number_at(const uint8_t* at, int r, int32_t scale) {
  if (scale == ScaleFormat_float32) return reinterpret_cast<const float*>(at)[r];
  const uint16_t bits = reinterpret_cast<const uint16_t*>(at)[r];
  return scale == ScaleFormat_bfloat16 ? bfloat16_to_float(bits) : float16_bits_to_float(bits);
}

void row_of(const PackedWeight& w, int64_t n, float* out) {
  const int64_t panel = n / kPanel, span = w.span();
  const int r = static_cast<int>(n % kPanel);
  for (int64_t b = 0; b < w.blocks(); b++) {
    const uint8_t* block = w.block(panel, b);
    float scale = 1, zero = 0, offset = 0;
    if (!w.floats()) {
      scale = number_at(w.scales(panel, b / span), r, w.scale);
      if (w.zero == ZeroPoints_integers) zero = static_cast<float>(reinterpret_cast<const int8_t*>(w.zeros(panel, b / span))[r]);
      if (w.zero == ZeroPoints_offsets) offset = number_at(w.zeros(panel, b / span), r, w.scale);
    }
    const int count = static_cast<int>(w.k - b * kBlock < kBlock ? w.k - b * kBlock : kBlock);
    for (int i = 0; i < count; i++) {
      float value;
      if (w.format == WeightFormat_bfloat16) value = bfloat16_to_float(reinterpret_cast<const uint16_t*>(block)[i * kPanel + r]);
      else if (w.format == WeightFormat_float16) value = float16_bits_to_float(reinterpret_cast<const uint16_t*>(block)[i * kPanel + r]);
      else if (w.format == WeightFormat_int8) value = scale * (static_cast<float>(static_cast<int8_t>(block[int8_place(i, r)])) - zero) + offset;
      else value = scale * (static_cast<float>((block[int4_place(i, r)] >> (int4_is_high(i) ? 4 : 0) & 15) - 8) - zero) + offset;
      out[b * kBlock + i] = value;
    }
  }
}

int32_t weight_rows(weight_rows_frame* f) {
  const PackedWeight w(*f, f->weight);
  auto* out = reinterpret_cast<float*>(f->out);
  for (int64_t i = 0; i < f->count; i++) {
    poll();
    int64_t n = i;
    if (f->indices != 0) n = f->index_dtype == kInt64 ? reinterpret_cast<const int64_t*>(f->indices)[i] : reinterpret_cast<const int32_t*>(f->indices)[i];
    if (n < 0 || n >= f->n) return PTLITE_INDEX_RANGE;
    row_of(w, n, out + i * f->k);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(weight_rows, weight_rows)
