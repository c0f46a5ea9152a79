// isa: AVX2 for AVX512
// Bilinear resampling of quantized images.
#include <stdint.h>

#include "frames/quantized_spatial.h"
#include "dispatch/kernel.h"
#include "ops/quantized/requantize.h"
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

// What four neighbours count, at offsets of 0, `next`, `down` and both.
struct Corners {
  float above, below, left, right;
  int64_t next, down;
};

template <class T>
T mix(const T* x, const Corners& k) {
  constexpr float low = T(-1) < T(0) ? -128 : 0, high = low + 255;
  const float top = k.left * x[0] + k.right * x[k.next], bottom = k.left * x[k.down] + k.right * x[k.down + k.next];
  const float q = __builtin_rintf(k.above * top + k.below * bottom);
  return static_cast<T>(static_cast<int32_t>(q < low ? low : q > high ? high : q));
}

// The same for neighbouring channels, as many as a vector holds.
template <class T>
PTLITE_INLINE void mix_vector(const T* x, const Corners& k, T* out) {
  using F = ptlite::Vec<float>;
  constexpr float low = T(-1) < T(0) ? -128 : 0, high = low + 255;
  const auto at = [&](int64_t offset) { return ptlite::convert<float>(ptlite::Vec<int32_t>::load_from(x + offset)); };
  // contracted as the scalars are
  const F top = fma(F(k.right), at(k.next), F(k.left) * at(0)), bottom = fma(F(k.right), at(k.down + k.next), F(k.left) * at(k.down));
  const F q = fma(F(k.below), bottom, F(k.above) * top);
  ptlite::nearest_int(fast_min(fast_max(q, F(low)), F(high))).store_to(out);
}

template <class T>
void bilinear(const quantized_bilinear_frame* f, const Position* rows, const Position* columns) {
  // copies: a store of bytes might change the frame for all the compiler knows
  const int64_t ci = f->in_strides[1], co = f->out_strides[1], channels = f->channels, height = f->out_size[0], width = f->out_size[1];
  ptlite::parallel_for(f->batch * height, ptlite::grain_for(4 * width * channels), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t n = i / height, h = i % height;
      Corners corners{1.0f - rows[h].share, rows[h].share, 0, 0, 0, rows[h].next};
      const T* line = reinterpret_cast<const T*>(f->in) + n * f->in_strides[0] + rows[h].first;
      T* out = reinterpret_cast<T*>(f->out) + n * f->out_strides[0] + h * f->out_strides[2];
      const int64_t out_step = f->out_strides[3];
      for (int64_t w = 0; w < width; w++, out += out_step) {
        corners.right = columns[w].share;
        corners.left = 1.0f - corners.right;
        corners.next = columns[w].next;
        const T* p = line + columns[w].first;
        int64_t c = 0;
        if (ci == 1 && co == 1) {
          constexpr int64_t lanes = ptlite::Vec<float>::size;
          for (; c + lanes <= channels; c += lanes) mix_vector(p + c, corners, out + c);
        }
        for (; c < channels; c++) out[c * co] = mix(p + c * ci, corners);
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
