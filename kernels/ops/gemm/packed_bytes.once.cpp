#include "ops/gemm/packed_product.h"

// the lowest level registers one, too
PTLITE_DEFINE_STUB(packed_bytes, nullptr)
