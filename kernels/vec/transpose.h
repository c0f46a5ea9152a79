// Transposition of matrices in registers.
#pragma once

#include "vec/vec.h"

#if defined(PTLITE_WHOLE_SQUARES)
#include "primitives/parts.h"
#endif
#if PTLITE_VEC_BYTES >= 32
#include "primitives/transpose.h"
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {

// Row i of a square of L x L elements becomes its column i: at each step, blocks of `step` lanes change places between
// rows that are `step` apart.
template <class T, int step = 1>
PTLITE_INLINE void transpose_square(Vec<T>* rows) {
  constexpr int L = Vec<T>::size;
#if defined(PTLITE_WHOLE_SQUARES)
  if constexpr (step == 1 && L == 4 && sizeof(T) == 4) {
    const auto a = (PartVector)rows[0].v, b = (PartVector)rows[1].v, c = (PartVector)rows[2].v, d = (PartVector)rows[3].v;
    const PartVector ab[2] = {low_pairs(a, b), high_pairs(a, b)}, cd[2] = {low_pairs(c, d), high_pairs(c, d)};
    for (int i = 0; i < L; i++) {
      const PartVector row = i % 2 == 0 ? low_halves(ab[i / 2], cd[i / 2]) : high_halves(ab[i / 2], cd[i / 2]);
      rows[i] = Vec<T>((typename Vec<T>::Raw)row);
    }
    return;
  }
#endif
  if constexpr (step < L) {
    using Index = typename Vec<T>::Mask::Raw;
    Index low{}, high{};
    for (int j = 0; j < L; j++) {
      low[j] = (j & step) != 0 ? L + j - step : j;
      high[j] = (j & step) != 0 ? L + j : j + step;
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; i++) {
      if ((i & step) != 0) continue;
      const auto x = rows[i].v, y = rows[i + step].v;
      rows[i] = Vec<T>(arch::shuffled(x, y, low));
      rows[i + step] = Vec<T>(arch::shuffled(x, y, high));
    }
    transpose_square<T, step * 2>(rows);
  }
}

// panel[i * rows + j] = from[j * stride + i] for i < n and j < filled; 0 for filled <= j < rows.
inline void transpose_panel(const float* from, int64_t stride, int filled, int rows, int64_t n, float* panel) {
  int j = 0;
#if PTLITE_VEC_BYTES >= 32
  const int64_t whole = n / 8 * 8;
  for (; j + 8 <= filled; j += 8) {
    for (int64_t i = 0; i < whole; i += 8) transpose_8x8(from + j * stride + i, stride, panel + i * rows + j, rows);
    for (int64_t i = whole; i < n; i++) {
      for (int k = j; k < j + 8; k++) panel[i * rows + k] = from[k * stride + i];
    }
  }
#endif
#if defined(PTLITE_WHOLE_SQUARES)
  constexpr int L = Vec<float>::size;
  const int64_t whole = n / L * L;
  for (; j + L <= filled; j += L) {
    for (int64_t i = 0; i < whole; i += L) {
      Vec<float> square[L];
      for (int r = 0; r < L; r++) square[r] = Vec<float>::load(from + (j + r) * stride + i);
      transpose_square<float>(square);
      for (int r = 0; r < L; r++) square[r].store(panel + (i + r) * rows + j);
    }
    for (int64_t i = whole; i < n; i++) {
      for (int k = j; k < j + L; k++) panel[i * rows + k] = from[k * stride + i];
    }
  }
#endif
  for (; j < rows; j++) {
    for (int64_t i = 0; i < n; i++) panel[i * rows + j] = j < filled ? from[j * stride + i] : 0.f;
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
