// The experts that rows go to, and what their results are multiplied by.
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dispatch/kernel.h"
#include "frames/experts.h"
#include "pool/pool.h"

namespace {

float sigmoid(float x) {
  // exp of nothing positive cannot overflow
  const float e = expf(-fabsf(x));
  return x >= 0 ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

/// The best that is not chosen yet; the first that is left where only NaN are. Chosen ones are marked.
int32_t best_of(const float* keys, int64_t experts, uint8_t* is_chosen) {
  int64_t best = -1, rest = -1;
  for (int64_t e = 0; e < experts; e++) {
    if (is_chosen[e]) continue;
    if (rest < 0) rest = e;
    if (!isnan(keys[e]) && (best < 0 || keys[e] > keys[best])) best = e;
  }
  if (best < 0) best = rest;
  is_chosen[best] = 1;
  return static_cast<int32_t>(best);
}

void softmax(float* x, int64_t n) {
  float most = x[0];
  for (int64_t i = 1; i < n; i++) most = x[i] > most ? x[i] : most;
  float sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] = expf(x[i] - most);
  for (int64_t i = 0; i < n; i++) x[i] *= sum > 0 ? 1.0f / sum : 0.0f;
}

int32_t route_experts(route_experts_frame* f) {
  const int64_t experts = f->experts, active = f->active;
  const auto* bias = reinterpret_cast<const float*>(f->bias);
  auto* scores = static_cast<float*>(ptlite_scratch(static_cast<size_t>(experts) * (2 * sizeof(float) + 1)));
  if (scores == nullptr) return PTLITE_NO_MEMORY;
  float* keys = scores + experts;
  auto* is_chosen = reinterpret_cast<uint8_t*>(keys + experts);
  ptlite::Pace pace;
  for (int64_t r = 0; r < f->rows; r++) {
    const float* given = reinterpret_cast<const float*>(f->scores) + r * experts;
    for (int64_t e = 0; e < experts; e++) {
      scores[e] = f->softmax ? given[e] : sigmoid(given[e]);
      keys[e] = bias == nullptr ? scores[e] : scores[e] + bias[e];
    }
    auto* chosen = reinterpret_cast<int32_t*>(f->chosen) + r * active;
    auto* gates = reinterpret_cast<float*>(f->gates) + r * active;
    float sum = 0;
    memset(is_chosen, 0, static_cast<size_t>(experts));
    for (int64_t i = 0; i < active; i++) {
      chosen[i] = best_of(keys, experts, is_chosen);
      sum += gates[i] = scores[chosen[i]];
      pace.after(experts);
    }
    if (f->softmax) {
      softmax(gates, active);
      continue;
    }
    const float factor = f->scale / (sum < FLT_MIN ? FLT_MIN : sum);
    for (int64_t i = 0; i < active; i++) gates[i] *= factor;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(route_experts, route_experts)
