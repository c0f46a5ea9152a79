#include "ops/gemm/packed_product.h"

namespace {

bool no_pairs(const ptlite::RowsTask*) { return false; }

}  // namespace

// the lowest level registers one, too
PTLITE_DEFINE_STUB(packed_bytes, nullptr)
PTLITE_DEFINE_STUB(packed_pairs, &no_pairs)
