// The vector registers of 64-bit Arm: 32 of 16 bytes. A vector is one register at every level: what GCC makes of wider ones goes through memory.
// Tiles of products are larger instead, which gives as many independent sums.
#pragma once

#include <arm_neon.h>

#define PTLITE_VEC_BYTES 16
#define PTLITE_VEC_REGISTERS 32

// 1 where a multiplication and an addition are one instruction with one rounding, into which the compiler may turn a * b + c.
#define PTLITE_VEC_FUSED 1

// x = x, but the compiler does not know it: what was computed is rounded, and no part of a fused operation. A number or a vector.
#define PTLITE_KEEP_ROUNDED(x) asm("" : "+w"(x))
