// Blocked matrix product C = clamp(alpha * A * B + beta * S) for float and double, shared by the GEMM, linear and
// convolution kernels. Operands are cut into register tiles of kRows x kCols: A in panels of kRows rows stored
// k-major (panel[k][row]), B in panels of kCols columns stored k-major (panel[k][column]).
// Include inside per-level translation units only.
#pragma once

#include <algorithm>
#include <limits>

#include "vec/vec.h"

namespace {
namespace gemm {

using ptlite::Vec;

// The tile leaves room for one vector of B per column group and one broadcast of A: 28 of 32 registers with
// AVX-512, 12 of 16 with AVX2, 8 of 16 with SSE2, which has no three-operand form.
#if defined(__AVX512F__)
constexpr int kRows = 14;
#elif defined(__AVX2__)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr int kVectors = 2;

/// Columns of a register tile.
template <class T>
constexpr int kCols = kVectors * Vec<T>::size;

/// Depth of a block: an A panel of this depth stays in the first-level cache.
constexpr int64_t kDepth = 384;
/// Columns of a packed B block: with kDepth rows it fills about half of a 1 MiB second-level cache.
template <class T>
constexpr int64_t kWidth = 1280 / int64_t(sizeof(T)) / kCols<T> * kCols<T>;

/// NaN in v survives, as in at::clamp.
template <class T>
inline Vec<T> clamp(Vec<T> v, T lo, T hi) {
  const Vec<T> l(lo), h(hi);
  v = select(v < l, l, v);
  return select(v > h, h, v);
}
template <class T>
inline T clamp_one(T v, T lo, T hi) {
  v = v < lo ? lo : v;
  return v > hi ? hi : v;
}

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Depth of each k block so that all blocks of k are about equal.
inline int64_t even_depth(int64_t k) {
  const int64_t blocks = (k + kDepth - 1) / kDepth;
  return blocks <= 1 ? k : round_up((k + blocks - 1) / blocks, 8);
}

/// What happens to the product on its way to memory: alpha * product + beta * source, then clamp.
template <class T>
struct Epilogue {
  T alpha = 1;
  T beta = 1;
  const T* source = nullptr;  ///< null: nothing is added
  int64_t source_row = 0;     ///< strides of the source; 0 broadcasts
  int64_t source_col = 0;
  T lo = -std::numeric_limits<T>::infinity();
  T hi = std::numeric_limits<T>::infinity();
  bool clamped = false;
};

/// One register tile's way to memory; the vector form of Epilogue.
template <class T>
struct TileEnd {
  enum Kind { kPlain, kRowScalar, kVector };
  T alpha, beta, lo, hi;
  bool clamped;
  Kind kind;
  const T* source;
  int64_t source_row;
};

/// Accumulates an M x (kVectors or fewer vectors) tile. `a` advances by a_k per k and has rows a_row apart; `b` has
/// `V` vectors per k, b_k apart; the last vector of C (and of B with kTail) has `last` lanes.
template <class T, int M, int V, bool kTail>
void tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row, int rows, int last,
          const TileEnd<T>& end) {
  constexpr int L = Vec<T>::size;
  Vec<T> acc[M][V];
  for (int i = 0; i < M; i++) {
    for (int v = 0; v < V; v++) acc[i][v] = Vec<T>{};
  }
  for (int64_t p = 0; p < k; p++) {
    Vec<T> bv[V];
    for (int v = 0; v < V; v++) bv[v] = kTail && v == V - 1 ? Vec<T>::load(b + v * L, last) : Vec<T>::load(b + v * L);
#pragma GCC unroll 16
    for (int i = 0; i < M; i++) {
      const Vec<T> av = Vec<T>(a[i * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) acc[i][v] += av * bv[v];
    }
    a += a_k;
    b += b_k;
  }
  const Vec<T> alpha = Vec<T>(end.alpha), beta = Vec<T>(end.beta);
#pragma GCC unroll 16
  for (int i = 0; i < M; i++) {
    if (i >= rows) break;
    T* row = c + i * c_row;
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      const int lanes = v == V - 1 ? last : L;
      Vec<T> r = acc[i][v] * alpha;
      if (end.kind == TileEnd<T>::kRowScalar) r += beta * Vec<T>(end.source[i * end.source_row]);
      else if (end.kind == TileEnd<T>::kVector) r += beta * Vec<T>::load(end.source + i * end.source_row + v * L, lanes);
      if (end.clamped) r = clamp<T>(r, end.lo, end.hi);
      if (lanes == L) r.store(row + v * L);
      else r.store(row + v * L, lanes);
    }
  }
}

template <class T, int V, bool kTail>
void tile_rows(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row, int rows, int last,
               const TileEnd<T>& end) {
#define PTLITE_TILE(M)                                                              \
  if constexpr (M <= kRows) {                                                       \
    if (rows <= M) return tile<T, M, V, kTail>(k, a, a_row, a_k, b, b_k, c, c_row, rows, last, end); \
  }
  PTLITE_TILE(1)
  PTLITE_TILE(2)
  PTLITE_TILE(3)
  PTLITE_TILE(4)
  PTLITE_TILE(6)
  PTLITE_TILE(8)
  PTLITE_TILE(10)
  PTLITE_TILE(12)
  PTLITE_TILE(14)
#undef PTLITE_TILE
}

/// Runs the tile that covers rows x cols (at most kRows x kCols). Packed A panels are padded to kRows rows, so a tile
/// may read, but not write, more rows than asked; unpacked A must have rows in {1, 2, 3, 4}.
template <class T>
inline void run_tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, bool b_packed, T* c, int64_t c_row,
                     int rows, int cols, const TileEnd<T>& end) {
  constexpr int L = Vec<T>::size;
  const int last = (cols - 1) % L + 1;
  if (b_packed || last == L) {
    if (cols > L) tile_rows<T, 2, false>(k, a, a_row, a_k, b, b_k, c, c_row, rows, last, end);
    else tile_rows<T, 1, false>(k, a, a_row, a_k, b, b_k, c, c_row, rows, last, end);
  } else {
    if (cols > L) tile_rows<T, 2, true>(k, a, a_row, a_k, b, b_k, c, c_row, rows, last, end);
    else tile_rows<T, 1, true>(k, a, a_row, a_k, b, b_k, c, c_row, rows, last, end);
  }
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
    t.kind = TileEnd<T>::kVector;
    t.source = c;
    t.source_row = c_row;
  } else if (e.source == nullptr) {
    t.kind = TileEnd<T>::kPlain;
  } else {
    const T* s = e.source + row * e.source_row + col * e.source_col;
    if (e.source_col == 0) {
      t.kind = TileEnd<T>::kRowScalar;
      t.source = s;
      t.source_row = e.source_row;
    } else if (e.source_col == 1) {
      t.kind = TileEnd<T>::kVector;
      t.source = s;
      t.source_row = e.source_row;
    } else {
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) buffer[i * kCols<T> + j] = s[i * e.source_row + j * e.source_col];
      }
      t.kind = TileEnd<T>::kVector;
      t.source = buffer;
      t.source_row = kCols<T>;
    }
  }
  return t;
}

