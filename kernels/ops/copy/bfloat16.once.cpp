#include "support/bfloat16.h"

#include "vec/half.h"

namespace {

void reference(void* to, const float* from, int64_t n) {
  auto* out = static_cast<ptlite::bfloat16*>(to);
  for (int64_t i = 0; i < n; i++) out[i] = ptlite::to_bfloat16(from[i]);
}

}  // namespace

PTLITE_DEFINE_STUB(float_to_bfloat16, &reference)
