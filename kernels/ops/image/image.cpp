// isa: AVX2 for AVX512
// Pictures to planes and back. Resizing is Pillow's (libImaging/Resample.c): along the rows, then along the columns, with weights of 22 bits and bytes
// in between, so that a picture gives the bytes that PyTorch's pipelines of pictures were trained on.
#include <algorithm>
#include <cmath>

#include "frames/image.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

namespace {

constexpr int kWeightBits = 22;

/// Result i of an axis is the sum of weight[most * i + k] times input first[i] + k, for k < count[i].
struct Taps {
  int64_t most;
  int64_t* first;
  int64_t* count;
  int32_t* weight;
};

/// Results [from, from + results) of an axis of `in` elements that is resized to `resized`.
struct Axis {
  int64_t in, resized, from, results;

  bool is_copied(int32_t filter) const { return in == resized || filter == PixelFilter_nearest; }
  double scale() const { return double(in) / double(resized); }
};

double sinc(double x) {
  if (x == 0) return 1;
  x *= 3.14159265358979323846;
  return std::sin(x) / x;
}

double reach(int32_t filter) { return filter == PixelFilter_bilinear ? 1 : filter == PixelFilter_bicubic ? 2 : 3; }

double weight_at(int32_t filter, double x) {
  x = std::fabs(x);
  if (filter == PixelFilter_bilinear) return x < 1 ? 1 - x : 0;
  if (filter == PixelFilter_lanczos) return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  const double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

int64_t most_taps(const Axis& axis, int32_t filter) {
  if (axis.is_copied(filter)) return 1;
  const double wanted = std::ceil(reach(filter) * std::max(axis.scale(), 1.0)) * 2 + 1;
  return wanted < double(axis.in) ? int64_t(wanted) : axis.in;
}

size_t bytes_of_taps(const Axis& axis, int64_t most) { return size_t(axis.results) * (2 * sizeof(int64_t) + size_t(most) * sizeof(int32_t)); }

/// Which element a copied result is of.
int64_t nearest(const Axis& axis, int64_t i) {
  if (axis.in == axis.resized) return i;
  return std::min(int64_t((double(i) + 0.5) * axis.scale()), axis.in - 1);
}

/// `kept` has room for the weights of one result.
void fill(const Taps& taps, const Axis& axis, int32_t filter, double* kept) {
  const double scale = axis.scale(), widening = std::max(scale, 1.0), support = reach(filter) * widening;
  for (int64_t i = 0; i < axis.results; i++) {
    int32_t* weight = taps.weight + i * taps.most;
    taps.count[i] = 1;
    if (axis.is_copied(filter)) {
      taps.first[i] = nearest(axis, axis.from + i);
      weight[0] = 1 << kWeightBits;
      continue;
    }
    const double centre = (double(axis.from + i) + 0.5) * scale;
    const int64_t low = std::max(int64_t(centre - support + 0.5), int64_t(0));
    const int64_t count = std::min(std::min(int64_t(centre + support + 0.5), axis.in) - low, taps.most);
    double total = 0;
    for (int64_t k = 0; k < count; k++) total += kept[k] = weight_at(filter, (double(k + low) - centre + 0.5) * (1 / widening));
    for (int64_t k = 0; k < count; k++) {
      const double share = (total != 0 ? kept[k] / total : kept[k]) * (1 << kWeightBits);
      weight[k] = int32_t(share < 0 ? share - 0.5 : share + 0.5);
    }
    taps.first[i] = low;
    taps.count[i] = count;
  }
}

inline uint8_t to_byte(int32_t sum) {
  const int32_t x = (sum + (1 << (kWeightBits - 1))) >> kWeightBits;
  return uint8_t(x < 0 ? 0 : x > 255 ? 255 : x);
}

/// A row of `S` samples a pixel, of which the first `C` are resized.
template <int S, int C>
void along_row(const Taps& x, const uint8_t* row, uint8_t* to, int64_t results) {
  for (int64_t i = 0; i < results; i++) {
    const uint8_t* from = row + x.first[i] * S;
    if (x.most == 1) {
      for (int c = 0; c < C; c++) to[i * C + c] = from[c];
      continue;
    }
    const int32_t* weight = x.weight + i * x.most;
    int32_t sum[C] = {};
    for (int64_t k = 0; k < x.count[i]; k++)
      for (int c = 0; c < C; c++) sum[c] += weight[k] * from[k * S + c];
    for (int c = 0; c < C; c++) to[i * C + c] = to_byte(sum[c]);
  }
}

using AlongRow = void (*)(const Taps&, const uint8_t*, uint8_t*, int64_t);

AlongRow along_row_of(int samples) {
  return samples == 1 ? along_row<1, 1> : samples == 2 ? along_row<2, 1> : samples == 3 ? along_row<3, 3> : along_row<4, 3>;
}

/// Row i of the result: `size` bytes of each of the rows that `y` names, which begin with row `base`.
void along_column(const Taps& y, int64_t i, const uint8_t* rows, int64_t base, int64_t size, int32_t* sum, uint8_t* to) {
  const uint8_t* from = rows + (y.first[i] - base) * size;
  if (y.most == 1) {
    std::copy(from, from + size, to);
    return;
  }
  const int32_t* weight = y.weight + i * y.most;
  std::fill(sum, sum + size, 0);
  for (int64_t k = 0; k < y.count[i]; k++) {
    const int32_t w = weight[k];
    const uint8_t* row = from + k * size;
    for (int64_t j = 0; j < size; j++) sum[j] += w * row[j];
  }
  for (int64_t j = 0; j < size; j++) to[j] = to_byte(sum[j]);
}

/// Luma of ITU-R 601-2, in 16 bits as Pillow has it.
void to_grey(const uint8_t* row, int samples, int64_t width, uint8_t* to) {
  for (int64_t i = 0; i < width; i++, row += samples) to[i] = uint8_t((row[0] * 19595 + row[1] * 38470 + row[2] * 7471 + 0x8000) >> 16);
}

char* take(char*& memory, size_t bytes) {
  char* taken = memory;
  memory += (bytes + 63) / 64 * 64;
  return taken;
}

Taps take_taps(char*& memory, const Axis& axis, int64_t most) {
  char* taken = take(memory, bytes_of_taps(axis, most));
  int64_t* first = reinterpret_cast<int64_t*>(taken);
  return {most, first, first + axis.results, reinterpret_cast<int32_t*>(first + 2 * axis.results)};
}

int32_t image_to_planes(image_to_planes_frame* f) {
  const auto* pixels = reinterpret_cast<const uint8_t*>(f->header.host);
  const Axis across{f->width, f->resized_width, f->left, f->out_width}, down{f->height, f->resized_height, f->top, f->out_height};
  const int64_t most_x = most_taps(across, f->filter), most_y = most_taps(down, f->filter);
  const bool is_grey = f->planes == 1 && f->samples > 2;
  const int samples = is_grey ? 1 : f->samples, colours = samples > 2 ? 3 : 1;

  // rows of the picture that the result is made of
  const double support = down.is_copied(f->filter) ? 0 : reach(f->filter) * std::max(down.scale(), 1.0);
  const int64_t base = std::clamp(int64_t(double(f->top) * down.scale() - support - 1), int64_t(0), f->height - 1);
  const int64_t end = std::min(int64_t(double(f->top + f->out_height) * down.scale() + support + 2), f->height), rows = end - base;

  const int64_t size = f->out_width * colours;
  const size_t grey = is_grey ? size_t(rows) * size_t(f->width) : 0, kept = size_t(std::max(most_x, most_y)) * sizeof(double);
  // each output row has sums and bytes of its own: rows of the result are shared among threads
  const size_t sums = size_t(f->out_height) * size_t(size) * (sizeof(int32_t) + 1);
  char* memory = static_cast<char*>(
      ptlite_scratch(bytes_of_taps(across, most_x) + bytes_of_taps(down, most_y) + kept + grey + size_t(rows * size) + sums + 8 * 64));
  if (!memory) return PTLITE_NO_MEMORY;
  const Taps x = take_taps(memory, across, most_x), y = take_taps(memory, down, most_y);
  auto* weights = reinterpret_cast<double*>(take(memory, kept));
  auto* whole = reinterpret_cast<uint8_t*>(take(memory, grey));
  auto* narrow = reinterpret_cast<uint8_t*>(take(memory, size_t(rows * size)));
  auto* sum = reinterpret_cast<int32_t*>(take(memory, size_t(f->out_height * size) * sizeof(int32_t)));
  auto* bytes = reinterpret_cast<uint8_t*>(take(memory, size_t(f->out_height * size)));
  fill(x, across, f->filter, weights);
  fill(y, down, f->filter, weights);

  const AlongRow along = along_row_of(samples);
  ptlite::parallel_for(rows, ptlite::grain_for(size * most_x + int64_t(grey != 0) * f->width), [&](int64_t begin, int64_t stop) {
    for (int64_t r = begin; r < stop; r++) {
      const uint8_t* row = pixels + (base + r) * f->width * f->samples;
      if (is_grey) {
        to_grey(row, f->samples, f->width, whole + r * f->width);
        row = whole + r * f->width;
      }
      along(x, row, narrow + r * size, f->out_width);
    }
  });

  auto* out = reinterpret_cast<float*>(f->out);
  const int64_t plane = f->out_width * f->out_height;
  ptlite::parallel_for(f->out_height, ptlite::grain_for(size * (most_y + 1)), [&](int64_t begin, int64_t stop) {
    for (int64_t r = begin; r < stop; r++) {
      uint8_t* row = bytes + r * size;
      along_column(y, r, narrow, base, size, sum + r * size, row);
      for (int p = 0; p < f->planes; p++) {
        const float* level = f->levels + 256 * p;
        const uint8_t* from = row + (colours == 1 ? 0 : f->reversed ? 2 - p : p);
        float* to = out + p * plane + r * f->out_width;
        for (int64_t i = 0; i < f->out_width; i++) to[i] = level[from[i * colours]];
      }
    }
  });
  return PTLITE_OK;
}

uint8_t rounded(float x) { return x > 0 ? uint8_t(std::nearbyint(x < 255 ? x : 255.0f)) : uint8_t(0); }

int32_t planes_to_image(planes_to_image_frame* f) {
  auto* out = reinterpret_cast<uint8_t*>(f->header.host);
  const auto* in = reinterpret_cast<const float*>(f->in);
  const int colours = f->samples == 1 ? 1 : 3;
  ptlite::parallel_for(f->pixels, ptlite::kWorthwhile, [&](int64_t begin, int64_t stop) {
    for (int c = 0; c < colours; c++) {
      const int p = f->planes == 1 ? 0 : f->reversed ? 2 - c : c;
      const float scale = f->scale[p], shift = f->shift[p];
      const float* plane = in + p * f->pixels;
      for (int64_t i = begin; i < stop; i++) out[i * f->samples + c] = rounded(scale * plane[i] + shift);
    }
    if (f->samples == 4)
      for (int64_t i = begin; i < stop; i++) out[i * 4 + 3] = 255;
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(image_to_planes, image_to_planes)
PTLITE_KERNEL(planes_to_image, planes_to_image)
