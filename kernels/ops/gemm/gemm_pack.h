// Packing of the operands of the matrix product (gemm_core.h) into panels. Included by gemm_core.cpp alone.
#pragma once

#include <algorithm>

#include "ops/gemm/gemm_core.h"
#include "vec/transpose.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {
namespace {

/// Rows of a panel that one vector holds a column of: all of them, or as many as it has lanes.
template <class T>
constexpr int kPiece = kRows < Vec<T>::size ? kRows : Vec<T>::size;

/// Stores `rows` rows of column `p` of a panel. Where a panel is less than a vector, what lies behind it comes along, and the next column overwrites it;
/// the last of `k` keeps to its place, as what is left of a panel behind whole vectors does.
template <class T>
PTLITE_INLINE void store_column(Vec<T> column, int rows, int64_t p, int64_t k, T* panel) {
  if (rows == Vec<T>::size || (kRows < Vec<T>::size && p + 1 < k)) column.store(panel + p * kRows);
  else column.store(panel + p * kRows, rows);
}

/// `of` rows of a panel, of which `rows` are there, that are contiguous along k, in squares of Vec<T>::size.
template <class T>
PTLITE_INLINE void pack_squares(int64_t k, const T* a, int64_t a_row, int rows, int of, T* out) {
  constexpr int L = Vec<T>::size;
#if defined(PTLITE_WHOLE_SQUARES)
  const int64_t whole = rows >= of ? k / L * L : 0;
  for (int64_t p = 0; p < whole; p += L) {
    Vec<T> square[L];
#pragma GCC unroll 16
    for (int r = 0; r < L; r++) square[r] = r < of ? Vec<T>::load(a + r * a_row + p) : Vec<T>::zero();
    transpose_square<T>(square);
#pragma GCC unroll 16
    for (int c = 0; c < L; c++) store_column<T>(square[c], of, p + c, k, out);
  }
#pragma GCC unroll 1
  for (int64_t p = whole; p < k; p++) {
#pragma GCC unroll 1
    for (int r = 0; r < of; r++) out[p * kRows + r] = r < rows ? a[r * a_row + p] : T(0);
  }
#else
  for (int64_t p = 0; p < k; p += L) {
    const int64_t count = std::min<int64_t>(L, k - p);
    Vec<T> square[L];
#pragma GCC unroll 16
    for (int r = 0; r < L; r++) square[r] = r < rows ? Vec<T>::load(a + r * a_row + p, count) : Vec<T>::zero();
    transpose_square<T>(square);
#pragma GCC unroll 16
    for (int c = 0; c < L; c++) {
      if (c < count) store_column<T>(square[c], of, p + c, k, out);
    }
  }
#endif
}

/// A piece of a panel.
template <class T, int of>
void pack_piece(int64_t k, const T* a, int64_t a_row, int rows, T* out) {
  pack_squares<T>(k, a, a_row, rows, of, out);
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
        for (int64_t p = 0; p < k; p++) {
          for (int r = 0; r < kRows; r += kPiece<T>)
            store_column<T>(Vec<T>::load(src + p * a_col + r, std::max(0, rows - r)), std::min(kPiece<T>, kRows - r), p, k, out + r);
        }
        continue;
      }
      if (a_col == 1) {
        constexpr int kLast = kRows % kPiece<T>;
        for (int r = 0; r + kPiece<T> <= kRows; r += kPiece<T>) pack_piece<T, kPiece<T>>(k, src + r * a_row, a_row, rows - r, out + r);
        if constexpr (kLast > 0) pack_piece<T, kLast>(k, src + (kRows - kLast) * a_row, a_row, rows - (kRows - kLast), out + kRows - kLast);
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

}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
