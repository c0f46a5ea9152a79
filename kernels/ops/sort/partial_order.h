// Heap selection, quickselect and introsort as libstdc++ does them, one comparison after the other: which of several equal elements comes where
// follows from the comparisons, PyTorch's wheels have it from that library, and other standard libraries order them otherwise.
#pragma once

#include <cstdint>
#include <utility>

namespace {
namespace partial_order {

/// Ranges up to this are left to insertion.
constexpr int64_t kInsertion = 16;

/// Twice the binary logarithm of n: partitions after which a range is taken for a bad case.
inline int depth_limit(int64_t n) {
  int log = 0;
  while (n > 1) {
    n >>= 1;
    log++;
  }
  return 2 * log;
}

/// Lets the hole at the top of a heap sink to a leaf, and `value` rise from there.
template <class T, class Before>
void sink(T* heap, int64_t hole, int64_t n, T value, Before before) {
  const int64_t top = hole;
  int64_t child = hole;
  while (child < (n - 1) / 2) {
    child = 2 * child + 2;
    if (before(heap[child], heap[child - 1])) child--;
    heap[hole] = heap[child];
    hole = child;
  }
  if (n % 2 == 0 && child == (n - 2) / 2) {
    child = 2 * child + 1;
    heap[hole] = heap[child];
    hole = child;
  }
  for (int64_t parent = (hole - 1) / 2; hole > top && before(heap[parent], value); parent = (hole - 1) / 2) {
    heap[hole] = heap[parent];
    hole = parent;
  }
  heap[hole] = value;
}

/// Makes the first k of n a heap of those that come first, the last of which is on top.
template <class T, class Before>
void heap_select(T* items, int64_t k, int64_t n, Before before) {
  if (k >= 2) {
    for (int64_t parent = (k - 2) / 2; parent >= 0; parent--) sink(items, parent, k, T(items[parent]), before);
  }
  for (int64_t i = k; i < n; i++) {
    if (!before(items[i], items[0])) continue;
    const T value = items[i];
    items[i] = items[0];
    sink(items, 0, k, value, before);
  }
}

/// The first k of n, in order.
template <class T, class Before>
void partial_sort(T* items, int64_t k, int64_t n, Before before) {
  heap_select(items, k, n, before);
  for (int64_t last = k - 1; last > 0; last--) {
    const T value = items[last];
    items[last] = items[0];
    sink(items, 0, last, value, before);
  }
}

/// Moves items[i] down to its place in the ordered ones before it, one of which must not come after it.
template <class T, class Before>
void insert(T* items, int64_t i, Before before) {
  const T value = items[i];
  for (; before(value, items[i - 1]); i--) items[i] = items[i - 1];
  items[i] = value;
}

template <class T, class Before>
void insertion_sort(T* items, int64_t n, Before before) {
  for (int64_t i = 1; i < n; i++) {
    if (!before(items[i], items[0])) {
      insert(items, i, before);
      continue;
    }
    const T value = items[i];
    for (int64_t j = i; j > 0; j--) items[j] = items[j - 1];
    items[0] = value;
  }
}

/// Parts n > 3 items at the median of three, which goes to the front; gives where the second part starts.
template <class T, class Before>
int64_t partition(T* items, int64_t n, Before before) {
  T &a = items[1], &b = items[n / 2], &c = items[n - 1];
  T* median;
  if (before(a, b)) median = before(b, c) ? &b : before(a, c) ? &c : &a;
  else median = before(a, c) ? &a : before(b, c) ? &c : &b;
  std::swap(items[0], *median);
  int64_t low = 1, high = n;
  for (;;) {
    while (before(items[low], items[0])) low++;
    high--;
    while (before(items[0], items[high])) high--;
    if (low >= high) return low;
    std::swap(items[low], items[high]);
    low++;
  }
}

/// Puts the item that belongs at `k` there, those that come before it in front.
template <class T, class Before>
void nth_element(T* items, int64_t k, int64_t n, Before before) {
  for (int depth = depth_limit(n); n > 3; depth--) {
    if (depth == 0) {
      heap_select(items, k + 1, n, before);
      std::swap(items[0], items[k]);
      return;
    }
    const int64_t cut = partition(items, n, before);
    if (cut > k) {
      n = cut;
      continue;
    }
    items += cut;
    k -= cut;
    n -= cut;
  }
  insertion_sort(items, n, before);
}

template <class T, class Before>
void sort_coarsely(T* items, int64_t n, int depth, Before before) {
  for (; n > kInsertion; depth--) {
    if (depth == 0) return partial_sort(items, n, n, before);
    const int64_t cut = partition(items, n, before);
    sort_coarsely(items + cut, n - cut, depth - 1, before);
    n = cut;
  }
}

template <class T, class Before>
void sort(T* items, int64_t n, Before before) {
  if (n < 2) return;
  sort_coarsely(items, n, depth_limit(n), before);
  insertion_sort(items, n < kInsertion ? n : kInsertion, before);
  for (int64_t i = kInsertion; i < n; i++) insert(items, i, before);
}

}  // namespace partial_order
}  // namespace
