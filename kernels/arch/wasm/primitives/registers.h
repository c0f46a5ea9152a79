// Vectors of 16 bytes. An engine gives them the registers of the processor: on x86 16, one of which it keeps for itself.
#pragma once

#define PTLITE_VEC_BYTES 16
#define PTLITE_VEC_REGISTERS 16

// The compiler makes no multiply-add of a * b + c: accumulate and multiply_add do.
#define PTLITE_VEC_FUSED 0

// Defined where arch::multiplied_and_added is one instruction.
#if defined(__wasm_relaxed_simd__)
#define PTLITE_VEC_MULTIPLY_ADDS
#endif

// Vectors of a block of channels that a register tile of a convolution has at a time (ops/blocked/blocked_tile.h): two of six pixels take 12 registers.
#define PTLITE_TILE_PARTS 2

// Parts of a vector are loaded lane by lane: what is packed is packed in whole squares, and the rest by itself.
#define PTLITE_WHOLE_SQUARES

// No instruction asks for memory that will be read.
#define PTLITE_NO_PREFETCH

// No operation is fused but where that is asked for: what was computed is rounded.
#define PTLITE_KEEP_ROUNDED(x) ((void)(x))
