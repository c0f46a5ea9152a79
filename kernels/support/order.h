// Keys that compare as unsigned integers in the order of the elements they stand for, and a stable sort of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pool/budget.h"
#include "support/element.h"

namespace {
namespace order {

struct Item {
  uint64_t key;
  int64_t index;
};

inline uint64_t key_of(float value) {
  if (value != value) return 0xffffffffu;
  if (value == 0) value = 0;
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits >> 31 ? uint32_t(~bits) : bits | 0x80000000u;
}
inline uint64_t key_of(double value) {
  if (value != value) return ~uint64_t{0};
  if (value == 0) value = 0;
  uint64_t bits;
  memcpy(&bits, &value, 8);
  return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
}
inline uint64_t key_of(elem::f16 value) { return key_of(float(value)); }
inline uint64_t key_of(elem::bf16 value) { return key_of(float(value)); }
inline uint64_t key_of(elem::boolean value) { return uint8_t(value); }
inline uint64_t key_of(uint8_t value) { return value; }
inline uint64_t key_of(int8_t value) { return uint8_t(value) ^ 0x80u; }
inline uint64_t key_of(int16_t value) { return uint16_t(value) ^ 0x8000u; }
inline uint64_t key_of(int32_t value) { return uint32_t(value) ^ 0x80000000u; }
inline uint64_t key_of(int64_t value) { return uint64_t(value) ^ (uint64_t{1} << 63); }

/// The key of every NaN of `dtype`; other dtypes have none, and no key of theirs is compared with it.
inline uint64_t nan_key(int32_t dtype) { return dtype == elem::F64 ? ~uint64_t{0} : 0xffffffffu; }
inline bool has_nan(int32_t dtype) { return (dtype >= elem::F16 && dtype <= elem::F64) || dtype == elem::BF16; }
/// Low bytes of a key that can differ between elements.
inline int key_bytes(int32_t dtype) {
  const int64_t size = elem::size_of(dtype);
  return has_nan(dtype) && size < 4 ? 4 : int(size);
}

/// Elements that are read between two looks at the budget.
constexpr int64_t kPiece = 1 << 14;
/// Items that are ordered in a few ms.
constexpr int64_t kMany = 1 << 18;

inline void load_items(Item* items, int32_t dtype, const void* from, int64_t step, int64_t n) {
  elem::visit(dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    const S* in = static_cast<const S*>(from);
    ptlite::Pace pace;
    for (int64_t begin = 0; begin < n; begin += kPiece) {
      const int64_t end = std::min(n, begin + kPiece);
      for (int64_t i = begin; i < end; i++) items[i] = {key_of(in[i * step]), i};
      pace.after(kPiece);
    }
  });
}

/// run(before) for n items; where these are many, comparisons look at the budget: what std::sort and its kin do ends with it.
template <class Before, class Run>
void paced(int64_t n, Before before, Run run) {
  if (n < kMany) return run(before);
  ptlite::Pace pace;
  run([before, &pace](const Item& a, const Item& b) {
    pace.after(1);
    return before(a, b);
  });
}

inline void insertion_sort(Item* items, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const Item x = items[i];
    int64_t j = i;
    for (; j > 0 && items[j - 1].key > x.key; j--) items[j] = items[j - 1];
    items[j] = x;
  }
}

/// Byte by byte from the lowest; a byte that all keys share costs one count. Returns the buffer that holds the result.
inline Item* radix_sort(Item* from, Item* to, int64_t n, int bytes) {
  for (int b = 0; b < bytes; b++) {
    int64_t start[256] = {};
    for (int64_t i = 0; i < n; i++) start[(from[i].key >> (8 * b)) & 255]++;
    if (start[(from[0].key >> (8 * b)) & 255] == n) continue;
    int64_t sum = 0;
    for (auto& s : start) {
      const int64_t count = s;
      s = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; i++) to[start[(from[i].key >> (8 * b)) & 255]++] = from[i];
    Item* swap = from;
    from = to;
    to = swap;
  }
  return from;
}

inline Item* merge_sort(Item* from, Item* to, int64_t n) {
  constexpr int64_t kRun = 16;
  for (int64_t i = 0; i < n; i += kRun) insertion_sort(from + i, n - i < kRun ? n - i : kRun);
  for (int64_t width = kRun; width < n; width *= 2) {
    for (int64_t first = 0; first < n; first += 2 * width) {
      const int64_t middle = first + width < n ? first + width : n, end = first + 2 * width < n ? first + 2 * width : n;
      int64_t a = first, b = middle;
      for (int64_t i = first; i < end; i++) to[i] = b >= end || (a < middle && from[a].key <= from[b].key) ? from[a++] : from[b++];
    }
    Item* swap = from;
    from = to;
    to = swap;
  }
  return from;
}

/// Stable ascending order by key. `spare` has room for n items; returns whichever buffer holds the result.
inline Item* sort(Item* items, Item* spare, int64_t n, int bytes) {
  if (n <= 16) {
    insertion_sort(items, n);
    return items;
  }
  return n < 512 ? merge_sort(items, spare, n) : radix_sort(items, spare, n, bytes);
}

}  // namespace order
}  // namespace
