// The register tile of the matrix product (gemm_core.h): a few rows by two vectors of columns, over all of k, and on its way to memory. Included
// by gemm_core.cpp alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ops/gemm/gemm_core.h"
#include "primitives/accumulate.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {
namespace {

/// What is known of a tile's operands: nothing but their strides, that the last vector of B is not whole, or that both are
/// packed (what is packed is padded to whole vectors).
enum class Layout { kStrided, kTail, kPacked };

/// Which operands of a tile are packed. Strides do not tell: other matrices have those of a panel, too, and nothing behind their last row.
enum class Packed { kNone, kB, kBoth };

/// Steps of k in a pass of the loop over packed operands. Compilers for WebAssembly would load for all of them first, and spill.
#if defined(PTLITE_TILE_PARTS)
constexpr int kPass = 1;
#else
constexpr int kPass = 4;
#endif

/// What is added to a tile: nothing, one element for each row, or vectors.
enum class TileKind { kPlain, kRowScalar, kVector };

/// One register tile's way to memory; the vector form of Epilogue.
template <class T>
struct TileEnd {
  T alpha, beta, lo, hi;
  bool clamped;
  TileKind kind;
  const T* source;
  int64_t source_row;
};

/// Adds the products of one k to an M x (V vectors) tile: rows of A `a_row` apart, the last one `a_last` behind the first, V vectors of B.
template <class T, int M, int V>
PTLITE_INLINE void add_products(Vec<T> (&acc)[M][V], const T* a, int64_t a_row, int64_t a_last, const Vec<T> (&bv)[V]) {
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
    const Vec<T> av(a[i < M - 1 ? i * a_row : a_last]);
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) arch::accumulate<T>(acc[i][v], av, bv[v]);
  }
}

/// The same for elements of A that follow each other.
template <class T, int M, int V>
PTLITE_INLINE void add_column(Vec<T> (&acc)[M][V], const T* a, const Vec<T> (&bv)[V]) {
  constexpr int L = Vec<T>::size;
  if constexpr (arch::kMultipliesLanes<T> && M % L == 0) {
#pragma GCC unroll 4
    for (int p = 0; p < M; p += L) {
      const Vec<T> column = Vec<T>::load(a + p);
#pragma GCC unroll 16
      for (int i = 0; i < L; i++) {
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) arch::accumulate_lane<T>(acc[p + i][v], column, i, bv[v]);
      }
    }
  } else {
    add_products<T, M, V>(acc, a, 1, M - 1, bv);
  }
}

/// Of a panel that other tiles will read, from `at` on, `bytes` in each pass, one of the two below; null: nothing.
struct PanelAhead {
  const char* at;
  int64_t bytes;
};

/// What a tile asks for while it is computed: rows that are read after it, rows that it goes to, and a panel.
struct Lines {
  Ahead read, write;
  PanelAhead panel;
};
/// A panel of B is asked for by four tiles, or by one where there are fewer.
constexpr int64_t kPartBytes = 128;
constexpr int64_t kWholeBytes = 512;

/// What the loop over packed operands asks for, where there are instructions for that.
enum class Asks { kNothing, kRows, kRowsAndPart, kRowsAndWhole };
#if defined(PTLITE_NO_PREFETCH)
constexpr bool kCanAsk = false;
#else
constexpr bool kCanAsk = true;
#endif

/// Both operands packed: every distance is a constant, and a pass of the loop does several k, so that little but the
/// multiplications is left to issue. Each of the last passes asks for a row of `lines`: all at once, they would keep other loads
/// waiting.
template <class T, int M, int V, Asks asks>
PTLITE_INLINE void add_packed(Vec<T> (&acc)[M][V], int64_t k, const T* a, const T* b, const Lines* lines) {
  constexpr int L = Vec<T>::size;
  Vec<T> bv[V];
  const char *read = nullptr, *write = nullptr, *panel = nullptr;
  if constexpr (asks != Asks::kNothing) {
    read = lines->read.at;
    write = lines->write.at;
    panel = lines->panel.at;
  }
  // the last passes ask for rows: early enough for the last row to come, and late enough for the first to be there still
  constexpr int64_t kLate = (M + 84 / M) * kPass;
  int left = M;
  for (; k >= kPass; k -= kPass, a += kPass * kRows, b += kPass * V * L) {
    if (asks != Asks::kNothing && k <= kLate) {
      constexpr size_t kBytes = V * L * sizeof(T);
      for (size_t i = 0; i < kBytes; i += 64) {
        __builtin_prefetch(read + i);
        __builtin_prefetch(write + i, 1);
      }
      // rows need not begin with a line
      __builtin_prefetch(read + kBytes - 1);
      __builtin_prefetch(write + kBytes - 1, 1);
      const bool more = --left > 0;
      read += more ? lines->read.row : 0;
      write += more ? lines->write.row : 0;
    }
    if constexpr (asks == Asks::kRowsAndPart || asks == Asks::kRowsAndWhole) {
      constexpr int64_t kBytes = asks == Asks::kRowsAndPart ? kPartBytes : kWholeBytes;
      // to the second-level cache
      for (int64_t i = 0; i < kBytes; i += 64) __builtin_prefetch(panel + i, 0, 2);
      panel += kBytes;
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPass; p++) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) bv[v] = Vec<T>::load(b + (p * V + v) * L);
      add_column<T, M, V>(acc, a + p * kRows, bv);
    }
  }
  for (; k > 0; k--, a += kRows, b += V * L) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) bv[v] = Vec<T>::load(b + v * L);
    add_column<T, M, V>(acc, a, bv);
  }
}

