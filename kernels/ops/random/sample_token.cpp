// isa: AVX2 for AVX512
// Filters of logits in the order and with the comparisons of transformers' logits warpers, which decide what becomes of equal values. None takes the last token away.
// Top-k: Fan et al., 2018. Top-p: Holtzman et al., 2020. Min-p: Nguyen et al., 2024. Typical: Meister et al., 2023.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "dispatch/kernel.h"
#include "frames/sampling.h"
#include "vec/math.h"
#include "vec/vec.h"

namespace {

using ptlite::Vec;

constexpr float kNone = -INFINITY;

/// A token by its place among others, with what it is sorted by, and its probability.
struct Item {
  double key, probability;
  int64_t place;
};

/// The largest logit; kNone where there is none.
float largest_of(const float* logits, int64_t n) {
  constexpr int kLanes = 16;
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kNone);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; j++) lanes[j] = logits[i + j] > lanes[j] ? logits[i + j] : lanes[j];
  float top = kNone;
  for (const float lane : lanes) top = std::max(top, lane);
  for (; i < n; i++) top = logits[i] > top ? logits[i] : top;
  return top;
}

/// Sorted by `before`, the first item at which the probabilities so far reach `p`, or the last one. Halves what may hold it, so that little is sorted.
template <class Before>
Item* first_to_reach(Item* items, int64_t n, double p, Before before) {
  Item *first = items, *end = items + n;
  double sum = 0;
  while (end - first > 1) {
    Item* const middle = first + (end - first) / 2;
    std::nth_element(first, middle, end, before);
    double half = 0;
    for (const Item* item = first; item < middle; item++) half += item->probability;
    if (sum + half >= p) {
      end = middle;
    } else {
      sum += half;
      first = middle;
    }
  }
  return first;
}

/// Tokens that are left, in their order, with their logits. Filters take some away.
class Tokens {
 public:
  /// Of memory for bytes_for(n) bytes.
  Tokens(void* memory, const float* logits, int64_t n, double temperature) : n_(n) {
    items_ = static_cast<Item*>(memory);
    probabilities_ = reinterpret_cast<double*>(items_ + n);
    tokens_ = reinterpret_cast<int64_t*>(probabilities_ + n);
    logits_ = reinterpret_cast<float*>(tokens_ + n);
    for (int64_t i = 0; i < n; i++) logits_[i] = logits[i] > kNone ? static_cast<float>(logits[i] / temperature) : kNone;
    std::iota(tokens_, tokens_ + n, 0);
  }

  static size_t bytes_for(int64_t n) { return static_cast<size_t>(n) * (sizeof(Item) + sizeof(double) + sizeof(int64_t) + sizeof(float)); }

  float largest() const { return largest_of(logits_, n_); }

  void keep_top_k(int64_t k) {
    if (k >= n_) return;
    float* const copy = reinterpret_cast<float*>(items_);
    const auto before = [](float a, float b) { return a > b; };
    if (k * 32 <= n_) {
      std::partial_sort_copy(logits_, logits_ + n_, copy, copy + k, before);
    } else {
      std::copy(logits_, logits_ + n_, copy);
      std::nth_element(copy, copy + (k - 1), copy + n_, before);
    }
    const float least = copy[k - 1];
    keep([&](int64_t i) { return logits_[i] >= least && logits_[i] > kNone; });
  }

  void keep_top_p(double p) {
    find_probabilities();
    // together those below have less than the rest of p
    const double least = 0.999 * (1 - p) / static_cast<double>(n_);
    int64_t count = 0;
    for (int64_t i = 0; i < n_; i++)
      if (logits_[i] > kNone && probabilities_[i] >= least) items_[count++] = {logits_[i], probabilities_[i], i};
    const auto before = [](const Item& a, const Item& b) { return a.key != b.key ? a.key > b.key : a.place > b.place; };
    const Item last = *first_to_reach(items_, count, p, before);
    keep([&](int64_t i) { return !before(last, {logits_[i], 0, i}); });
  }

