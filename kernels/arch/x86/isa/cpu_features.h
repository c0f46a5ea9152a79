// CPU features by their CPUID bits: X(name, leaf, subleaf, register, bit), register 0 = eax, 1 = ebx, 2 = ecx, 3 = edx.
// The order is the order in which they are listed to users.
#pragma once

#define PTLITE_FOR_EACH_FEATURE(X) \
  X(mmx, 1, 0, 3, 23)              \
  X(sse, 1, 0, 3, 25)              \
  X(sse2, 1, 0, 3, 26)             \
  X(sse3, 1, 0, 2, 0)              \
  X(ssse3, 1, 0, 2, 9)             \
  X(sse4_1, 1, 0, 2, 19)           \
  X(sse4_2, 1, 0, 2, 20)           \
  X(aes_ni, 1, 0, 2, 25)           \
  X(sha, 7, 0, 1, 29)              \
  X(xsave, 1, 0, 2, 26)            \
  X(fma, 1, 0, 2, 12)              \
  X(f16c, 1, 0, 2, 29)             \
  X(bmi2, 7, 0, 1, 8)              \
  X(lzcnt, 0x80000001, 0, 2, 5)    \
  X(avx, 1, 0, 2, 28)              \
  X(avx2, 7, 0, 1, 5)              \
  X(avx_vnni, 7, 1, 0, 4)          \
  X(avx512_f, 7, 0, 1, 16)         \
  X(avx512_cd, 7, 0, 1, 28)        \
  X(avx512_pf, 7, 0, 1, 26)        \
  X(avx512_er, 7, 0, 1, 27)        \
  X(avx512_vl, 7, 0, 1, 31)        \
  X(avx512_bw, 7, 0, 1, 30)        \
  X(avx512_dq, 7, 0, 1, 17)        \
  X(avx512_ifma, 7, 0, 1, 21)      \
  X(avx512_vbmi, 7, 0, 2, 1)       \
  X(avx512_vpopcntdq, 7, 0, 2, 14) \
  X(avx512_4fmaps, 7, 0, 3, 3)     \
  X(avx512_4vnniw, 7, 0, 3, 2)     \
  X(avx512_vbmi2, 7, 0, 2, 6)      \
  X(avx512_vpclmul, 7, 0, 2, 10)   \
  X(avx512_vnni, 7, 0, 2, 11)      \
  X(avx512_bitalg, 7, 0, 2, 12)    \
  X(avx512_fp16, 7, 0, 3, 23)      \
  X(avx512_bf16, 7, 1, 0, 5)       \
  X(avx512_vp2intersect, 7, 0, 3, 8) \
  X(amx_bf16, 7, 0, 3, 22)         \
  X(amx_tile, 7, 0, 3, 24)         \
  X(amx_int8, 7, 0, 3, 25)         \
  X(prefetchw, 0x80000001, 0, 2, 8) \
  X(prefetchwt1, 7, 0, 2, 0)
