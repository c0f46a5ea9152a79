// float32 to bfloat16 at the best level there is: to[i] = from[i] rounded to nearest even, for i < n. NaN gives 0x7fc0,
// infinities and denormals are kept; every level gives the same bits.
#pragma once

#include "dispatch/stub.h"

PTLITE_DECLARE_STUB(float_to_bfloat16, void (*)(void* to, const float* from, int64_t n));
