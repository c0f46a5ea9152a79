// A walk over strided dims, innermost first, that keeps two operands and up to eight index tensors in step.
#pragma once

#include <cstdint>

#include "pool/budget.h"
#include "ptlite_abi.h"
#include "support/element.h"

namespace {

constexpr int32_t kMaxIndices = 8;

template <class Frame>
struct IndexWalk {
  const Frame* f;
  const int64_t* a_strides;
  const int64_t* b_strides;
  int64_t a = 0, b = 0;
  int64_t at[kMaxIndices] = {};
  int64_t position[12] = {};

  IndexWalk(const Frame* frame, const int64_t* a_step, const int64_t* b_step) : f(frame), a_strides(a_step), b_strides(b_step) {}

  /// Steps through dims 1 and up.
  void next_row() {
    ptlite::poll();
    for (int32_t d = 1; d < f->ndim; d++) {
      const bool carry = ++position[d] == f->sizes[d];
      const int64_t by = carry ? 1 - f->sizes[d] : 1;
      a += a_strides[d] * by;
      b += b_strides[d] * by;
      for (int32_t k = 0; k < f->indices; k++) at[k] += f->index_strides[12 * k + d] * by;
      if (!carry) return;
      position[d] = 0;
    }
  }

  int64_t rows() const {
    int64_t n = 1;
    for (int32_t d = 1; d < f->ndim; d++) n *= f->sizes[d];
    return n;
  }

  /// Adds index k at `offset` of its tensor to `to`; false where it is out of range.
  bool add(int32_t k, int64_t offset, int64_t& to) const {
    int64_t value = f->index_dtype == elem::I32 ? ((const int32_t*)f->index[k])[offset] : ((const int64_t*)f->index[k])[offset];
    const int64_t limit = f->limits[k];
    if (f->wrap && value < 0) value += limit;
    if (value < 0 || value >= limit) return false;
    to += value * f->steps[k];
    return true;
  }

  /// Where elements first.. of the current row lie that the indices name: to[i] = start + i * step + what they add. False where one is
  /// out of range.
  bool places(int64_t first, int64_t n, int64_t start, int64_t step, int64_t* to) const {
    for (int64_t i = 0; i < n; i++) to[i] = start + i * step;
    for (int32_t k = 0; k < f->indices; k++) {
      const int64_t by = f->index_strides[12 * k], from = at[k] + first * by;
      const bool inside = f->index_dtype == elem::I32 ? add_each((const int32_t*)f->index[k] + from, by, k, n, to)
                                                      : add_each((const int64_t*)f->index[k] + from, by, k, n, to);
      if (!inside) return false;
    }
    return true;
  }

  /// True where no index is out of range. Looks at each once, however many elements of the walk it serves.
  bool all_inside() const {
    for (int32_t k = 0; k < f->indices; k++) {
      const int64_t* by = f->index_strides + 12 * k;
      int64_t offset = 0, place[12] = {};
      for (bool more = true; more;) {
        int64_t to = 0;
        if (!add(k, offset, to)) return false;
        ptlite::poll();
        more = false;
        for (int32_t d = 0; d < f->ndim && !more; d++) {
          if (by[d] == 0) continue;
          more = ++place[d] < f->sizes[d];
          offset += more ? by[d] : by[d] * (1 - f->sizes[d]);
          if (!more) place[d] = 0;
        }
      }
    }
    return true;
  }

  // Not vectorised: without 64-bit products in the baseline's registers that would take three times as long.
  template <class I>
  __attribute__((optimize("no-tree-vectorize"))) bool add_each(const I* index, int64_t by, int32_t k, int64_t n, int64_t* to) const {
    const int64_t limit = f->limits[k], step = f->steps[k], wrap = f->wrap ? limit : 0;
    bool inside = true;
    for (int64_t i = 0; i < n; i++) {
      int64_t value = index[i * by];
      value += value < 0 ? wrap : 0;
      inside &= value >= 0 && value < limit;
      to[i] += value * step;
    }
    return inside;
  }

  bool row_is_uniform() const {
    for (int32_t k = 0; k < f->indices; k++)
      if (f->index_strides[12 * k] != 0) return false;
    return true;
  }
};

}  // namespace