/// Elements of A packed whole: panels of kRows x k, the last one padded with zeros.
template <class T>
inline int64_t packed_a_size(int64_t m, int64_t k) {
  return round_up(m, kRows) * k;
}

/// Elements of B packed whole: panels of k x kCols, the last one padded to whole vectors.
template <class T>
inline int64_t packed_b_size(int64_t n, int64_t k) {
  return round_up(n, Vec<T>::size) * k;
}

template <class T>
void pack_a(int64_t m, int64_t k, const T* a, int64_t a_row, int64_t a_col, T* out) {
  for (int64_t i = 0; i < m; i += kRows) {
    const int rows = int(std::min<int64_t>(kRows, m - i));
    const T* src = a + i * a_row;
    if (a_row == 1 && rows == kRows) {
      for (int64_t p = 0; p < k; p++) {
        for (int r = 0; r < kRows; r++) out[p * kRows + r] = src[p * a_col + r];
      }
    } else {
      for (int r = 0; r < kRows; r++) {
        if (r < rows) {
          for (int64_t p = 0; p < k; p++) out[p * kRows + r] = src[r * a_row + p * a_col];
        } else {
          for (int64_t p = 0; p < k; p++) out[p * kRows + r] = 0;
        }
      }
    }
    out += kRows * k;
  }
}

