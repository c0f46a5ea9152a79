// Weights of 4 bits in the forms that PyTorch packs them in for its CPU products. A form is the number of rows that lie
// together and which of them share a byte.
#include "frames/weight_only.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

namespace {

struct Form {
  int64_t n, k, block;
  bool halves;

  // Visits block after block: visit(first row, rows, first byte, whether the block's halves share bytes).
  template <class F>
  void each_block(const F& visit) const {
    for (int64_t n0 = 0; n0 < n; n0 += block) {
      const int64_t rows = n - n0 < block ? n - n0 : block;
      visit(n0, rows, n0 * k / 2, halves && rows == block);
    }
  }
};

// The row of a block whose value has the low bits of byte j, and the one that has the high bits.
struct Pair {
  int64_t low, high;
  Pair(int64_t j, int64_t rows, bool by_halves) : low(by_halves ? j : 2 * j), high(by_halves ? j + rows / 2 : 2 * j + 1) {}
};

// Packs what get(row, k) gives.
template <class Get>
void pack(const Form& form, uint8_t* out, const Get& get) {
  form.each_block([&](int64_t n0, int64_t rows, int64_t at, bool by_halves) {
    for (int64_t k = 0; k < form.k; k++) {
      for (int64_t j = 0; j < rows / 2; j++) {
        const Pair pair(j, rows, by_halves);
        out[at + k * rows / 2 + j] = static_cast<uint8_t>(get(n0 + pair.high, k) << 4 | get(n0 + pair.low, k));
      }
    }
  });
}

int32_t int4_pack(int4_pack_frame* f) {
  const auto* w = reinterpret_cast<const int32_t*>(f->w);
  pack({f->n, f->k, f->block, f->halves != 0}, reinterpret_cast<uint8_t*>(f->out), [&](int64_t n, int64_t k) { return static_cast<uint32_t>(w[n * f->k + k]); });
  return PTLITE_OK;
}

// A number of packed weights, from 0 to 15.
uint32_t number_at(const Form& form, const uint8_t* w, int64_t n, int64_t k) {
  const int64_t n0 = n / form.block * form.block, rows = form.n - n0 < form.block ? form.n - n0 : form.block;
  const int64_t row = n - n0, half = rows / 2;
  const bool by_halves = form.halves && rows == form.block;
  const int64_t j = by_halves ? row % half : row / 2;
  const bool high = by_halves ? row >= half : row % 2 == 1;
  return static_cast<uint32_t>(w[n0 * form.k / 2 + k * half + j]) >> (high ? 4 : 0) & 15;
}

int32_t int4_repack(int4_repack_frame* f) {
  const auto* w = reinterpret_cast<const uint8_t*>(f->w);
  const Form from{f->n, f->k, f->block, f->halves != 0};
  pack({f->n, f->k, f->to_block, f->to_halves != 0}, reinterpret_cast<uint8_t*>(f->out), [&](int64_t n, int64_t k) { return number_at(from, w, n, k); });
  return PTLITE_OK;
}

int32_t int4_unpack(int4_unpack_frame* f) {
  const auto* w = reinterpret_cast<const uint8_t*>(f->w);
  auto* out = reinterpret_cast<int8_t*>(f->out);
  const Form form{f->n, f->k, f->block, f->halves != 0};
  for (int64_t n = 0; n < f->n; n++) {
    ptlite::poll();
    for (int64_t k = 0; k < f->k; k++) out[n * f->k + k] = static_cast<int8_t>(static_cast<int32_t>(number_at(form, w, n, k)) - 8);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(int4_pack, int4_pack)
PTLITE_KERNEL(int4_repack, int4_repack)
PTLITE_KERNEL(int4_unpack, int4_unpack)
