#include "gemm_core.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "primitives/accumulate.h"
#include "vec/transpose.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {
namespace {

/// What is known of a tile's operands: nothing but their strides, that the last vector of B is not whole, or that both are
/// packed (what is packed is padded to whole vectors).
enum class Layout { kStrided, kTail, kPacked };

/// Bytes of a block of A that are read again for each panel of B.
constexpr int64_t kStreamed = 320 << 10;

/// Bytes of an operand that the second-level cache does not keep until it is read again.
constexpr int64_t kFar = 1536 << 10;

/// Steps of k in a pass of the loop over packed operands.
constexpr int kPass = 4;

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

/// Adds the products of one k to an M x (V vectors) tile: rows of A `a_row` apart, V vectors of B.
template <class T, int M, int V>
PTLITE_INLINE void add_products(Vec<T> (&acc)[M][V], const T* a, int64_t a_row, const Vec<T> (&bv)[V]) {
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
    const Vec<T> av(a[i * a_row]);
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) arch::accumulate<T>(acc[i][v], av, bv[v]);
  }
}

/// What a tile asks for while it is computed: rows that are read after it, rows that it goes to, and of a panel that other tiles will read
/// kPanelBytes in each pass; null: nothing of a panel.
struct Lines {
  Ahead read, write;
  const char* panel;
};
constexpr int64_t kPanelBytes = 128;

/// What the loop over packed operands asks for.
enum class Asks { kNothing, kRows, kRowsAndPanel };

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
    panel = lines->panel;
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
    if constexpr (asks == Asks::kRowsAndPanel) {
      // to the second-level cache
      for (int64_t i = 0; i < kPanelBytes; i += 64) __builtin_prefetch(panel + i, 0, 2);
      panel += kPanelBytes;
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPass; p++) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) bv[v] = Vec<T>::load(b + (p * V + v) * L);
      add_products<T, M, V>(acc, a + p * kRows, 1, bv);
    }
  }
  for (; k > 0; k--, a += kRows, b += V * L) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) bv[v] = Vec<T>::load(b + v * L);
    add_products<T, M, V>(acc, a, 1, bv);
  }
}

/// Accumulates an M x (V vectors) tile into `out`, V vectors a row. `a` advances by a_k per k and has rows a_row apart;
/// `b` has V vectors per k, b_k apart, of which the last has `last` lanes with kTail.
template <class T, int M, int V, Layout layout>
void tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, int last, T* out) {
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
    for (int64_t p = 0; p < k; p++, a += a_k, b += b_k) {
      Vec<T> bv[V];
      for (int v = 0; v < V; v++) bv[v] = kTail && v == V - 1 ? Vec<T>::load(b + v * L, last) : Vec<T>::load(b + v * L);
      add_products<T, M, V>(acc, a, a_row, bv);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) acc[i][v].store(out + (i * V + v) * L);
  }
}

