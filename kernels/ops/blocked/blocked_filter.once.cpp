// Filters in the order in which the blocked convolutions read them; done once per weight.
#include "frames/blocked.h"
#include "dispatch/kernel.h"

#include <stdint.h>

namespace {

int32_t reorder_filter(blocked_filter_frame* f) {
  constexpr int64_t kBlock = 16;
  const float* in = reinterpret_cast<const float*>(f->input);
  float* out = reinterpret_cast<float*>(f->output);
  const int64_t outputs = f->outputs, inputs = f->inputs, taps = f->taps;
  for (int64_t first = 0; first < outputs; first += kBlock) {
    for (int64_t t = 0; t < taps; t++) {
      for (int64_t c = 0; c < inputs; c++) {
        for (int64_t o = first; o < first + kBlock; o++) *out++ = o < outputs ? in[(o * inputs + c) * taps + t] : 0.f;
      }
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(blocked_filter, reorder_filter)
