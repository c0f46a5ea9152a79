// Bilinear resampling of quantized images.
#include <stdint.h>

#include "frames/quantized_spatial.h"
#include "isa/kernel.h"
#include "pool/pool.h"

namespace {

constexpr int32_t kQInt8 = 12;

// Where an output position of one axis lies in the input.
struct Position {
  int64_t first;
  int64_t next;  // elements to the second neighbour, 0 at the end
  float share;   // of the second
};

void positions(const quantized_bilinear_frame* f, int axis, float step, Position* out) {
  const int64_t size = f->in_size[axis], stride = f->in_strides[2 + axis];
  for (int64_t o = 0; o < f->out_size[axis]; o++) {
    // in double, so that the product is rounded before the difference is taken
    const auto at = static_cast<float>(static_cast<double>(step) * (static_cast<double>(o) + (f->align_corners != 0 ? 0 : 0.5)));
    const float shifted = f->align_corners != 0 ? at : at - 0.5f;
    const float place = shifted > 0 ? shifted : 0;
    const int64_t first = place < static_cast<float>(size - 1) ? static_cast<int64_t>(place) : size - 1;
    const float share = place - static_cast<float>(first);
    out[o] = {first * stride, first < size - 1 ? stride : 0, share > 1 ? 1 : share};
  }
}

template <class T>
void bilinear(const quantized_bilinear_frame* f, const Position* rows, const Position* columns) {
  constexpr float low = T(-1) < T(0) ? -128 : 0, high = low + 255;
  // copies: a store of bytes might change the frame for all the compiler knows
  const int64_t ci = f->in_strides[1], co = f->out_strides[1], channels = f->channels, height = f->out_size[0], width = f->out_size[1];
  ptlite::parallel_for(f->batch * height, ptlite::grain_for(4 * width * channels), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t n = i / height, h = i % height;
      const float below = rows[h].share, above = 1.0f - below;
      const int64_t down = rows[h].next;
      const T* line = reinterpret_cast<const T*>(f->in) + n * f->in_strides[0] + rows[h].first;
      T* out = reinterpret_cast<T*>(f->out) + n * f->out_strides[0] + h * f->out_strides[2];
      const int64_t out_step = f->out_strides[3];
      for (int64_t w = 0; w < width; w++, out += out_step) {
        const float right = columns[w].share, left = 1.0f - right;
        const int64_t next = columns[w].next;
        const T* p = line + columns[w].first;
        for (int64_t c = 0; c < channels; c++) {
          const T* x = p + c * ci;
          const float top = left * x[0] + right * x[next], bottom = left * x[down] + right * x[down + next];
          const float q = __builtin_rintf(above * top + below * bottom);
          out[c * co] = static_cast<T>(static_cast<int32_t>(q < low ? low : q > high ? high : q));
        }
      }
    }
  });
}

int32_t run(quantized_bilinear_frame* f) {
  const int64_t height = f->out_size[0], width = f->out_size[1];
  auto* rows = static_cast<Position*>(ptlite_scratch(static_cast<size_t>(height + width) * sizeof(Position)));
  if (rows == nullptr) return PTLITE_NO_MEMORY;
  Position* columns = rows + height;
  positions(f, 0, f->row_step, rows);
  positions(f, 1, f->column_step, columns);
  if (f->dtype == kQInt8) bilinear<int8_t>(f, rows, columns);
  else bilinear<uint8_t>(f, rows, columns);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(quantized_bilinear, run)