/// The tile with at least `rows` rows. Row counts are as dense as speed asks for; double gets by with fewer.
template <class T, int V, Layout layout>
inline void tile_rows(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, int rows, int last, T* out) {
  constexpr bool kFew = layout != Layout::kPacked;
  constexpr int kMost = kFew ? kUnpackedRows<T> : kRows;
  constexpr bool kDense = sizeof(T) == 4;
#define PTLITE_TILE(M, wanted)                                                                      \
  if constexpr (M <= kMost && (wanted)) {                                                           \
    if (rows <= M) return tile<T, M, V, layout>(k, a, a_row, a_k, b, b_k, last, out);                \
  }
  PTLITE_TILE(1, kFew || !kDense)
  PTLITE_TILE(2, kDense)
  PTLITE_TILE(3, kDense && kFew)
  PTLITE_TILE(4, kDense || !kFew)
  PTLITE_TILE(6, kDense || kMost == 6)
  PTLITE_TILE(8, kDense)
  PTLITE_TILE(10, kDense)
  PTLITE_TILE(12, kDense)
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
  add_packed<T, kRows, kVectors, asks>(acc, k, a, b, &lines);
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
/// may read, but not write, more rows than asked; unpacked A must have at most kUnpackedRows<T> rows.
template <class T>
inline void run_tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, bool b_packed, T* c, int64_t c_row,
                     int rows, int cols, const TileEnd<T>& end, const Lines* lines = nullptr) {
  constexpr int L = Vec<T>::size;
  if constexpr (sizeof(T) == 4) {
    if (b_packed && a_row == 1 && a_k == kRows && rows == kRows && cols == kCols<T>) {
      // without any, a line that is read anyway
      const Ahead none{reinterpret_cast<const char*>(a), 0};
      const Lines asked = lines != nullptr ? *lines : Lines{none, none, nullptr};
      if (asked.panel != nullptr) return whole_tile<T, Asks::kRowsAndPanel>(k, a, b, c, c_row, end, asked);
      return whole_tile<T, Asks::kRows>(k, a, b, c, c_row, end, asked);
    }
  }
  alignas(64) T raw[kRows * kCols<T>];
  const int last = (cols - 1) % L + 1;
  if (b_packed && a_row == 1 && a_k == kRows) {
    if (cols > L) tile_rows<T, 2, Layout::kPacked>(k, a, a_row, a_k, b, b_k, rows, last, raw);
    else tile_rows<T, 1, Layout::kPacked>(k, a, a_row, a_k, b, b_k, rows, last, raw);
  } else if (b_packed || last == L) {
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

namespace {

/// Stores column `p` of a panel with what lies behind it in `column`, which the next column overwrites; the last of `k` keeps to its place.
template <class T>
PTLITE_INLINE void store_column(Vec<T> column, int64_t p, int64_t k, T* panel) {
  if (p + 1 < k) column.store(panel + p * kRows);
  else column.store(panel + p * kRows, kRows);
}

/// A panel of rows that are contiguous along k, in squares of Vec<T>::size.
template <class T>
void pack_squares(int64_t k, const T* a, int64_t a_row, int rows, T* out) {
  constexpr int L = Vec<T>::size;
  static_assert(kRows <= Vec<float>::size, "a vector holds a column of a panel");
  for (int64_t p = 0; p < k; p += L) {
    const int64_t count = std::min<int64_t>(L, k - p);
    Vec<T> square[L];
#pragma GCC unroll 16
    for (int r = 0; r < L; r++) square[r] = r < rows ? Vec<T>::load(a + r * a_row + p, count) : Vec<T>::zero();
    transpose_square<T>(square);
#pragma GCC unroll 16
    for (int c = 0; c < L; c++) {
      if (c < count) store_column<T>(square[c], p + c, k, out);
    }
  }
}

}  // namespace

template <class T>
void pack_a(int64_t m, int64_t k, const T* a, int64_t a_row, int64_t a_col, T* out) {
  for (int64_t i = 0; i < m; i += kRows, out += kRows * k) {
    const int rows = int(std::min<int64_t>(kRows, m - i));
    const T* src = a + i * a_row;
    // a vector holds a column of a panel where elements are small
    if constexpr (sizeof(T) == 4) {
      if (a_row == 1) {
        for (int64_t p = 0; p < k; p++) store_column<T>(Vec<T>::load(src + p * a_col, rows), p, k, out);
        continue;
      }
      if (a_col == 1) {
        pack_squares<T>(k, src, a_row, rows, out);
        continue;
      }
    }
    for (int r = 0; r < kRows; r++) {
      for (int64_t p = 0; p < k; p++) out[p * kRows + r] = r < rows ? src[r * a_row + p * a_col] : T(0);
    }
  }
}

template <class T>
void pack_b(int64_t k, int64_t n, const T* b, int64_t b_row, int64_t b_col, T* out) {
  constexpr int L = Vec<T>::size;
  int64_t j = 0;
  if (b_col == 1) {
    // several panels at a time read longer runs of each row
    constexpr int kPanels = 4;
    const int64_t panel = kCols<T> * k;
    for (; j + kPanels * kCols<T> <= n; j += kPanels * kCols<T>, out += kPanels * panel) {
      for (int64_t p = 0; p < k; p++) {
        const T* row = b + p * b_row + j;
        T* to = out + p * kCols<T>;
#pragma GCC unroll 4
        for (int q = 0; q < kPanels; q++) {
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; v++) Vec<T>::load(row + q * kCols<T> + v * L).store(to + q * panel + v * L);
        }
      }
    }
  }
  for (; j < n; j += kCols<T>) {
    const int cols = int(std::min<int64_t>(kCols<T>, n - j));
    const int width = int(round_up(cols, L));
    const T* src = b + j * b_col;
    if (b_col == 1) {
      const int last = (cols - 1) % L + 1;
      const int vectors = width / L;
      for (int64_t p = 0; p < k; p++) {
        for (int v = 0; v < vectors; v++) {
          (v == vectors - 1 ? Vec<T>::load(src + p * b_row + v * L, last) : Vec<T>::load(src + p * b_row + v * L)).store(out + p * width + v * L);
        }
      }
    } else {
      // transposed: short runs of k from each column keep both sides within a few cache lines
      constexpr int64_t kRun = 16;
      for (int64_t p0 = 0; p0 < k; p0 += kRun) {
        const int64_t p1 = std::min(k, p0 + kRun);
        for (int c = 0; c < width; c++) {
          if (c < cols) {
            const T* column = src + c * b_col;
            for (int64_t p = p0; p < p1; p++) out[p * width + c] = column[p * b_row];
          } else {
            for (int64_t p = p0; p < p1; p++) out[p * width + c] = 0;
          }
        }
      }
    }
    out += int64_t(width) * k;
  }
}

namespace {

/// Applies the post-ops to a finished block at (row, col) of the product.
template <class T>
inline void apply_post_ops(const Epilogue<T>& e, int64_t rows, int64_t cols, T* c, int64_t c_row, int64_t row, int64_t col) {
  if constexpr (sizeof(T) == 4) {
    if (e.post != nullptr) e.post->apply(rows, cols, c, c_row, e.post_batch, e.post_row + row, e.post_col + col);
  }
}

}  // namespace

template <class T>
void multiply_packed(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_depth, const T* b, int64_t b_depth, int64_t k0_b, T* c,
                     int64_t c_row, const Epilogue<T>& e, bool first, bool last, int64_t row0, int64_t col0) {
  alignas(64) T buffer[kRows * kCols<T>];
  const auto tile_at = [&](int64_t i, int64_t j, const char* panel) {
    const int rows = int(std::min<int64_t>(kRows, m - i)), cols = int(std::min<int64_t>(kCols<T>, n - j));
    const int width = int(round_up(cols, Vec<T>::size));
    T* cp = c + i * c_row + j;
    const Ahead here{reinterpret_cast<const char*>(a), 0};
    Lines lines{here, here, panel};
    const bool post = last && e.post != nullptr;
    if (sizeof(T) == 4 && k >= kPass * kRows && rows == kRows && cols == kCols<T>) {
      lines.write = {reinterpret_cast<const char*>(cp), c_row * int64_t(sizeof(T))};
    } else {
      for (int r = 0; r < rows; r++) {
        __builtin_prefetch(cp + r * c_row, 1);
        __builtin_prefetch(cp + r * c_row + cols - 1, 1);
      }
    }
    const TileEnd<T> end = tile_end<T>(e, first, last, row0 + i, col0 + j, rows, cols, cp, c_row, buffer);
    const auto run = [&](T* to, int64_t to_row) {
      run_tile<T>(k, a + i * a_depth, 1, kRows, b + j * b_depth + k0_b * width, width, true, to, to_row, rows, cols, end, &lines);
    };
    if constexpr (sizeof(T) == 4) {
      if (post) {
        alignas(64) T tile[kRows * kCols<T>];
        const int64_t row = e.post_row + row0 + i, col = e.post_col + col0 + j;
        lines.read = e.post->ahead(e.post_batch, row, col, here);
        run(tile, cols);
        e.post->apply(rows, cols, tile, cp, c_row, e.post_batch, row, col);
        return;
      }
    }
    run(cp, c_row);
  };
  // The panel of B is larger than that of A and better stays in the first-level cache, unless A is too large to be read
  // from the second-level one for each panel of B. A B that is small is read again for each panel of A: C, which counts
  // for more then, is filled along its rows, as the processor prefetches it.
  const bool few_products = k * n * int64_t(sizeof(T)) <= kStreamed / 2;
  // The panel that the next row of tiles reads: where it comes from beyond the second-level cache, the first tiles of this one ask for it.
  const auto part_of = [&](const T* panel, int64_t elements, bool far, int64_t tile) {
    const int64_t from = tile * (k / kPass) * kPanelBytes;
    return far && from < elements * int64_t(sizeof(T)) ? reinterpret_cast<const char*>(panel) + from : nullptr;
  };
  if (m * k * int64_t(sizeof(T)) <= kStreamed && !few_products) {
    for (int64_t j = 0; j < n; j += kCols<T>) {
      poll();
      const int64_t next = j + kCols<T>, width = round_up(std::min<int64_t>(kCols<T>, n - next), Vec<T>::size);
      const T* panel = b + next * b_depth + k0_b * width;
      const bool far = next < n && n * b_depth * int64_t(sizeof(T)) > kFar;
      for (int64_t i = 0; i < m; i += kRows) tile_at(i, j, part_of(panel, k * width, far, i / kRows));
    }
  } else {
    for (int64_t i = 0; i < m; i += kRows) {
      poll();
      const T* panel = a + (i + kRows) * a_depth;
      const bool far = i + kRows < m && m * a_depth * int64_t(sizeof(T)) > kFar;
      for (int64_t j = 0; j < n; j += kCols<T>) tile_at(i, j, part_of(panel, k * kRows, far, j / kCols<T>));
    }
  }
}

namespace {

/// C = clamp(beta * S): a product over no elements.
template <class T>
void only_source(int64_t m, int64_t n, T* c, int64_t c_row, const Epilogue<T>& e) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      T v = e.source != nullptr ? e.beta * e.source[i * e.source_row + j * e.source_col] : T(0);
      c[i * c_row + j] = e.clamped ? clamp_one<T>(v, e.lo, e.hi) : v;
    }
  }
}

