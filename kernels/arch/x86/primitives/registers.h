// The vector registers of a level of x86: 16 of 16 bytes at DEFAULT, 16 of 32 at AVX2, 32 of 64 from AVX512 on.
#pragma once

#include <immintrin.h>

#if defined(CPU_CAPABILITY_AVX512)
#define PTLITE_VEC_BYTES 64
#define PTLITE_VEC_REGISTERS 32
// The instruction of a level's width: PTLITE_MM(add_ps) is _mm512_add_ps. Those on all bits of a register have its width at their end, too.
#define PTLITE_MM(name) _mm512_##name
#define PTLITE_MM_BITS(name) _mm512_##name##_si512
#elif defined(CPU_CAPABILITY_AVX2)
#define PTLITE_VEC_BYTES 32
#define PTLITE_VEC_REGISTERS 16
#define PTLITE_MM(name) _mm256_##name
#define PTLITE_MM_BITS(name) _mm256_##name##_si256
#else
#define PTLITE_VEC_BYTES 16
#define PTLITE_VEC_REGISTERS 16
#define PTLITE_MM(name) _mm_##name
#define PTLITE_MM_BITS(name) _mm_##name##_si128
#endif

// 1 where a multiplication and an addition are one instruction with one rounding, into which the compiler may turn a * b + c.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
#define PTLITE_VEC_FUSED 1
#else
#define PTLITE_VEC_FUSED 0
#endif

// x = x, but the compiler does not know it: what was computed is rounded, and no part of a fused operation. A number or a vector.
#if defined(CPU_CAPABILITY_AVX512)
#define PTLITE_KEEP_ROUNDED(x) asm("" : "+v"(x))
#else
#define PTLITE_KEEP_ROUNDED(x) asm("" : "+x"(x))
#endif
