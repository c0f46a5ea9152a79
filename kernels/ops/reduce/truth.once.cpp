// Logic of bool tensors. Bytes are taken as they are, without the detour by a type to compute in.
#include "frames/truth.h"
#include "dispatch/kernel.h"

namespace {

template <class F>
void each(const truth_frame* f, F op) {
  const auto* a = reinterpret_cast<const uint8_t*>(f->a);
  const auto* b = reinterpret_cast<const uint8_t*>(f->b);
  auto* out = reinterpret_cast<uint8_t*>(f->out);
  const int64_t n = f->n;
  for (int64_t i = 0; i < n; i++) out[i] = op(a[i] != 0, b[i] != 0) ? 1 : 0;
}

int32_t truth(truth_frame* f) {
  switch (f->op) {
    case TruthOp_and: each(f, [](bool a, bool b) { return a & b; }); break;
    case TruthOp_or: each(f, [](bool a, bool b) { return a | b; }); break;
    case TruthOp_xor: each(f, [](bool a, bool b) { return a ^ b; }); break;
    default: f->b = f->a; each(f, [](bool a, bool) { return !a; }); break;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(truth, truth)
