// The innermost loops of the 8-bit products: a block of rows of unsigned activations by a panel of columns of signed
// weights, summed in int32 without saturation. Both sides are stored so that every level walks them alike:
//   weights      panel[k / 4][columns][4]: what one 32-bit lane multiplies lies together (the layout of vpdpbusd and tdpbusd)
//   activations  block[k / 64][rows][64]: a chunk holds 64 steps of each row, so rows are a constant distance apart
// The instruction for four steps of a lane is, by level,
//   AMX                       tdpbusd on tiles of 16 x 64 bytes
//   AVX512_VNNI, AVX2_VNNI    vpdpbusd
//   AVX512, AVX2              vpmaddubsw and vpmaddwd for rows whose activations need 7 bits; a pair of products then
//                             stays within 2 * 127 * 128 < 2^15 and nothing saturates
//   AVX512, AVX2, DEFAULT     else two vpmaddwd on operands widened to int16
#pragma once

#include "vec/vec.h"

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

// Columns of a panel are two registers; rows of a block are as many as the remaining registers hold.
constexpr int kLanes = sizeof(Reg) / 4;
constexpr int kColumns = 2 * kLanes;
#if defined(PTLITE_INT8_AMX)
constexpr int kRows = 32;
#elif defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 12;
#elif defined(CPU_CAPABILITY_AVX2_VNNI)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr int64_t kChunk = 64;
// Weights are padded with zeros to a multiple of this many steps.
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

PTLITE_INLINE int32_t load_quad(const uint8_t* p) {
  int32_t quad;
  memcpy(&quad, p, 4);
  return quad;
}

// Four steps of one row on V registers of columns.
template <Form form, int V>
struct Step;

#if defined(PTLITE_INT8_VNNI)
template <int V>
struct Step<Form::kBytes, V> {
  Reg w[V];
  PTLITE_INLINE explicit Step(const int8_t* panel) {
    for (int v = 0; v < V; v++) w[v] = load(panel + v * static_cast<int>(sizeof(Reg)));
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(load_quad(a));
    for (int v = 0; v < V; v++) {
#if defined(CPU_CAPABILITY_AVX512_VNNI)
      acc[v] = _mm512_dpbusd_epi32(acc[v], x, w[v]);
#else
      acc[v] = _mm256_dpbusd_avx_epi32(acc[v], x, w[v]);
#endif
    }
  }
};
#elif defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
template <int V>
struct Step<Form::kBytes, V> {
  Reg w[V];
  Reg ones;
  PTLITE_INLINE explicit Step(const int8_t* panel) : ones(broadcast(0x00010001)) {
    for (int v = 0; v < V; v++) w[v] = load(panel + v * static_cast<int>(sizeof(Reg)));
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(load_quad(a));
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
struct Step<Form::kWords, V> {
  Reg even[V], odd[V];
  PTLITE_INLINE explicit Step(const int8_t* panel) {
    for (int v = 0; v < V; v++) {
      const Reg w = load(panel + v * static_cast<int>(sizeof(Reg)));
      even[v] = low_bytes(w);
      odd[v] = high_bytes(w);
    }
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(load_quad(a)), y = broadcast(load_quad(a + kChunk));
    for (int v = 0; v < V; v++) {
      acc[v] = add(acc[v], multiply_pairs(x, even[v]));
      acc[v] = add(acc[v], multiply_pairs(y, odd[v]));
    }
  }
};

// sums[M][V * kLanes] over `quads` groups of four steps. Few rows leave registers for a second set of sums, so that
// additions do not wait for each other.
template <Form form, int M, int V>
void tile(const uint8_t* a, const int8_t* w, int64_t quads, int32_t* sums) {
  constexpr int kSets = M <= 2 ? 2 : 1;
  constexpr int64_t kQuad = V * static_cast<int64_t>(sizeof(Reg));
  Reg acc[kSets][M][V];
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      for (int s = 0; s < kSets; s++) acc[s][r][v] = none();
    }
  }
  for (; quads > 0; quads -= kChunk / 4, a += kRows * chunk_bytes(form)) {
    const int64_t here = quads < kChunk / 4 ? quads : kChunk / 4;
    const uint8_t* x = a;
    int64_t q = 0;
    for (; q + kSets <= here; q += kSets) {
#pragma GCC unroll 2
      for (int s = 0; s < kSets; s++, x += 4, w += kQuad) {
        const Step<form, V> step(w);
#pragma GCC unroll 16
        for (int r = 0; r < M; r++) step.row(x + r * chunk_bytes(form), acc[s][r]);
      }
    }
    if (kSets > 1 && q < here) {
      const Step<form, V> step(w);
#pragma GCC unroll 16
      for (int r = 0; r < M; r++) step.row(x + r * chunk_bytes(form), acc[0][r]);
      w += kQuad;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < M; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      Reg sum = acc[0][r][v];
      for (int s = 1; s < kSets; s++) sum = add(sum, acc[s][r][v]);
      store(sums + (r * V + v) * kLanes, sum);
    }
  }
}