/// Accumulates an M x (V vectors) tile into `out`, V vectors a row. `a` advances by a_k per k and has rows a_row apart, M where it is packed and
/// else `rows`, M or one less: the last is taken twice then, as nothing behind it may be read. `b` has V vectors per k, b_k apart, of which the
/// last has `last` lanes with kTail.
template <class T, int M, int V, Layout layout>
void tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, int rows, int last, T* out) {
  constexpr int L = Vec<T>::size;
  constexpr bool kTail = layout == Layout::kTail;
  Vec<T> acc[M][V];
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) acc[i][v] = Vec<T>::zero();
  }
  if constexpr (layout == Layout::kPacked) {
    add_packed<T, M, V, Asks::kNothing>(acc, k, a, b, nullptr);
  } else {
    const int64_t a_last = (rows - 1) * a_row;
    for (int64_t p = 0; p < k; p++, a += a_k, b += b_k) {
      Vec<T> bv[V];
      for (int v = 0; v < V; v++) bv[v] = kTail && v == V - 1 ? Vec<T>::load(b + v * L, last) : Vec<T>::load(b + v * L);
      add_products<T, M, V>(acc, a, a_row, a_last, bv);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) acc[i][v].store(out + (i * V + v) * L);
  }
}

/// The tile with at least `rows` rows, of unpacked ones with at most one more. Row counts are as dense as speed asks for; double gets by with fewer.
template <class T, int V, Layout layout>
inline void tile_rows(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, int rows, int last, T* out) {
  constexpr bool kFew = layout != Layout::kPacked;
  constexpr int kMost = kFew ? kUnpackedRows<T> : kRows;
  constexpr bool kDense = sizeof(T) == 4;
  static_assert(!kFew || kDense || kMost == 1, "of unpacked rows, tiles may take one too many");
#define PTLITE_TILE(M, wanted)                                                                      \
  if constexpr (M <= kMost && (wanted)) {                                                           \
    if (rows <= M) return tile<T, M, V, layout>(k, a, a_row, a_k, b, b_k, rows, last, out);          \
  }
  PTLITE_TILE(1, kFew || !kDense)
  PTLITE_TILE(2, kDense)
  PTLITE_TILE(3, kDense && kFew)
  PTLITE_TILE(4, kDense || !kFew)
  PTLITE_TILE(6, kDense || kMost == 6)
  PTLITE_TILE(8, kDense)
  PTLITE_TILE(10, kDense)
  PTLITE_TILE(12, kDense || kMost == 12)
  PTLITE_TILE(14, true)
#undef PTLITE_TILE
}

/// Brings the accumulators of a tile, `width` apart, to memory.
template <class T>
inline void finish_tile(const T* raw, int width, T* c, int64_t c_row, int rows, int cols, const TileEnd<T>& end) {
  constexpr int L = Vec<T>::size;
  const Vec<T> alpha(end.alpha), beta(end.beta);
  for (int i = 0; i < rows; i++, raw += width, c += c_row) {
    const T* source = end.source + i * end.source_row;
    for (int j = 0; j < cols; j += L) {
      const int lanes = cols - j;
      Vec<T> r = Vec<T>::load(raw + j) * alpha;
      if (end.kind == TileKind::kRowScalar) r = fma(beta, Vec<T>(*source), r);
      else if (end.kind == TileKind::kVector) r = fma(beta, Vec<T>::load(source + j, lanes), r);
      if (end.clamped) r = clamp<T>(r, end.lo, end.hi);
      r.store(c + j, lanes);
    }
  }
}

/// Brings the accumulators of a whole tile to memory.
template <class T, TileKind kind>
PTLITE_INLINE void store_tile(const Vec<T> (&acc)[kRows][kVectors], T* c, int64_t c_row, const TileEnd<T>& end) {
  constexpr int L = Vec<T>::size;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i++) {
    const T* source = end.source + i * end.source_row;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; v++) {
      Vec<T> r = acc[i][v] * Vec<T>(end.alpha);
      if constexpr (kind == TileKind::kRowScalar) r = fma(Vec<T>(end.beta), Vec<T>(*source), r);
      else if constexpr (kind == TileKind::kVector) r = fma(Vec<T>(end.beta), Vec<T>::load(source + v * L), r);
      r.store(c + i * c_row + v * L);
    }
  }
}

