// The vectors that code for any processor is written with: 16 bytes, which the compiler maps to what there is.
#pragma once

#define PTLITE_VEC_BYTES 16
#define PTLITE_VEC_REGISTERS 16

// 1 where a multiplication and an addition are one instruction with one rounding, into which the compiler may turn a * b + c.
#if defined(__aarch64__)
#define PTLITE_VEC_FUSED 1
#else
#define PTLITE_VEC_FUSED 0
#endif

// x = x, but the compiler does not know it: what was computed is rounded, and no part of a fused operation. A number or a vector.
#define PTLITE_KEEP_ROUNDED(x)          \
  do {                                  \
    volatile decltype(x) rounded = (x); \
    (x) = rounded;                      \
  } while (0)
