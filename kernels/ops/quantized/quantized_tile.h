// 8-bit dot products of unsigned activations and signed weights, summed in int32 without saturation. The instruction for
// a group of four steps is, by level,
//   AMX                       tdpbusd on tiles of 16 x 64 bytes
//   AVX512_VNNI, AVX2_VNNI    vpdpbusd
//   AVX512, AVX2              vpmaddubsw and vpmaddwd for rows whose activations need 7 bits; a pair of products then
//                             stays within 2 * 127 * 128 < 2^15 and nothing saturates
//   AVX512, AVX2, DEFAULT     else two vpmaddwd on operands widened to int16
#pragma once

#include "ops/gemm/dot_tile.h"

#if defined(CPU_CAPABILITY_AMX)
#define PTLITE_INT8_AMX
#elif defined(CPU_CAPABILITY_AVX512_VNNI) || defined(CPU_CAPABILITY_AVX2_VNNI)
#define PTLITE_INT8_VNNI
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

#if defined(CPU_CAPABILITY_AVX512)
using Reg = __m512i;
PTLITE_INLINE Reg load(const void* p) { return _mm512_loadu_si512(p); }
PTLITE_INLINE void store(void* p, Reg r) { _mm512_storeu_si512(p, r); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm512_set1_epi32(x); }
PTLITE_INLINE Reg none() { return _mm512_setzero_si512(); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return _mm512_add_epi32(a, b); }
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) { return _mm512_madd_epi16(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return _mm512_and_si512(a, b); }
PTLITE_INLINE Reg low_bytes(Reg w) { return _mm512_srai_epi16(_mm512_slli_epi16(w, 8), 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return _mm512_srai_epi16(w, 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return _mm512_srli_epi16(a, 8); }
#elif defined(CPU_CAPABILITY_AVX2)
using Reg = __m256i;
PTLITE_INLINE Reg load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
PTLITE_INLINE void store(void* p, Reg r) { _mm256_storeu_si256(static_cast<__m256i*>(p), r); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm256_set1_epi32(x); }
PTLITE_INLINE Reg none() { return _mm256_setzero_si256(); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return _mm256_add_epi32(a, b); }
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) { return _mm256_madd_epi16(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return _mm256_and_si256(a, b); }
PTLITE_INLINE Reg low_bytes(Reg w) { return _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return _mm256_srai_epi16(w, 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return _mm256_srli_epi16(a, 8); }
#else
using Reg = __m128i;
PTLITE_INLINE Reg load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
PTLITE_INLINE void store(void* p, Reg r) { _mm_storeu_si128(static_cast<__m128i*>(p), r); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm_set1_epi32(x); }
PTLITE_INLINE Reg none() { return _mm_setzero_si128(); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return _mm_add_epi32(a, b); }
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) { return _mm_madd_epi16(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return _mm_and_si128(a, b); }
PTLITE_INLINE Reg low_bytes(Reg w) { return _mm_srai_epi16(_mm_slli_epi16(w, 8), 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return _mm_srai_epi16(w, 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return _mm_srli_epi16(a, 8); }
#endif

using dot::kColumns;
using dot::kLanes;
using dot::Tiles;

// A block has as many rows as registers are left for.
#if defined(PTLITE_INT8_AMX)
constexpr int kRows = 32;
#elif defined(CPU_CAPABILITY_AVX512_VNNI)
constexpr int kRows = 14;  // sizes of images are mostly multiples of 7
#elif defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 12;
#elif defined(CPU_CAPABILITY_AVX2_VNNI)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
// Bytes of a row in a chunk, and steps that weights are padded to with zeros.
constexpr int64_t kChunk = 64;
#if defined(PTLITE_INT8_AMX)
constexpr int64_t kStep = kChunk;
#else
constexpr int64_t kStep = 4;
#endif

// How the activations of a block are stored.
enum class Form {
  kBytes,  // block[k / 64][rows][64], any 8-bit value for VNNI and AMX, 7 bits for vpmaddubsw
  kWords,  // block[k / 64][rows][2][32] int16: of every four steps the even ones, then the odd ones
};
constexpr int64_t chunk_bytes(Form form) { return form == Form::kBytes ? kChunk : 2 * kChunk; }

// What the steps have in common.
template <Form form, int V>
struct StepBase {
  using Reg = int8::Reg;
  using Element = int32_t;
  static constexpr int kVectors = V;
  static constexpr int64_t kRowBytes = chunk_bytes(form);
  static PTLITE_INLINE Reg none() { return int8::none(); }
  static PTLITE_INLINE Reg add(Reg a, Reg b) { return int8::add(a, b); }
  static PTLITE_INLINE void store(int32_t* p, Reg r) { int8::store(p, r); }
};

// Four steps of one row on V registers of columns.
template <Form form, int V>
struct Step;

#if defined(PTLITE_INT8_VNNI)
// Sums of the products of four unsigned and four signed bytes.
PTLITE_INLINE Reg dot_bytes(Reg sum, Reg a, Reg w) {
#if defined(CPU_CAPABILITY_AVX512_VNNI)
  return _mm512_dpbusd_epi32(sum, a, w);
#else
  return _mm256_dpbusd_avx_epi32(sum, a, w);
#endif
}
#elif defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
template <int V>
struct Step<Form::kBytes, V> : StepBase<Form::kBytes, V> {
  Reg w[V];
  Reg ones;
  PTLITE_INLINE explicit Step(const uint8_t* panel) : ones(broadcast(0x00010001)) {
    for (int v = 0; v < V; v++) w[v] = load(panel + v * static_cast<int>(sizeof(Reg)));
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(dot::load_group(a));
    for (int v = 0; v < V; v++) {
#if defined(CPU_CAPABILITY_AVX512)
      const Reg pairs = _mm512_maddubs_epi16(x, w[v]);
#else
      const Reg pairs = _mm256_maddubs_epi16(x, w[v]);
#endif
      acc[v] = add(acc[v], multiply_pairs(pairs, ones));
    }
  }
};
#endif

template <int V>
struct Step<Form::kWords, V> : StepBase<Form::kWords, V> {
  Reg even[V], odd[V];
  PTLITE_INLINE explicit Step(const uint8_t* panel) {
    for (int v = 0; v < V; v++) {
      const Reg w = load(panel + v * static_cast<int>(sizeof(Reg)));
      even[v] = low_bytes(w);
      odd[v] = high_bytes(w);
    }
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(dot::load_group(a)), y = broadcast(dot::load_group(a + kChunk));
    for (int v = 0; v < V; v++) {
      acc[v] = add(acc[v], multiply_pairs(x, even[v]));
      acc[v] = add(acc[v], multiply_pairs(y, odd[v]));
    }
  }
};

#if defined(PTLITE_INT8_AMX)

struct TileStep {
  using Element = int32_t;
  static PTLITE_INLINE void upper() {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
  }
  static PTLITE_INLINE void lower() {
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
};

inline void multiply_block(Form, const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t, int32_t* sums) {
  dot::multiply_tiles<TileStep>(a, w, groups, rows, sums);
}

constexpr bool kNarrowPanels = false;

#else

#if !defined(PTLITE_INT8_VNNI)
template <Form form>
PTLITE_INLINE void multiply_as(const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t columns, int32_t* sums) {
  if (columns == kLanes) dot::tile_rows<Step<form, 1>, kRows>(a, w, groups, rows, sums);
  else dot::tile_rows<Step<form, 2>, kRows>(a, w, groups, rows, sums);
}

// sums[rows][columns]: `columns` is kLanes or kColumns, the width of the panel.
inline void multiply_block([[maybe_unused]] Form form, const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t columns,
                           int32_t* sums) {
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  if (form == Form::kBytes) return multiply_as<Form::kBytes>(a, w, groups, rows, columns, sums);
#endif
  multiply_as<Form::kWords>(a, w, groups, rows, columns, sums);
}
#endif

// The last panel is one register wide where that is enough.
constexpr bool kNarrowPanels = true;

#endif

// Whether a row with these bits in use anywhere is multiplied as bytes.
PTLITE_INLINE Form form_of([[maybe_unused]] uint8_t bits) {
#if defined(PTLITE_INT8_AMX) || defined(PTLITE_INT8_VNNI)
  return Form::kBytes;
#elif defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  return bits < 128 ? Form::kBytes : Form::kWords;
#else
  return Form::kWords;
#endif
}

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
