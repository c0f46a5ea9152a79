// Products that are not worth packing for: over no elements, by dot products, and of few rows. Included by gemm_core.cpp alone.
#pragma once

#include <algorithm>

#include "ops/gemm/gemm_core.h"
#include "ops/gemm/gemm_tile.h"
#include "pool/pool.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {
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
          acc[r][0] = fma(x0, Vec<T>::load(w[r] + p), acc[r][0]);
          acc[r][1] = fma(x1, Vec<T>::load(w[r] + p + L), acc[r][1]);
        }
      }
      for (; p < body; p += L) {
        const Vec<T> x0 = Vec<T>::load(x + p);
#pragma GCC unroll 4
        for (int r = 0; r < R; r++) acc[r][0] = fma(x0, Vec<T>::load(w[r] + p), acc[r][0]);
      }
      if (rest > 0) {
        const Vec<T> x0 = Vec<T>::load(x + p, rest);
#pragma GCC unroll 4
        for (int r = 0; r < R; r++) acc[r][1] = fma(x0, Vec<T>::load(w[r] + p, rest), acc[r][1]);
      }
      for (int r = 0; r < R; r++) c[i * c_row + j + r] = finish_one<T>(reduce_add(acc[r][0] + acc[r][1]), e, i, j + r);
    }
    for (; j < n; j++) {
      Vec<T> acc{};
      const T* w = b + j * b_col;
      for (int64_t p = 0; p < body; p += L) acc = fma(Vec<T>::load(x + p), Vec<T>::load(w + p), acc);
      if (rest > 0) acc = fma(Vec<T>::load(x + body, rest), Vec<T>::load(w + body, rest), acc);
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
        for (int v = 0; v < kVectors; v++) acc[g][v] = fma(av, Vec<T>::load(panel + g * step + p * N + v * L), acc[g][v]);
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
    run_tile<T>(k, a, 0, a_col, b + j * k, round_up(cols, L), Packed::kB, c + j, 0, 1, cols, end);
  }
}

/// Up to kUnpackedRows<T> rows of A as they lie in memory.
template <class T>
void few_rows(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, T* c, int64_t c_row, const Epilogue<T>& e) {
  alignas(64) T buffer[kRows * kCols<T>];
  for (int64_t j = 0; j < n; j += kCols<T>) {
    poll();
    const int cols = int(std::min<int64_t>(kCols<T>, n - j));
    const int rows = int(m);
    const TileEnd<T> end = tile_end<T>(e, true, true, 0, j, rows, cols, c + j, c_row, buffer);
    const T* panel = b.packed ? b.data + j * k : b.data + j;
    const int64_t b_k = b.packed ? round_up(cols, Vec<T>::size) : b.row;
    run_tile<T>(k, a.data, a.row, a.col, panel, b_k, b.packed ? Packed::kB : Packed::kNone, c + j, c_row, rows, cols, end);
  }
}

}  // namespace
}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
