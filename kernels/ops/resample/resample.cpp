// Separable resampling. Each dim has a table of taps (input index and weight) per output index; a row of the result is
// the weighted sum of input rows, folded once more along the row.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/truncated.h"

namespace {

template <class T>
struct Taps {
  int64_t count;    // taps per output index
  int64_t* index;   // [out][count]
  T* weight;        // [out][count]
};

/// Keys' cubic kernel with parameter a.
template <class T>
T cubic_near(T x, T a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
template <class T>
T cubic_far(T x, T a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/// sin(pi x) / (pi x)
template <class T>
T sinc(T x) {
  if (x == 0) return 1;
  x *= T(3.14159265358979323846);
  return std::sin(x) / x;
}

bool is_antialias(int32_t mode) {
  return mode == ResampleMode_linear_aa || mode == ResampleMode_cubic_aa || mode == ResampleMode_lanczos_aa;
}

/// Half the width of an antialiasing filter, in elements of a result that is not smaller than the input.
int reach(int32_t mode) { return mode == ResampleMode_linear_aa ? 1 : mode == ResampleMode_cubic_aa ? 2 : 3; }

template <class T>
T filter(int32_t mode, T x) {
  x = std::fabs(x);
  if (mode == ResampleMode_linear_aa) return x < 1 ? 1 - x : T(0);
  if (mode == ResampleMode_lanczos_aa) return x < 3 ? sinc(x) * sinc(x / 3) : T(0);
  const T a = T(-0.5);
  return x < 1 ? cubic_near(x, a) : x < 2 ? cubic_far(x, a) : T(0);
}

/// Input elements that one of the result is made of, at most.
int64_t tap_count(int32_t mode, double scale, int64_t in) {
  if (mode == ResampleMode_linear) return 2;
  if (mode == ResampleMode_cubic) return 4;
  if (!is_antialias(mode)) return 1;
  const double wanted = std::ceil(reach(mode) * (scale > 1 ? scale : 1.0)) * 2 + 1;
  // a filter wider than the input has no more to weigh; a single tap would be one that is copied
  return wanted < double(in) ? int64_t(wanted) : in > 1 ? in : 2;
}

/// x as a number of elements of `n`.
template <class T>
int64_t within(T x, int64_t n) {
  return x > 0 ? x < T(n) ? std::min(int64_t(x), n) : n : 0;
}

template <class T>
void fill_antialias(Taps<T> taps, int32_t mode, int64_t in, int64_t out, T scale) {
  const T support = T(reach(mode)) * (scale >= 1 ? scale : T(1)), inverse = scale >= 1 ? 1 / scale : T(1);
  for (int64_t o = 0; o < out; o++) {
    const T centre = scale * (T(o) + T(0.5));
    const int64_t low = within(centre - support + T(0.5), in), high = within(centre + support + T(0.5), in);
    T total = 0;
    for (int64_t k = 0; k < taps.count; k++) {
      const int64_t i = low + k;
      const bool used = i < high;
      const T w = used ? filter<T>(mode, (T(i) - centre + T(0.5)) * inverse) : T(0);
      taps.index[o * taps.count + k] = used ? i : low < in ? low : in - 1;
      taps.weight[o * taps.count + k] = w;
      total += w;
    }
    if (total != 0)
      for (int64_t k = 0; k < taps.count; k++) taps.weight[o * taps.count + k] /= total;
  }
}

template <class T>
void fill(Taps<T> taps, int32_t mode, bool align, int64_t in, int64_t out, T scale) {
  if (is_antialias(mode)) {
    // a size that stays is not resampled, whatever scale the caller gave
    fill_antialias<T>(taps, mode, in, out, in == out ? T(1) : scale);
    return;
  }
  for (int64_t o = 0; o < out; o++) {
    int64_t* index = taps.index + o * taps.count;
    T* weight = taps.weight + o * taps.count;
    T x = align ? scale * T(o) : scale * (T(o) + T(0.5)) - T(0.5);
    // a size that stays is not resampled, whatever scale the caller gave
    if (mode == ResampleMode_linear && in == out) x = T(o);
    if (mode == ResampleMode_linear) {
      if (!(x > 0)) x = 0;
      const int64_t i = ptlite::truncated_between(x, 0, in - 1);
      T part = x - T(i);
      part = part < 0 ? 0 : part > 1 ? 1 : part;
      index[0] = i;
      index[1] = i < in - 1 ? i + 1 : i;
      weight[0] = 1 - part;
      weight[1] = part;
      continue;
    }
    // from 4 elements outside on, all that is read is the one at the edge
    const T low = std::floor(x), t = x - low, a = T(-0.75);
    const int64_t i = ptlite::truncated_between(low, -4, in + 4);
    weight[0] = cubic_far<T>(t + 1, a);
    weight[1] = cubic_near<T>(t, a);
    weight[2] = cubic_near<T>(1 - t, a);
    weight[3] = cubic_far<T>(2 - t, a);
    for (int k = 0; k < 4; k++) {
      const int64_t at = i - 1 + k;
      index[k] = at < 0 ? 0 : at > in - 1 ? in - 1 : at;
    }
  }
}

template <class T>
void along_row(const Taps<T>& x, const T* row, T* out, int64_t width) {
  if (x.count == 2) {
    for (int64_t o = 0; o < width; o++)
      out[o] = x.weight[2 * o] * row[x.index[2 * o]] + x.weight[2 * o + 1] * row[x.index[2 * o + 1]];
    return;
  }
  for (int64_t o = 0; o < width; o++) {
    T sum = 0;
    for (int64_t k = 0; k < x.count; k++) sum += x.weight[o * x.count + k] * row[x.index[o * x.count + k]];
    out[o] = sum;
  }
}

template <class T>
int32_t resample_in(const resample_frame* f) {
  Taps<T> taps[3];
  size_t entries = 0;
  for (int d = 0; d < 3; d++) {
    // a dim of one element that stays one is left alone
    const bool idle = f->in_sizes[d] == 1 && f->out_sizes[d] == 1;
    taps[d].count = idle ? 1 : tap_count(f->mode, f->scales[d], f->in_sizes[d]);
    entries += size_t(taps[d].count * f->out_sizes[d]);
  }
  const int64_t width = f->in_sizes[2], out_width = f->out_sizes[2];
  const size_t bytes = entries * (sizeof(int64_t) + sizeof(T)) + size_t(2 * width + out_width) * sizeof(T);
  char* memory = static_cast<char*>(ptlite_scratch(bytes));
  if (!memory) return PTLITE_NO_MEMORY;
  int64_t* index = reinterpret_cast<int64_t*>(memory);
  T* weight = reinterpret_cast<T*>(index + entries);
  T* sum = weight + entries;
  T* buffer = sum + width;
  T* result = buffer + width;
  for (int d = 0; d < 3; d++) {
    taps[d].index = index;
    taps[d].weight = weight;
    const int64_t n = taps[d].count * f->out_sizes[d];
    if (taps[d].count == 1) {
      for (int64_t i = 0; i < n; i++) index[i] = 0, weight[i] = 1;
    } else {
      fill<T>(taps[d], f->mode, f->align_corners, f->in_sizes[d], f->out_sizes[d], T(f->scales[d]));
    }
    index += n;
    weight += n;
  }
  const int64_t plane = f->in_sizes[0] * f->in_sizes[1] * width;
  int64_t out = 0;
  for (int64_t p = 0; p < f->planes; p++)
    for (int64_t z = 0; z < f->out_sizes[0]; z++)
      for (int64_t y = 0; y < f->out_sizes[1]; y++) {
        bool first = true;
        for (int64_t a = 0; a < taps[0].count; a++)
          for (int64_t b = 0; b < taps[1].count; b++) {
            const int64_t za = z * taps[0].count + a, yb = y * taps[1].count + b;
            const T w = taps[0].weight[za] * taps[1].weight[yb];
            if (w == 0 && !first) continue;
            const int64_t at = p * plane + (taps[0].index[za] * f->in_sizes[1] + taps[1].index[yb]) * width;
            const T* row = elem::view<T>(buffer, f->dtype, elem::at((const void*)f->in, f->dtype, at), 1, width);
            if (first)
              for (int64_t i = 0; i < width; i++) sum[i] = w * row[i];
            else
              for (int64_t i = 0; i < width; i++) sum[i] += w * row[i];
            first = false;
          }
        along_row<T>(taps[2], sum, result, out_width);
        elem::store<T>(elem::at((void*)f->out, f->dtype, out), f->dtype, result, 1, out_width);
        out += out_width;
      }
  return PTLITE_OK;
}

int32_t resample_run(resample_frame* f) { return f->dtype == elem::F64 ? resample_in<double>(f) : resample_in<float>(f); }

}  // namespace

PTLITE_KERNEL(resample, resample_run)