template <class T>
inline T finish_one(T product, const Epilogue<T>& e, int64_t i, int64_t j) {
  T v = e.alpha * product;
  if (e.source != nullptr) v += e.beta * e.source[i * e.source_row + j * e.source_col];
  return e.clamped ? clamp_one<T>(v, e.lo, e.hi) : v;
}

/// Few rows of A against columns of B that are contiguous along k (a weight stored [n][k]): dot products, no packing.
template <class T>
void dots(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, const T* b, int64_t b_col, T* c, int64_t c_row, const Epilogue<T>& e) {
  constexpr int L = Vec<T>::size;
  constexpr int R = 4;
  const int64_t body = k / L * L;
  const int rest = int(k - body);
  for (int64_t i = 0; i < m; i++) {
    const T* x = a + i * a_row;
    int64_t j = 0;
    for (; j + R <= n; j += R) {
      Vec<T> acc[R][2] = {};
      const T* w[R];
      for (int r = 0; r < R; r++) w[r] = b + (j + r) * b_col;
      int64_t p = 0;
      for (; p + 2 * L <= body; p += 2 * L) {
        const Vec<T> x0 = Vec<T>::load(x + p), x1 = Vec<T>::load(x + p + L);
#pragma GCC unroll 4
        for (int r = 0; r < R; r++) {
          acc[r][0] += x0 * Vec<T>::load(w[r] + p);
          acc[r][1] += x1 * Vec<T>::load(w[r] + p + L);
        }
      }
      for (; p < body; p += L) {
        const Vec<T> x0 = Vec<T>::load(x + p);
#pragma GCC unroll 4
        for (int r = 0; r < R; r++) acc[r][0] += x0 * Vec<T>::load(w[r] + p);
      }
      if (rest > 0) {
        const Vec<T> x0 = Vec<T>::load(x + p, rest);
#pragma GCC unroll 4
        for (int r = 0; r < R; r++) acc[r][1] += x0 * Vec<T>::load(w[r] + p, rest);
      }
      for (int r = 0; r < R; r++) c[i * c_row + j + r] = finish_one<T>(reduce_add(acc[r][0] + acc[r][1]), e, i, j + r);
    }
    for (; j < n; j++) {
      Vec<T> acc{};
      const T* w = b + j * b_col;
      for (int64_t p = 0; p < body; p += L) acc += Vec<T>::load(x + p) * Vec<T>::load(w + p);
      if (rest > 0) acc += Vec<T>::load(x + body, rest) * Vec<T>::load(w + body, rest);
      c[i * c_row + j] = finish_one<T>(reduce_add(acc), e, i, j);
    }
  }
}

