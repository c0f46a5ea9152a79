// Selections from a line. Which of several equal elements is reported follows from the algorithm, and PyTorch's choice
// comes from the same ones: partial_sort or nth_element for topk, a three-way median partition for kthvalue.
#include <algorithm>
#include <cstring>

#include "frames/sort.h"
#include "dispatch/kernel.h"
#include "ops/sort/partial_order.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/order.h"

namespace {

using order::Item;

inline bool greater(const Item& a, const Item& b) { return a.key > b.key; }
inline bool smaller(const Item& a, const Item& b) { return a.key < b.key; }

template <class Before>
void top(Item* items, int64_t n, int64_t k, bool sorted, Before before) {
  if (k == 0) return;
  order::paced(n, before, [&](auto paced) {
    if (k * 64 <= n) {
      partial_order::partial_sort(items, k, n, paced);
      return;
    }
    partial_order::nth_element(items, k - 1, n, paced);
    if (sorted) partial_order::sort(items, k - 1, paced);
  });
}

/// Puts the k-th smallest at items[k] (Sedgewick's variant: pivot is the median of first, middle and last).
void partition_kth(Item* items, int64_t n, int64_t k) {
  int64_t left = 0, right = n - 1;
  ptlite::Pace pace;
  while (right > left) {
    // an order that its author has chosen makes as many partitions as there are elements
    pace.after(right - left);
    if (right == left + 1) {
      if (greater(items[left], items[right])) std::swap(items[left], items[right]);
      return;
    }
    std::swap(items[(left + right) >> 1], items[left + 1]);
    if (greater(items[left + 1], items[right])) std::swap(items[left + 1], items[right]);
    if (greater(items[left], items[right])) std::swap(items[left], items[right]);
    if (greater(items[left + 1], items[left])) std::swap(items[left + 1], items[left]);
    int64_t i = left + 1, j = right;
    const Item pivot = items[left];
    for (;;) {
      do i++;
      while (greater(pivot, items[i]));
      do j--;
      while (greater(items[j], pivot));
      if (j < i) break;
      std::swap(items[i], items[j]);
    }
    std::swap(items[left], items[j]);
    if (j <= k) left = i;
    if (j >= k) right = j - 1;
  }
}

int64_t nan_count(const Item* items, int64_t n, int32_t dtype) {
  if (!order::has_nan(dtype)) return 0;
  const uint64_t nan = order::nan_key(dtype);
  return std::count_if(items, items + n, [nan](const Item& x) { return x.key == nan; });
}

int64_t median_of(Item* items, int64_t n, int32_t dtype, bool skip_nan) {
  const int64_t nans = nan_count(items, n, dtype);
  if (nans > 0 && !skip_nan) {
    const uint64_t nan = order::nan_key(dtype);
    return std::find_if(items, items + n, [nan](const Item& x) { return x.key == nan; })->index;
  }
  const int64_t k = nans == n ? 0 : (n - nans - 1) / 2;
  // of equal elements the one that a stable sort would put at k
  const auto before = [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; };
  order::paced(n, before, [&](auto paced) { std::nth_element(items, items + k, items + n, paced); });
  return items[k].index;
}

int64_t mode_of(Item* items, int64_t n, int32_t dtype) {
  order::paced(n, smaller, [&](auto paced) { partial_order::sort(items, n, paced); });
  const bool nan = order::has_nan(dtype);
  const uint64_t nan_key = order::nan_key(dtype);
  int64_t best = items[0].index, most = 0, run = 0;
  for (int64_t i = 0; i < n; i++) {
    run++;
    if (i + 1 < n && items[i].key == items[i + 1].key && !(nan && items[i].key == nan_key)) continue;
    if (run > most) {
      most = run;
      best = items[i].index;
    }
    run = 0;
  }
  return best;
}

int32_t select_run(select_frame* f) {
  const int64_t n = f->count, size = elem::size_of(f->dtype);
  Odometer lines(f->ndim, f->sizes, f->in_strides, f->values_strides, f->indices_strides);
  const int64_t total = n > 0 ? lines.count() : 0;
  if (total == 0) return PTLITE_OK;
  auto* items = static_cast<Item*>(ptlite_scratch(size_t(n) * sizeof(Item)));
  if (!items) return PTLITE_NO_MEMORY;
  ptlite::Pace pace;
  for (int64_t l = 0; l < total; l++, lines.next()) {
    pace.after(n);
    const char* in = elem::at((const void*)f->in, f->dtype, lines.offset[0]);
    order::load_items(items, f->dtype, in, f->in_step, n);
    int64_t results = 1;
    switch (f->op) {
      case SelectOp_topk_largest: top(items, n, results = f->k, f->sorted, greater); break;
      case SelectOp_topk_smallest: top(items, n, results = f->k, f->sorted, smaller); break;
      case SelectOp_kth:
        partition_kth(items, n, f->k - 1);
        items[0] = items[f->k - 1];
        break;
      case SelectOp_median: items[0].index = median_of(items, n, f->dtype, false); break;
      case SelectOp_nanmedian: items[0].index = median_of(items, n, f->dtype, true); break;
      case SelectOp_mode: items[0].index = mode_of(items, n, f->dtype); break;
    }
    char* values = elem::at((void*)f->values_out, f->dtype, lines.offset[1]);
    int64_t* indices = (int64_t*)f->indices_out + lines.offset[2];
    for (int64_t i = 0; i < results; i++) {
      memcpy(values + i * f->values_step * size, in + items[i].index * f->in_step * size, size_t(size));
      indices[i * f->indices_step] = items[i].index;
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(select, select_run)