/// Packs k rows and n columns of B. Panel p starts at p * kCols * k; the last panel is as wide as whole vectors need.
template <class T>
void pack_b(int64_t k, int64_t n, const T* b, int64_t b_row, int64_t b_col, T* out) {
  constexpr int L = Vec<T>::size;
  for (int64_t j = 0; j < n; j += kCols<T>) {
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

/// Multiplies a packed A block by a packed B block. `a_stride` and `b_depth` are the depths both were packed with
/// (at least `k`); panels of A are kRows * a_depth apart, those of B kCols * b_depth.
template <class T>
void multiply_packed(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_depth, const T* b, int64_t b_depth, int64_t k0_b, T* c,
                     int64_t c_row, const Epilogue<T>& e, bool first, bool last, int64_t row0, int64_t col0) {
  alignas(64) T buffer[kRows * kCols<T>];
  for (int64_t i = 0; i < m; i += kRows) {
    const int rows = int(std::min<int64_t>(kRows, m - i));
    const T* ap = a + i * a_depth;
    for (int64_t j = 0; j < n; j += kCols<T>) {
      const int cols = int(std::min<int64_t>(kCols<T>, n - j));
      const int width = int(round_up(cols, Vec<T>::size));
      T* cp = c + i * c_row + j;
      const TileEnd<T> end = tile_end<T>(e, first, last, row0 + i, col0 + j, rows, cols, cp, c_row, buffer);
      run_tile<T>(k, ap, 1, kRows, b + j * b_depth + k0_b * width, width, true, cp, c_row, rows, cols, end);
    }
  }
}

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
        if (end.kind == TileEnd<T>::kRowScalar) r += Vec<T>(end.beta * end.source[0]);
        else if (end.kind == TileEnd<T>::kVector) r += Vec<T>(end.beta) * Vec<T>::load(end.source + v * L);
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

/// An operand: strided, or packed whole by pack_a / pack_b.
template <class T>
struct Operand {
  const T* data;
  int64_t row;
  int64_t col;
  bool packed;
};

/// The product, with C contiguous along its columns. `scratch(bytes)` returns memory for packing or null; it is not
/// asked where both are packed. False where there is no memory.
template <class T, class Scratch>
bool multiply(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row, const Epilogue<T>& e, Scratch scratch) {
  if (m == 0 || n == 0) return true;
  if (k == 0) {
    only_source<T>(m, n, c, c_row, e);
    return true;
  }
  if (b.packed && m == 1 && !a.packed) {
    row_by_packed<T>(n, k, a.data, a.col, b.data, c, e);
    return true;
  }
  if (!a.packed && !b.packed && b.row == 1 && (a.col == 1 || k == 1) && m <= 3) {
    dots<T>(m, n, k, a.data, a.row, b.data, b.col, c, c_row, e);
    return true;
  }
  alignas(64) T buffer[kRows * kCols<T>];
  if (!a.packed && m <= 4 && (b.packed || b.col == 1)) {
    for (int64_t j = 0; j < n; j += kCols<T>) {
      const int cols = int(std::min<int64_t>(kCols<T>, n - j));
      const int rows = int(m);
      const TileEnd<T> end = tile_end<T>(e, true, true, 0, j, rows, cols, c + j, c_row, buffer);
      if (b.packed) run_tile<T>(k, a.data, a.row, a.col, b.data + j * k, round_up(cols, Vec<T>::size), true, c + j, c_row, rows, cols, end);
      else run_tile<T>(k, a.data, a.row, a.col, b.data + j, b.row, false, c + j, c_row, rows, cols, end);
    }
    return true;
  }
  const int64_t depth = even_depth(k);
  const int64_t width = std::min(round_up(n, kCols<T>), b.packed ? round_up(n, kCols<T>) : kWidth<T>);
  // a block of A that stays in the second-level cache beside the block of B
  const int64_t height = std::min<int64_t>(round_up(m, kRows), kRows * std::max<int64_t>(1, 262144 / int64_t(sizeof(T)) / (kRows * depth)));
  const int64_t a_elements = a.packed ? 0 : round_up(height * depth, 64);
  const int64_t b_elements = b.packed ? 0 : width * depth;
  T* memory = nullptr;
  if (a_elements + b_elements > 0) {
    memory = static_cast<T*>(scratch(size_t(a_elements + b_elements) * sizeof(T)));
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

}  // namespace gemm
}  // namespace
