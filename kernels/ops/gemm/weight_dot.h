// Exact products of V vectors of rows of a block of a packed weight (32 numbers of 16 rows) with 32 signed bytes of each of some rows of activations, by what a level has:
// dot products of bytes, sums of two products of bytes, or products of int16. Integers that have to be unsigned are kept so, with kOffset more than
// they are; sums start with what that takes away, which the sums of activations tell.
#pragma once

#include "ops/gemm/packed_product.h"
#include "primitives/int8.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace packed {

using int8::Reg;

// Where weights are widened to int16, activations are, too: of four numbers the first and third make one part of 32 bits, the others the next.
#if defined(PTLITE_INT8_DOT)
constexpr bool kInt8Words = false, kInt4Words = false;
#elif defined(PTLITE_INT8_SIGNS)
constexpr bool kInt8Words = false, kInt4Words = false;
#elif defined(PTLITE_INT8_PAIRS) || defined(PTLITE_INT8_HALVES)
constexpr bool kInt8Words = true, kInt4Words = false;
#else
constexpr bool kInt8Words = true, kInt4Words = true;
#endif

PTLITE_INLINE Reg load_part(const uint8_t* p) {
  int32_t part;
  memcpy(&part, p, 4);
  return int8::broadcast(part);
}

// Four numbers of each row of a panel, widened, by those of R rows of activations.
template <int R, int V>
PTLITE_INLINE void add_words(const Reg (&w)[V], bool is_unsigned, const uint8_t* a, int64_t a_row, Reg (&sum)[R][V]) {
  Reg low[V], high[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) {
    low[v] = int8::low_bytes(w[v]);
    high[v] = is_unsigned ? int8::high_bytes_unsigned(w[v]) : int8::high_bytes(w[v]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; r++) {
    const Reg even = load_part(a + r * a_row), odd = load_part(a + r * a_row + 4);
#pragma GCC unroll 4
    for (int v = 0; v < V; v++)
      sum[r][v] = int8::add(sum[r][v], int8::add(int8::multiply_pairs(low[v], even), int8::multiply_pairs(high[v], odd)));
  }
}

struct Int8 {
  static constexpr bool kWords = kInt8Words;
#if defined(PTLITE_INT8_DOT)
  static constexpr int32_t kOffset = int8::kSignedActivations ? 0 : 128;
#else
  static constexpr int32_t kOffset = 0;
#endif
  static constexpr int kBytes = kBlock * kPanel;

  template <int R, int V>
  static PTLITE_INLINE void block(const uint8_t* w, const uint8_t* a, int64_t a_row, const int32_t* start, int64_t start_row, Reg (&sum)[R][V]) {
    constexpr int kStep = kWords ? 8 : 4;
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) sum[i / V][i % V] = kOffset == 0 ? int8::none() : int8::broadcast(start[i / V * start_row]);
#pragma GCC unroll 8
    for (int s = 0; s < kBlock / 4; s++, w += 4 * kPanel, a += kStep) {
      Reg x[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) x[v] = int8::load(w + v * PTLITE_VEC_BYTES);
#if defined(PTLITE_INT8_DOT)
#pragma GCC unroll 4
      for (int v = 0; v < V; v++)
        if (kOffset != 0) x[v] = int8::flip(x[v], int8::bytes(0x80));
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        const Reg part = load_part(a + r * a_row);
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) sum[r][v] = int8::dot_bytes(sum[r][v], x[v], part);
      }
#elif defined(PTLITE_INT8_SIGNS)
      Reg magnitude[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) magnitude[v] = int8::magnitudes(x[v]);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        const Reg part = load_part(a + r * a_row);
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) {
          // magnitudes of at most 128 and 127: two products fit in 16 bits
          const Reg two = int8::multiply_bytes(magnitude[v], int8::with_signs(part, x[v]));
          sum[r][v] = int8::add(sum[r][v], int8::multiply_pairs(two, int8::words(1)));
        }
      }
#else
      add_words<R, V>(x, false, a, a_row, sum);
#endif
    }
  }
};

#if defined(PTLITE_INT8_SIGNS)

// The same for all integers of 8 bits.
struct Int8Words {
  static constexpr bool kWords = true;
  static constexpr int32_t kOffset = 0;
  static constexpr int kBytes = kBlock * kPanel;

  template <int R, int V>
  static PTLITE_INLINE void block(const uint8_t* w, const uint8_t* a, int64_t a_row, const int32_t*, int64_t, Reg (&sum)[R][V]) {
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) sum[i / V][i % V] = int8::none();
#pragma GCC unroll 8
    for (int s = 0; s < kBlock / 4; s++, w += 4 * kPanel, a += 8) {
      Reg x[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) x[v] = int8::load(w + v * PTLITE_VEC_BYTES);
      add_words<R, V>(x, false, a, a_row, sum);
    }
  }
};

#endif

struct Int4 {
  static constexpr bool kWords = kInt4Words;
  static constexpr int32_t kOffset = 8;
  static constexpr int kBytes = kBlock * kPanel / 2;

  template <int R, int V>
  static PTLITE_INLINE void block(const uint8_t* w, const uint8_t* a, int64_t a_row, const int32_t* start, int64_t start_row, Reg (&sum)[R][V]) {
    constexpr int kStep = kWords ? 16 : 8;
    const Reg mask = int8::bytes(15);
#if defined(PTLITE_INT8_PAIRS)
    // 16 sums of two products, of at most 15 times 127 each, fit in 16 bits
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) sum[i / V][i % V] = int8::none();
#else
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) sum[i / V][i % V] = int8::broadcast(start[i / V * start_row]);
#endif
#pragma GCC unroll 4
    for (int s = 0; s < kBlock / 8; s++, w += 4 * kPanel, a += kStep) {
      Reg low[V], high[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) {
        const Reg x = int8::load(w + v * PTLITE_VEC_BYTES);
        low[v] = int8::both(x, mask);
        high[v] = int8::both(shifted(x), mask);
      }
#if defined(PTLITE_INT8_DOT) || defined(PTLITE_INT8_PAIRS) || defined(PTLITE_INT8_HALVES)
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        const Reg first = load_part(a + r * a_row), second = load_part(a + r * a_row + 4);
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) {
#if defined(PTLITE_INT8_DOT)
          sum[r][v] = int8::dot_bytes(int8::dot_bytes(sum[r][v], low[v], first), high[v], second);
#elif defined(PTLITE_INT8_PAIRS)
          const Reg two = int8::add_words(int8::multiply_bytes(low[v], first), int8::multiply_bytes(high[v], second));
          sum[r][v] = int8::add_words(sum[r][v], two);
#else
          sum[r][v] = int8::dot_seven_bits(int8::dot_seven_bits(sum[r][v], low[v], first), high[v], second);
#endif
        }
      }
#else
      add_words<R, V>(low, true, a, a_row, sum);
      add_words<R, V>(high, true, a + 8, a_row, sum);
#endif
    }
#if defined(PTLITE_INT8_PAIRS)
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) {
      Reg& to = sum[i / V][i % V];
      to = int8::add(int8::broadcast(start[i / V * start_row]), int8::multiply_pairs(to, int8::words(1)));
    }
#endif
  }

  // The high halves of bytes, among other bits, in their low halves.
  static PTLITE_INLINE Reg shifted(Reg x) {
    using Word = Vec<int32_t>;
    return (Reg)(Word((typename Word::Raw)x) >> 4).v;
  }
};

}  // namespace packed
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