/// One row of A against a whole packed B: four panels at a time, so that additions do not wait for each other.
template <class T>
void row_by_packed(int64_t n, int64_t k, const T* a, int64_t a_col, const T* b, T* c, const Epilogue<T>& e) {
  constexpr int L = Vec<T>::size, N = kCols<T>, G = 4;
  alignas(64) T buffer[kRows * kCols<T>];
  int64_t j = 0;
  for (; j + G * N <= n; j += G * N) {
    Vec<T> acc[G][kVectors] = {};
    const T* panel = b + j * k;
    const int64_t step = int64_t(N) * k;
    for (int64_t p = 0; p < k; p++) {
      const Vec<T> av = Vec<T>(a[p * a_col]);
#pragma GCC unroll 4
      for (int g = 0; g < G; g++) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; v++) acc[g][v] += av * Vec<T>::load(panel + g * step + p * N + v * L);
      }
    }
    for (int g = 0; g < G; g++) {
      const TileEnd<T> end = tile_end<T>(e, true, true, 0, j + g * N, 1, N, c, 0, buffer);
      for (int v = 0; v < kVectors; v++) {
        Vec<T> r = acc[g][v] * Vec<T>(end.alpha);
        if (end.kind == TileKind::kRowScalar) r += Vec<T>(end.beta * end.source[0]);
        else if (end.kind == TileKind::kVector) r += Vec<T>(end.beta) * Vec<T>::load(end.source + v * L);
        if (end.clamped) r = clamp<T>(r, end.lo, end.hi);
        r.store(c + j + g * N + v * L);
      }
    }
  }
  for (; j < n; j += N) {
    const int cols = int(std::min<int64_t>(N, n - j));
    const TileEnd<T> end = tile_end<T>(e, true, true, 0, j, 1, cols, c + j, 0, buffer);
    run_tile<T>(k, a, 0, a_col, b + j * k, round_up(cols, L), true, c + j, 0, 1, cols, end);
  }
}

}  // namespace

