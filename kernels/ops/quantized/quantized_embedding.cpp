// Sums of rows of embedding tables of 8, 4 and 2 bits.
#include <stdint.h>
#include <string.h>

#include "frames/quantized_embedding.h"
#include "dispatch/kernel.h"
#include "vec/half.h"

namespace {

using namespace ptlite;

int64_t integer_at(const void* list, bool wide, int64_t i) {
  return wide ? static_cast<const int64_t*>(list)[i] : static_cast<const int32_t*>(list)[i];
}

template <int bits>
void add_row(const uint8_t* row, int64_t width, float weight, float* sum) {
  constexpr int64_t per_byte = 8 / bits;
  const uint8_t* end = row + (width + per_byte - 1) / per_byte;
  float scale, bias;
  if (bits == 8) {
    memcpy(&scale, end, 4);
    memcpy(&bias, end + 4, 4);
  } else {
    float16 halves[2];
    memcpy(halves, end, 4);
    scale = to_float(halves[0]);
    bias = to_float(halves[1]);
  }
  scale *= weight;
  bias *= weight;
  for (int64_t i = 0; i < width; i++) {
    const int32_t q = bits == 8 ? row[i] : (row[i / per_byte] >> (i % per_byte * bits)) & ((1 << bits) - 1);
    sum[i] += scale * static_cast<float>(q) + bias;
  }
}

void add(const embedding_rows_frame* f, int64_t row, float weight, float* sum) {
  const auto* at = reinterpret_cast<const uint8_t*>(f->table) + row * f->row_bytes;
  if (f->bits == 8) add_row<8>(at, f->width, weight, sum);
  else if (f->bits == 4) add_row<4>(at, f->width, weight, sum);
  else add_row<2>(at, f->width, weight, sum);
}

int32_t embedding_rows(embedding_rows_frame* f) {
  const auto* indices = reinterpret_cast<const void*>(f->indices);
  const auto* offsets = reinterpret_cast<const void*>(f->offsets);
  const auto* weights = reinterpret_cast<const float*>(f->weights);
  const auto* mapping = reinterpret_cast<const int32_t*>(f->mapping);
  auto* out = reinterpret_cast<float*>(f->out);
  f->culprit = -1;
  int64_t from = 0;
  for (int64_t b = 0; b < f->bags; b++, out += f->width) {
    int64_t to = from + f->bag_size;
    if (offsets != nullptr) {
      from = integer_at(offsets, f->wide_offsets, b);
      to = b + 1 < f->offset_count ? integer_at(offsets, f->wide_offsets, b + 1) : f->count;
      if (from < 0 || to < from || to > f->count || (b == 0 && from != 0)) {
        f->culprit = -2 - b;
        return 0;
      }
    }
    memset(out, 0, static_cast<size_t>(f->width) * 4);
    for (int64_t i = from; i < to; i++) {
      int64_t row = integer_at(indices, f->wide_indices, i);
      if (mapping != nullptr && row >= 0 && row < f->mapping_size) {
        row = mapping[row];
        if (row == -1) continue;
      } else if (mapping != nullptr) {
        row = -1;
      }
      if (row < 0 || row >= f->rows) {
        f->culprit = i;
        return 0;
      }
      add(f, row, weights == nullptr ? 1.0f : weights[i], out);
    }
    from = to;
  }
  return 0;
}

}  // namespace

PTLITE_KERNEL(embedding_rows, embedding_rows)
