// Masks of attention: numbers that are added to scores, or truth values that say which keys take part.
#pragma once

#include <cmath>
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

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