namespace {

/// How a product is computed. It depends on the sizes of the whole product alone, so that a part of it, which another
/// thread computes, has the same bits.
enum class Way { kRow, kDots, kUnpacked, kBlocked };

template <class T>
Way way_of(int64_t m, int64_t k, const Operand<T>& a, const Operand<T>& b) {
  if (b.packed && m == 1 && !a.packed) return Way::kRow;
  if (!a.packed && !b.packed && b.row == 1 && (a.col == 1 || k == 1) && m <= 3) return Way::kDots;
  return !a.packed && m <= kUnpackedRows<T> && (b.packed || b.col == 1) ? Way::kUnpacked : Way::kBlocked;
}

template <class T>
void few_rows(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, T* c, int64_t c_row, const Epilogue<T>& e) {
  alignas(64) T buffer[kRows * kCols<T>];
  for (int64_t j = 0; j < n; j += kCols<T>) {
    const int cols = int(std::min<int64_t>(kCols<T>, n - j));
    const int rows = int(m);
    const TileEnd<T> end = tile_end<T>(e, true, true, 0, j, rows, cols, c + j, c_row, buffer);
    if (b.packed) run_tile<T>(k, a.data, a.row, a.col, b.data + j * k, round_up(cols, Vec<T>::size), true, c + j, c_row, rows, cols, end);
    else run_tile<T>(k, a.data, a.row, a.col, b.data + j, b.row, false, c + j, c_row, rows, cols, end);
  }
}

/// Columns of B that are packed at a time: each column block packs all of A again.
template <class T>
constexpr int64_t kWide = 16384 / int64_t(sizeof(T)) / kCols<T> * kCols<T>;

template <class T>
bool blocked(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, T* c, int64_t c_row, const Epilogue<T>& e) {
  const int64_t depth = even_depth(k);
  const int64_t width = b.packed ? round_up(n, kCols<T>) : std::min(round_up(n, kCols<T>), kWide<T>);
  // a block of A that stays in the second-level cache beside the block of B
  const int64_t height = std::min<int64_t>(round_up(m, kRows), kRows * std::max<int64_t>(1, 262144 / int64_t(sizeof(T)) / (kRows * depth)));
  const int64_t a_elements = a.packed ? 0 : round_up(height * depth, 64);
  const int64_t b_elements = b.packed ? 0 : width * depth;
  T* memory = nullptr;
  if (a_elements + b_elements > 0) {
    memory = static_cast<T*>(ptlite_scratch(size_t(a_elements + b_elements) * sizeof(T)));
    if (memory == nullptr) return false;
  }
  T* a_pack = memory;
  T* b_pack = memory + a_elements;
  for (int64_t j = 0; j < n; j += width) {
    const int64_t nn = std::min(width, n - j);
    for (int64_t p = 0; p < k; p += depth) {
      const int64_t kk = std::min(depth, k - p);
      const bool first = p == 0, last = p + kk == k;
      const T* bp = b.data + j * k;
      if (!b.packed) {
        pack_b<T>(kk, nn, b.data + p * b.row + j * b.col, b.row, b.col, b_pack);
        bp = b_pack;
      }
      const int64_t b_depth = b.packed ? k : kk;
      const int64_t b_k0 = b.packed ? p : 0;
      if (a.packed) {
        multiply_packed<T>(m, nn, kk, a.data + p * kRows, k, bp, b_depth, b_k0, c + j, c_row, e, first, last, 0, j);
      } else {
        for (int64_t i = 0; i < m; i += height) {
          const int64_t mm = std::min(height, m - i);
          pack_a<T>(mm, kk, a.data + i * a.row + p * a.col, a.row, a.col, a_pack);
          multiply_packed<T>(mm, nn, kk, a_pack, kk, bp, b_depth, b_k0, c + i * c_row + j, c_row, e, first, last, i, j);
        }
      }
    }
  }
  return true;
}

/// The columns from `col` on and rows from `row` on, `cols` and `rows` of them; both are starts of panels.
template <class T>
bool part(Way way, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row,
          Epilogue<T> e) {
  a.data += a.packed ? row * k : row * a.row;
  b.data += b.packed ? col * k : col * b.col;
  c += row * c_row + col;
  if (e.source != nullptr) e.source += row * e.source_row + col * e.source_col;
  e.post_row += row;
  e.post_col += col;
  switch (way) {
    case Way::kRow:
      row_by_packed<T>(cols, k, a.data, a.col, b.data, c, e);
      break;
    case Way::kDots:
      dots<T>(rows, cols, k, a.data, a.row, b.data, b.col, c, c_row, e);
      break;
    case Way::kUnpacked:
      few_rows<T>(rows, cols, k, a, b, c, c_row, e);
      break;
    default:
      return blocked<T>(rows, cols, k, a, b, c, c_row, e);
  }
  apply_post_ops<T>(e, rows, cols, c, c_row, 0, 0);
  return true;
}

}  // namespace

