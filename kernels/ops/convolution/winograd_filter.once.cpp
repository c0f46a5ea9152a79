// Filters for F(4x4, 3x3): U = G g G^T for each output and input channel and slice (Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks"), with the interpolation points 0, 1, -1, 2, -2 and infinity. Computed in double; done once per weight.
#include "frames/blocked.h"
#include "dispatch/kernel.h"

#include <stdint.h>

namespace {

constexpr int64_t kBlock = 16;
constexpr double kG[6][3] = {{1. / 4, 0, 0},           {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6},
                             {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}};

int32_t transform_filter(winograd_filter_frame* f) {
  const float* in = reinterpret_cast<const float*>(f->input);
  float* out = reinterpret_cast<float*>(f->output);
  const int64_t outputs = f->outputs, taps = f->taps, inputs = f->inputs * taps, blocks = (outputs + kBlock - 1) / kBlock;
  const int64_t position = blocks * inputs * kBlock;
  for (int64_t o = 0; o < blocks * kBlock; o++) {
    for (int64_t c = 0; c < inputs; c++) {
      // filters of an output have taps innermost, transformed ones have inputs there
      const int64_t place = c % taps * f->inputs + c / taps;
      float* to = out + (o / kBlock * inputs + place) * kBlock + o % kBlock;
      const float* g = in + (o * inputs + c) * 9;
      for (int i = 0; i < 6; i++) {
        double row[3] = {};
        if (o < outputs) {
          for (int x = 0; x < 3; x++) row[x] = kG[i][0] * g[x] + kG[i][1] * g[3 + x] + kG[i][2] * g[6 + x];
        }
        for (int j = 0; j < 6; j++) to[(i * 6 + j) * position] = float(row[0] * kG[j][0] + row[1] * kG[j][1] + row[2] * kG[j][2]);
      }
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(winograd_filter, transform_filter)