/// A whole tile of packed operands, from the registers to memory. Inlined it would have fewer registers for its loop.
template <class T, Asks asks>
__attribute__((noinline)) void whole_tile(int64_t k, const T* a, const T* b, T* c, int64_t c_row, const TileEnd<T>& end, const Lines& lines) {
  Vec<T> acc[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; v++) acc[i][v] = Vec<T>::zero();
  }
  add_packed<T, kRows, kVectors, kCanAsk ? asks : Asks::kNothing>(acc, k, a, b, &lines);
  if (end.kind == TileKind::kVector) store_tile<T, TileKind::kVector>(acc, c, c_row, end);
  else if (end.kind == TileKind::kRowScalar) store_tile<T, TileKind::kRowScalar>(acc, c, c_row, end);
  else store_tile<T, TileKind::kPlain>(acc, c, c_row, end);
  if (!end.clamped) return;
  // as a step of its own it costs little, as the tile is in the first-level cache, and saves half of the code
#pragma GCC unroll 1
  for (int i = 0; i < kRows; i++, c += c_row) {
    for (int v = 0; v < kVectors; v++) clamp<T>(Vec<T>::load(c + v * Vec<T>::size), end.lo, end.hi).store(c + v * Vec<T>::size);
  }
}

/// Runs the tile that covers rows x cols (at most kRows x kCols). Packed A panels are padded to kRows rows, so a tile
/// may read, but not write, more rows than asked. Unpacked A must have at most kUnpackedRows<T> rows, and no other is read.
template <class T>
inline void run_tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, Packed packed, T* c, int64_t c_row,
                     int rows, int cols, const TileEnd<T>& end, const Lines* lines = nullptr) {
  constexpr int L = Vec<T>::size;
  if constexpr (sizeof(T) == 4) {
    if (packed == Packed::kBoth && rows == kRows && cols == kCols<T>) {
      // without any, a line that is read anyway
      const Ahead none{reinterpret_cast<const char*>(a), 0};
      const Lines asked = lines != nullptr ? *lines : Lines{none, none, {nullptr, 0}};
      if constexpr (kCanAsk) {
        if (asked.panel.at != nullptr) {
          const auto run = asked.panel.bytes == kWholeBytes ? whole_tile<T, Asks::kRowsAndWhole> : whole_tile<T, Asks::kRowsAndPart>;
          return run(k, a, b, c, c_row, end, asked);
        }
      }
      return whole_tile<T, Asks::kRows>(k, a, b, c, c_row, end, asked);
    }
  }
  alignas(64) T raw[kRows * kCols<T>];
  const int last = (cols - 1) % L + 1;
  if (packed == Packed::kBoth) {
    if (cols > L) tile_rows<T, 2, Layout::kPacked>(k, a, a_row, a_k, b, b_k, rows, last, raw);
    else tile_rows<T, 1, Layout::kPacked>(k, a, a_row, a_k, b, b_k, rows, last, raw);
  } else if (packed == Packed::kB || last == L) {
    if (cols > L) tile_rows<T, 2, Layout::kStrided>(k, a, a_row, a_k, b, b_k, rows, last, raw);
    else tile_rows<T, 1, Layout::kStrided>(k, a, a_row, a_k, b, b_k, rows, last, raw);
  } else {
    if (cols > L) tile_rows<T, 2, Layout::kTail>(k, a, a_row, a_k, b, b_k, rows, last, raw);
    else tile_rows<T, 1, Layout::kTail>(k, a, a_row, a_k, b, b_k, rows, last, raw);
  }
  finish_tile<T>(raw, cols > L ? 2 * L : L, c, c_row, rows, cols, end);
}

/// Tile epilogue of the block [row, row + rows) x [col, col + cols) in k block number `first`..`last`.
/// A source that is neither a row scalar nor contiguous is gathered into `buffer` (kRows * kCols).
template <class T>
inline TileEnd<T> tile_end(const Epilogue<T>& e, bool first, bool last, int64_t row, int64_t col, int rows, int cols, const T* c,
                           int64_t c_row, T* buffer) {
  TileEnd<T> t;
  t.alpha = e.alpha;
  t.beta = first ? e.beta : T(1);
  t.lo = e.lo;
  t.hi = e.hi;
  t.clamped = last && e.clamped;
  t.source = nullptr;
  t.source_row = 0;
  if (!first) {
    t.kind = TileKind::kVector;
    t.source = c;
    t.source_row = c_row;
  } else if (e.source == nullptr) {
    t.kind = TileKind::kPlain;
  } else {
    const T* s = e.source + row * e.source_row + col * e.source_col;
    if (e.source_col == 0) {
      t.kind = TileKind::kRowScalar;
      t.source = s;
      t.source_row = e.source_row;
    } else if (e.source_col == 1) {
      t.kind = TileKind::kVector;
      t.source = s;
      t.source_row = e.source_row;
    } else {
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) buffer[i * kCols<T> + j] = s[i * e.source_row + j * e.source_col];
      }
      t.kind = TileKind::kVector;
      t.source = buffer;
      t.source_row = kCols<T>;
    }
  }
  return t;
}

}  // namespace
}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
