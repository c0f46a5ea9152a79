// Products of groups of rows, columns or summands that offsets in memory tell apart, as in mixtures of experts.
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "frames/gemm.h"
#include "dispatch/kernel.h"

#include "gemm_core.h"
#include "pool/pool.h"

namespace {

namespace gemm = ptlite::gemm;

/// Copies the ends, which results may overwrite before they are used. True where they ascend from 0 to at most `size`.
bool ascend(const grouped_gemm_frame& f, int64_t size, int32_t* to) {
  const auto* ends = reinterpret_cast<const int32_t*>(f.ends);
  int32_t last = 0;
  for (int64_t g = 0; g < f.groups; g++) {
    to[g] = ends[g * f.ends_step];
    if (to[g] < last || to[g] > size) return false;
    last = to[g];
  }
  return true;
}

/// The ends of as many groups.
struct Ends {
  int32_t* const of;
  explicit Ends(int64_t groups) : of(static_cast<int32_t*>(malloc(static_cast<size_t>(groups + 1) * sizeof(int32_t)))) {}
  ~Ends() { free(of); }
};

int32_t grouped_gemm(grouped_gemm_frame* frame) {
  const grouped_gemm_frame& f = *frame;
  const Ends kept(f.groups);
  int32_t* const ends = kept.of;
  if (ends == nullptr) return PTLITE_NO_MEMORY;
  const bool rows = f.split == GroupedDim_rows;
  const bool columns = f.split == GroupedDim_columns;
  if (!ascend(f, rows ? f.m : columns ? f.n : f.k, ends)) return PTLITE_INDEX_RANGE;
  auto* c = reinterpret_cast<float*>(f.c);
  const int64_t matrix = int64_t{f.m} * f.n;
  memset(c, 0, sizeof(float) * matrix * (rows || columns ? 1 : f.groups));
  std::atomic<bool> fine{true};
  const auto some = [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; g++) {
      const int64_t start = g == 0 ? 0 : ends[g - 1];
      const int64_t length = ends[g] - start;
      if (length == 0) continue;
      const float* a = reinterpret_cast<const float*>(f.a) + g * f.a_group;
      const float* b = reinterpret_cast<const float*>(f.b) + g * f.b_group;
      float* own = c;
      if (rows) a += start * f.a_row, own += start * f.n;
      else if (columns) b += start * f.b_col, own += start;
      else a += start * f.a_col, b += start * f.b_row, own += g * matrix;
      const gemm::Operand<float> left{a, f.a_row, f.a_col, false};
      const gemm::Operand<float> right{b, f.b_row, f.b_col, false};
      if (!gemm::multiply<float>(rows ? length : f.m, columns ? length : f.n, rows || columns ? f.k : length, left, right, own, f.n, {})) fine = false;
    }
  };
  // threads share out the groups, or else the columns of each
  if (f.groups >= ptlite::thread_limit()) ptlite::parallel_for(f.groups, ptlite::grain_for(matrix * f.k / f.groups), some);
  else some(0, f.groups);
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

}  // namespace

PTLITE_KERNEL(grouped_gemm, grouped_gemm)
