// Masks of attention: numbers that are added to scores, or truth values that say which keys take part.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "vec/transpose.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace attention {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kBool = 11;

/// Logarithm of a row's sum of exponentials, `total` times exp(`top`); 0 for a row that sees no key, as PyTorch has it.
inline float sum_of(float top, float total) { return top == -kInfinity ? 0.f : top + std::log(total); }

/// Scores are nothing beside such numbers: a key whose mask has one gets no weight from a query that sees another key.
constexpr float kHiding = -1e30f;

/// Keys from `begin` on, up to `end`.
struct KeyRange {
  int64_t begin, end;
};

/// A mask [queries, keys] of one batch and head.
struct Mask {
  const char* data = nullptr;  ///< null: every key takes part
  bool truth = false;          ///< bytes, not floats
  int64_t row = 0;             ///< strides in elements
  int64_t col = 0;

  int64_t element_size() const { return truth ? 1 : int64_t(sizeof(float)); }
  const char* at(int64_t query, int64_t key) const { return data + (query * row + key * col) * element_size(); }

  static float of(const char* element, bool truth) {
    if (truth) return *element != 0 ? 0.f : -kInfinity;
    float value;
    memcpy(&value, element, sizeof value);
    return value;
  }

  bool hides(const char* element) const { return truth ? *element == 0 : of(element, false) <= kHiding; }

  /// From the first key that a query sees to the last one; empty where it sees none.
  KeyRange seen(int64_t query, int64_t keys) const {
    int64_t begin = 0, end = keys;
    if (truth && col == 1) {
      // eight false ones at a time
      uint64_t some = 0;
      while (end >= 8 && (memcpy(&some, at(query, end - 8), 8), some == 0)) end -= 8;
      while (begin + 8 <= end && (memcpy(&some, at(query, begin), 8), some == 0)) begin += 8;
    }
    while (end > begin && hides(at(query, end - 1))) end--;
    while (begin < end && hides(at(query, begin))) begin++;
    return {begin, end};
  }

  /// The mask of the keys from `key` on.
  Mask from(int64_t key) const {
    Mask rest = *this;
    if (data != nullptr) rest.data = at(0, key);
    return rest;
  }

  /// What is added to the scores of `count` <= Vec<float>::size keys that lie behind each other from `element` on.
  Vec<float> load(const char* element, int64_t count) const {
    using F = Vec<float>;
    if (col == 1 && !truth) return F::load(reinterpret_cast<const float*>(element), count);
    if (col == 1 && count == F::size) {
      const F given = F::load_from(reinterpret_cast<const uint8_t*>(element));
      return select(given == F::zero(), F(-kInfinity), F::zero());
    }
    alignas(64) float lanes[F::size] = {};
    for (int64_t i = 0; i < count; i++) lanes[i] = of(element + i * col * element_size(), truth);
    return F::load(lanes);
  }
};

/// The keys that any of `count` queries sees, where mask(i) is that of one and position(i) its row; all `keys` where some sees none, whose
/// scores are all it has.
template <class MaskOf, class PositionOf>
inline KeyRange seen_by(int64_t count, int64_t keys, MaskOf mask, PositionOf position) {
  KeyRange all{keys, 0};
  const char* known = nullptr;
  for (int64_t i = 0; i < count; i++) {
    const Mask& own = mask(i);
    if (own.data == nullptr) return {0, keys};
    const char* row = own.at(position(i), 0);
    if (row == known) continue;
    known = row;
    const KeyRange range = own.seen(position(i), keys);
    if (range.begin == range.end) return {0, keys};
    all.begin = std::min(all.begin, range.begin);
    all.end = std::max(all.end, range.end);
  }
  return all;
}

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
