// isa: AVX512_BF16, AMX, BF16
// Products of bfloat16 matrices with any strides.
#include "frames/bfloat16.h"
#include "dispatch/kernel.h"
#include "ops/gemm/bfloat16_product.h"

namespace {

using namespace ptlite::bf16;
using ptlite::bfloat16;

const bfloat16* elements(uint64_t address) { return reinterpret_cast<const bfloat16*>(address); }

int32_t gemm(bfloat16_gemm_frame* f) {
  for (int64_t i = 0; i < f->batch; i++) {
    const Strided a{elements(f->a) + i * f->a_batch, f->a_row, f->a_col};
    const Strided b{elements(f->b) + i * f->b_batch, f->b_row, f->b_col};
    const Addend e{{f->source == 0 ? nullptr : elements(f->source) + i * f->source_batch, f->source_row, f->source_col}, f->alpha, f->beta};
    auto* c = reinterpret_cast<bfloat16*>(f->c) + i * f->c_batch;
    const int64_t depth = round_up(f->k, kStep);
    const auto pack = [&](int64_t n0, int64_t cols, int64_t width, bfloat16* panel) { pack_panel(b, f->k, depth, n0, cols, width, panel); };
    if (!product(f->m, f->n, f->k, a, pack, e, c, f->c_row)) return PTLITE_NO_MEMORY;
  }
  return PTLITE_OK;
}

int32_t by_pairs(bfloat16_gemm_frame* f) { return run_by_pairs(f, gemm); }

}  // namespace

PTLITE_KERNEL(bfloat16_gemm, by_pairs)