template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row, const Epilogue<T>& e) {
  if (m == 0 || n == 0) return true;
  if (k == 0) {
    only_source<T>(m, n, c, c_row, e);
    apply_post_ops<T>(e, m, n, c, c_row, 0, 0);
    return true;
  }
  const Way way = way_of(m, k, a, b);
  // one row takes four panels at a time
  const int64_t width = way == Way::kRow ? 4 * kCols<T> : kCols<T>;
  const int64_t panels = (n + width - 1) / width;
  std::atomic<bool> fine{true};
  const int64_t strips = (m + kRows - 1) / kRows;
  // each range packs what it needs of an operand that is not packed: rows of A are packed once where B is packed already
  // Few strips are uneven shares, and every range reads all of B for its own. Where there are panels enough for all threads, packing
  // A in each range costs less than that.
  const bool by_panels = b.packed && strips < 64 * thread_limit() && panels >= 4 * thread_limit();
  if (way == Way::kBlocked && !by_panels && (m > n || (b.packed && strips >= 4 * thread_limit()))) {
    const int64_t fewest = b.packed ? 1 : (strips + thread_limit() - 1) / thread_limit();
    parallel_for(strips, std::max(fewest, grain_for(kRows * n * k)), [&](int64_t begin, int64_t end) {
      const int64_t row = begin * kRows;
      if (!part<T>(way, row, std::min(end * kRows, m) - row, 0, n, k, a, b, c, c_row, e)) fine = false;
    });
  } else {
    parallel_for(panels, grain_for(m * width * k), [&](int64_t begin, int64_t end) {
      const int64_t col = begin * width;
      if (!part<T>(way, 0, m, col, std::min(end * width, n) - col, k, a, b, c, c_row, e)) fine = false;
    });
  }
  return fine;
}

PTLITE_GEMM_OF(, float)
PTLITE_GEMM_OF(, double)

}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
