// Packs weights that are integers already.
#include <string.h>

#include "dispatch/kernel.h"
#include "ops/gemm/packed_weight.h"
#include "pool/budget.h"

namespace {

using namespace ptlite;

// Numbers of rows n0.. as they lie in a block.
void pack_block(const PackedWeight& w, const int8_t* src, int64_t n0, int64_t rows, int64_t b, uint8_t* out) {
  // what fills a block up is zero, which is 8 in 4 bits
  memset(out, w.format == WeightFormat_int4 ? 0x88 : 0, static_cast<size_t>(w.block_bytes()));
  const int count = static_cast<int>(w.k - b * kBlock < kBlock ? w.k - b * kBlock : kBlock);
  for (int r = 0; r < rows; r++) {
    const int8_t* row = src + (n0 + r) * w.k + b * kBlock;
    for (int i = 0; i < count; i++) {
      if (w.format == WeightFormat_int8) {
        out[int8_place(i, r)] = static_cast<uint8_t>(row[i]);
        continue;
      }
      uint8_t& both = out[int4_place(i, r)];
      const int number = (row[i] + 8) & 15;
      both = static_cast<uint8_t>(int4_is_high(i) ? (both & 15) | number << 4 : (both & 0xf0) | number);
    }
  }
}

int32_t weight_pack_integers(weight_pack_integers_frame* f) {
  const PackedWeight w(*f, f->dst);
  const auto* src = reinterpret_cast<const int8_t*>(f->src);
  const int64_t groups = w.groups(), scale_bytes = w.scale_bytes(), zero_bytes = w.zero_bytes();
  for (int64_t p = 0; p < w.panels(); p++) {
    poll();
    const int64_t n0 = p * kPanel, rows = w.n - n0 < kPanel ? w.n - n0 : kPanel;
    for (int64_t b = 0; b < w.blocks(); b++) pack_block(w, src, n0, rows, b, w.block(p, b));
    // rows that lack have scales of zero
    const auto place = [&](uint8_t* out, uint64_t from, int64_t size) {
      memset(out, 0, static_cast<size_t>(groups * kPanel * size));
      const auto* values = reinterpret_cast<const uint8_t*>(from);
      for (int64_t g = 0; g < groups; g++)
        for (int64_t r = 0; r < rows; r++)
          memcpy(out + (g * kPanel + r) * size, values + ((n0 + r) * groups + g) * size, static_cast<size_t>(size));
    };
    place(w.scales(p, 0), f->scales, scale_bytes);
    if (w.zero != ZeroPoints_none) place(w.zeros(p, 0), f->zeros, zero_bytes);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(weight_pack_integers, weight_pack_integers)
