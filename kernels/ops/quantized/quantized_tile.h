// 8-bit dot products of unsigned activations and signed weights, summed in int32 without saturation, in groups of four steps: by one
// instruction where primitives/int8.h has it (PTLITE_INT8_AMX, PTLITE_INT8_DOT); where it has pairs of bytes (PTLITE_INT8_PAIRS), by these
// for rows whose activations need 7 bits, as a pair of products then stays within 2 * 127 * 128 < 2^15 and nothing saturates; where it has an
// instruction for these alone (PTLITE_INT8_HALVES), by one, or by two of which one is for the last bit; else by two products of pairs of
// operands widened to int16.
#pragma once

#include "ops/gemm/dot_tile.h"
#include "primitives/int8.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

using dot::kColumns;
using dot::kLanes;
using dot::Tiles;

// Steps of a column that lie together in a panel.
#if defined(PTLITE_INT8_MATRIX)
constexpr int64_t kGroup = 8;
#else
constexpr int64_t kGroup = 4;
#endif

// Bytes of a row in a chunk, and steps that weights are padded to with zeros.
constexpr int64_t kChunk = 64;
#if defined(PTLITE_INT8_AMX)
constexpr int64_t kStep = kChunk;
#else
constexpr int64_t kStep = kGroup;
#endif

// How the activations of a block are stored.
enum class Form {
  kBytes,  // block[k / 64][rows][64], any 8-bit value for VNNI and AMX, 7 bits for vpmaddubsw
  kHalves,  // block[k / 64][rows][2][64]: upper 7 bits, then the last one
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

#if defined(PTLITE_INT8_HALVES)
template <int V>
struct Step<Form::kBytes, V> : StepBase<Form::kBytes, V> {
  Reg w[V];
  PTLITE_INLINE explicit Step(const uint8_t* panel) {
    for (int v = 0; v < V; v++) w[v] = load(panel + v * static_cast<int>(sizeof(Reg)));
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(dot::load_group(a));
    for (int v = 0; v < V; v++) acc[v] = dot_seven_bits(acc[v], x, w[v]);
  }
};

// One of the halves: the block begins where that does.
template <int V>
struct Step<Form::kHalves, V> : Step<Form::kBytes, V> {
  using Step<Form::kBytes, V>::Step;
  static constexpr int64_t kRowBytes = chunk_bytes(Form::kHalves);
};
#elif defined(PTLITE_INT8_PAIRS)
template <int V>
struct Step<Form::kBytes, V> : StepBase<Form::kBytes, V> {
  Reg w[V];
  Reg ones;
  PTLITE_INLINE explicit Step(const uint8_t* panel) : ones(broadcast(0x00010001)) {
    for (int v = 0; v < V; v++) w[v] = load(panel + v * static_cast<int>(sizeof(Reg)));
  }
  PTLITE_INLINE void row(const uint8_t* a, Reg* acc) const {
    const Reg x = broadcast(dot::load_group(a));
    for (int v = 0; v < V; v++) acc[v] = add(acc[v], multiply_pairs(multiply_bytes(x, w[v]), ones));
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

inline void multiply_block(Form, const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t, int32_t* sums) {
  dot::multiply_tiles<TileStep>(a, w, groups, rows, sums);
}

constexpr bool kNarrowPanels = false;

#else

#if !defined(PTLITE_INT8_DOT)
template <Form form>
PTLITE_INLINE void multiply_as(const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t columns, int32_t* sums) {
  if (columns == kLanes) dot::tile_rows<Step<form, 1>, kRows>(a, w, groups, rows, sums);
  else dot::tile_rows<Step<form, 2>, kRows>(a, w, groups, rows, sums);
}

#if defined(PTLITE_INT8_HALVES)
// The halves in two passes, as one instruction's sums fill the registers.
inline void multiply_halves(const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t columns, int32_t* sums) {
  alignas(64) int32_t of_last_bits[kRows * kColumns];
  multiply_as<Form::kHalves>(a, w, groups, rows, columns, sums);
  multiply_as<Form::kHalves>(a + kChunk, w, groups, rows, columns, of_last_bits);
  for (int64_t i = 0; i < rows * columns; i += kLanes) {
    const Reg upper = load(sums + i);
    store(sums + i, add(add(upper, upper), load(of_last_bits + i)));
  }
}
#endif

// sums[rows][columns]: `columns` is kLanes or kColumns, the width of the panel.
inline void multiply_block([[maybe_unused]] Form form, const uint8_t* a, const uint8_t* w, int64_t groups, int64_t rows, int64_t columns,
                           int32_t* sums) {
#if defined(PTLITE_INT8_HALVES)
  if (form == Form::kHalves) return multiply_halves(a, w, groups, rows, columns, sums);
  multiply_as<Form::kBytes>(a, w, groups, rows, columns, sums);
#else
#if defined(PTLITE_INT8_PAIRS)
  if (form == Form::kBytes) return multiply_as<Form::kBytes>(a, w, groups, rows, columns, sums);
#endif
  multiply_as<Form::kWords>(a, w, groups, rows, columns, sums);
#endif
}
#endif

// The last panel is one register wide where that is enough.
constexpr bool kNarrowPanels = true;

#endif

// Whether a row with these bits in use anywhere is multiplied as bytes.
PTLITE_INLINE Form form_of([[maybe_unused]] uint8_t bits) {
#if defined(PTLITE_INT8_AMX) || defined(PTLITE_INT8_DOT)
  return Form::kBytes;
#elif defined(PTLITE_INT8_HALVES)
  return bits < 128 ? Form::kBytes : Form::kHalves;
#elif defined(PTLITE_INT8_PAIRS)
  return bits < 128 ? Form::kBytes : Form::kWords;
#else
  return Form::kWords;
#endif
}

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