// The tile with at least `rows` rows; a block holds kRows, those beyond the last are zero.
template <Form form, int V>
PTLITE_INLINE void tile_rows(const uint8_t* a, const int8_t* w, int64_t quads, int64_t rows, int32_t* sums) {
#define PTLITE_TILE(M)                                                                    \
  if constexpr (M <= kRows) {                                                             \
    if (rows <= M) return tile<form, M, V>(a, w, quads, sums);                            \
  }
  PTLITE_TILE(1)
  PTLITE_TILE(2)
  PTLITE_TILE(4)
  PTLITE_TILE(6)
  PTLITE_TILE(9)
  PTLITE_TILE(12)
#undef PTLITE_TILE
}

#if defined(PTLITE_INT8_AMX)

// Tile registers: 0-3 sums (rows, columns), 4-5 rows, 6-7 columns.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Tile registers are configured for one call of a kernel.
class Tiles {
 public:
  Tiles() {
    const TileConfig config;
    _tile_loadconfig(&config);
  }
  ~Tiles() { _tile_release(); }
};

// sums[32][32]: 32 rows by 32 columns, or the upper 16 rows where there are no more.
inline void multiply_block(Form, const uint8_t* a, const int8_t* w, int64_t quads, int64_t rows, int64_t, int32_t* sums) {
  constexpr int kBlockRow = kColumns * 4;
  const bool lower = rows > 16;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (; quads > 0; quads -= kChunk / 4, a += kRows * kChunk, w += kChunk * kColumns) {
    _tile_loadd(6, w, kBlockRow);
    _tile_loadd(7, w + 64, kBlockRow);
    _tile_loadd(4, a, kChunk);
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    if (lower) {
      _tile_loadd(5, a + 16 * kChunk, kChunk);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kBlockRow);
  _tile_stored(1, sums + 16, kBlockRow);
  if (lower) {
    _tile_stored(2, sums + 16 * kColumns, kBlockRow);
    _tile_stored(3, sums + 16 * kColumns + 16, kBlockRow);
  }
}

constexpr bool kNarrowPanels = false;

#else

struct Tiles {};

// sums[rows][columns]: `columns` is kLanes or kColumns, the width of the panel.
inline void multiply_block([[maybe_unused]] Form form, const uint8_t* a, const int8_t* w, int64_t quads, int64_t rows, int64_t columns, int32_t* sums) {
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  if (form == Form::kBytes) {
    if (columns == kLanes) tile_rows<Form::kBytes, 1>(a, w, quads, rows, sums);
    else tile_rows<Form::kBytes, 2>(a, w, quads, rows, sums);
    return;
  }
#endif
#if !defined(PTLITE_INT8_VNNI)
  if (columns == kLanes) tile_rows<Form::kWords, 1>(a, w, quads, rows, sums);
  else tile_rows<Form::kWords, 2>(a, w, quads, rows, sums);
#endif
}

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
