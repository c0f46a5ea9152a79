// isa: AVX512_BF16, BF16
#include "support/bfloat16.h"

#include "dispatch/kernel.h"
#include "vec/half.h"

namespace {

void convert(void* to, const float* from, int64_t n) {
  using F = ptlite::Vec<float>;
  auto* out = static_cast<ptlite::bfloat16*>(to);
  int64_t i = 0;
  for (; i + F::size <= n; i += F::size) store_float(out + i, F::load(from + i));
  if (i < n) store_float(out + i, F::load(from + i, n - i), n - i);
}

}  // namespace

PTLITE_REGISTER_STUB(float_to_bfloat16, &convert)