  void keep_min_p(double p) {
    find_probabilities();
    const int64_t top = std::max_element(probabilities_, probabilities_ + n_) - probabilities_;
    const double least = p * probabilities_[top];
    keep([&](int64_t i) { return i == top || probabilities_[i] >= least; });
  }

  void keep_typical(double p) {
    find_probabilities();
    double entropy = 0;
    for (int64_t i = 0; i < n_; i++)
      if (probabilities_[i] > 0) entropy -= probabilities_[i] * std::log(probabilities_[i]);
    const auto distance = [&](int64_t i) {
      return probabilities_[i] > 0 ? std::fabs(-std::log(probabilities_[i]) - entropy) : static_cast<double>(INFINITY);
    };
    int64_t count = 0;
    for (int64_t i = 0; i < n_; i++)
      if (logits_[i] > kNone) items_[count++] = {distance(i), probabilities_[i], i};
    const auto before = [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; };
    const double most = first_to_reach(items_, count, p, before)->key;
    keep([&](int64_t i) { return distance(i) <= most; });
  }

  /// By a number in 0..1.
  int64_t drawn(double left) {
    find_probabilities();
    int64_t last = 0;
    for (int64_t i = 0; i < n_; i++) {
      if (probabilities_[i] == 0) continue;
      last = i;
      if ((left -= probabilities_[i]) < 0) break;
    }
    return tokens_[last];
  }

  /// Writes the logits of all `n` tokens.
  void write(float* logits, int64_t n) const {
    std::fill(logits, logits + n, kNone);
    for (int64_t i = 0; i < n_; i++) logits[tokens_[i]] = logits_[i];
  }

 private:
  void find_probabilities() {
    const double top = largest();
    constexpr int64_t kLanes = Vec<double>::size;
    for (int64_t i = 0; i < n_; i++) probabilities_[i] = logits_[i] - top;
    for (int64_t i = 0; i < n_; i += kLanes) exp(Vec<double>::load(probabilities_ + i, n_ - i)).store(probabilities_ + i, n_ - i);
    // one after the other, so that the same number draws the same token at all levels
    double sum = 0;
    for (int64_t i = 0; i < n_; i++) sum += probabilities_[i];
    const Vec<double> scale(1 / sum);
    for (int64_t i = 0; i < n_; i += kLanes) (Vec<double>::load(probabilities_ + i, n_ - i) * scale).store(probabilities_ + i, n_ - i);
  }

  template <class Test>
  void keep(Test test) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n_; i++) {
      if (!test(i)) continue;
      tokens_[kept] = tokens_[i];
      logits_[kept++] = logits_[i];
    }
    n_ = kept;
  }

  Item* items_;
  double* probabilities_;
  int64_t* tokens_;
  float* logits_;
  int64_t n_;
};

int32_t sample_token(sample_token_frame* f) {
  auto* const logits = reinterpret_cast<float*>(f->header.host);
  const int64_t n = f->count;
  f->token = -1;
  const float top = largest_of(logits, n);
  if (!(top > kNone)) return PTLITE_OK;
  f->token = std::find(logits, logits + n, top) - logits;
  if (f->temperature == 0) return PTLITE_OK;
  void* const memory = ptlite_scratch(Tokens::bytes_for(n));
  if (memory == nullptr) return PTLITE_NO_MEMORY;
  Tokens tokens(memory, logits, n, f->temperature);
  // one that is infinite, or becomes so, leaves no probability to others
  if (tokens.largest() == INFINITY) return PTLITE_OK;
  if (f->top_k > 0) tokens.keep_top_k(f->top_k);
  if (f->top_p < 1) tokens.keep_top_p(f->top_p);
  if (f->min_p > 0) tokens.keep_min_p(f->min_p);
  if (f->typical_p < 1) tokens.keep_typical(f->typical_p);
  f->token = tokens.drawn(f->draw);
  tokens.write(logits, n);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sample_token, sample_token)
