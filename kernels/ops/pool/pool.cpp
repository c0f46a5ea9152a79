// Pooling, one dimension after the other: rows of a window are combined into one padded row first, which is then
// combined along itself. Max with indices walks the window element by element.
#include "frames/pool.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "vec/vec.h"

namespace {

using ptlite::Vec;

/// One dimension of the windows.
struct Axis {
  int64_t in, out, window, stride, padding, dilation;
  bool adaptive;

  /// First element of window o, negative in the padding.
  int64_t start(int64_t o) const { return adaptive ? o * in / out : o * stride - padding; }
  /// Elements of window o, padding included.
  int64_t count(int64_t o) const { return adaptive ? ((o + 1) * in + out - 1) / out - start(o) : window; }
  int64_t step() const { return adaptive ? 1 : dilation; }
  /// Elements of window o inside the input: indices [from, to) of the window.
  void inside(int64_t o, int64_t& from, int64_t& to) const {
    const int64_t s = start(o), d = step();
    from = s >= 0 ? 0 : (-s + d - 1) / d;
    to = in <= s ? 0 : std::min(count(o), (in - s + d - 1) / d);
    from = std::min(from, to);
  }
  /// What average pooling divides by along this dimension.
  int64_t divisor(int64_t o, bool with_padding) const {
    if (adaptive) return count(o);
    const int64_t s = start(o), end = std::min(s + window, in + padding);
    // of no elements, as what hangs over the end may be, the sum is 0
    return std::max<int64_t>(1, with_padding ? end - s : std::min(end, in) - std::max<int64_t>(s, 0));
  }
};

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? T(-std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::lowest();
}

template <class T>
struct Max {
  static constexpr T neutral() { return lowest<T>(); }
  static void take(T& best, T v) { best = ((v > best) | (v != v)) ? v : best; }
};
template <class T>
struct Sum {
  static constexpr T neutral() { return T(0); }
  static void take(T& sum, T v) {
    if constexpr (std::is_same_v<T, int64_t>) sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(v));
    else sum += v;
  }
};

/// Combines `count` rows `step` elements apart into `out`.
template <class T, class Combine>
void combine_rows(const T* rows, int64_t count, int64_t step, int64_t width, T* out) {
  for (int64_t r = 0; r < count; r++) {
    const T* row = rows + r * step;
    for (int64_t w = 0; w < width; w++) Combine::take(out[w], row[w]);
  }
}

/// Combines a row, of which `row[-padding]` on can be read, along itself.
template <class T, class Combine>
void combine_along(const Axis& w, const T* row, T* out) {
  if (w.adaptive) {
    for (int64_t o = 0; o < w.out; o++) {
      T v = Combine::neutral();
      const int64_t s = w.start(o), n = w.count(o);
      for (int64_t i = 0; i < n; i++) Combine::take(v, row[s + i]);
      out[o] = v;
    }
    return;
  }
  for (int64_t o = 0; o < w.out; o++) out[o] = Combine::neutral();
  for (int64_t k = 0; k < w.window; k++) {
    const T* from = row - w.padding + k * w.dilation;
    if (w.stride == 1) {
      for (int64_t o = 0; o < w.out; o++) Combine::take(out[o], from[o]);
    } else if (w.stride == 2) {
      for (int64_t o = 0; o < w.out; o++) Combine::take(out[o], from[2 * o]);
    } else {
      for (int64_t o = 0; o < w.out; o++) Combine::take(out[o], from[o * w.stride]);
    }
  }
}

template <class T, class Combine>
void pool_plane(const Axis* axis, const T* in, T* out, T* buffer, int64_t length) {
  const Axis &D = axis[0], &H = axis[1], &W = axis[2];
  T* row = buffer + (W.adaptive ? 0 : W.padding);
  for (int64_t od = 0; od < D.out; od++) {
    int64_t d0, d1;
    D.inside(od, d0, d1);
    for (int64_t oh = 0; oh < H.out; oh++, out += W.out) {
      ptlite::poll();
      int64_t h0, h1;
      H.inside(oh, h0, h1);
      for (int64_t i = 0; i < length; i++) buffer[i] = Combine::neutral();
      for (int64_t d = d0; d < d1; d++) {
        const T* slice = in + (D.start(od) + d * D.step()) * H.in * W.in;
        combine_rows<T, Combine>(slice + (H.start(oh) + h0 * H.step()) * W.in, h1 - h0, H.step() * W.in, W.in, row);
      }
      combine_along<T, Combine>(W, row, out);
    }
  }
}

template <class T>
void max_with_indices(const Axis* axis, const T* in, T* out, int64_t* indices) {
  ptlite::Pace pace;
  const Axis &D = axis[0], &H = axis[1], &W = axis[2];
  for (int64_t od = 0; od < D.out; od++) {
    int64_t d0, d1;
    D.inside(od, d0, d1);
    for (int64_t oh = 0; oh < H.out; oh++) {
      int64_t h0, h1;
      H.inside(oh, h0, h1);
      for (int64_t ow = 0; ow < W.out; ow++) {
        pace.after((d1 - d0) * (h1 - h0));
        int64_t w0, w1;
        W.inside(ow, w0, w1);
        const int64_t first = ((D.start(od) + d0 * D.step()) * H.in + H.start(oh) + h0 * H.step()) * W.in + W.start(ow) + w0 * W.step();
        T best = lowest<T>();
        int64_t where = first;
        for (int64_t d = d0; d < d1; d++) {
          for (int64_t h = h0; h < h1; h++) {
            const int64_t base = first + ((d - d0) * D.step() * H.in + (h - h0) * H.step()) * W.in;
            for (int64_t w = w0; w < w1; w++) {
              const int64_t at = base + (w - w0) * W.step();
              const T v = in[at];
              if (v > best || v != v) {
                best = v;
                where = at;
              }
            }
          }
        }
        *out++ = best;
        *indices++ = where;
      }
    }
  }
}

template <class T>
T plane_sum(const T* in, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    Vec<T> sum = Vec<T>::zero();
    int64_t i = 0;
    for (; i + Vec<T>::size <= n; i += Vec<T>::size) sum += Vec<T>::load(in + i);
    if (i < n) sum += Vec<T>::load(in + i, n - i);
    return reduce_add(sum);
  } else {
    T sum = 0;
    for (int64_t i = 0; i < n; i++) sum += in[i];
    return sum;
  }
}

/// By what T need not hold; 0 where that is a fraction below 1.
template <class T>
T divided(T sum, int64_t by) {
  return by == 0 ? T(0) : T(by == -1 ? -sum : sum / by);
}

template <class T>
void divide(const Axis* axis, const pool_frame& f, T* out) {
  const bool with_padding = f.count_include_pad != 0;
  for (int64_t d = 0; d < axis[0].out; d++) {
    const int64_t nd = axis[0].divisor(d, with_padding);
    for (int64_t h = 0; h < axis[1].out; h++) {
      const int64_t nh = nd * axis[1].divisor(h, with_padding);
      for (int64_t w = 0; w < axis[2].out; w++, out++) {
        const int64_t count = nh * axis[2].divisor(w, with_padding);
        if constexpr (std::is_floating_point_v<T>) *out = *out / (f.divisor != 0 ? T(f.divisor) : T(count));
        else *out = divided(*out, f.divisor != 0 ? int64_t(f.divisor) : count);
      }
    }
  }
}

template <class T>
int32_t pool(const pool_frame& f) {
  Axis axis[3];
  for (int i = 0; i < 3; i++) axis[i] = {f.in[i], f.out[i], f.window[i], f.stride[i], f.padding[i], f.dilation[i], f.adaptive != 0};
  const Axis& W = axis[2];
  const int64_t in_size = axis[0].in * axis[1].in * W.in, out_size = axis[0].out * axis[1].out * W.out;
  const T* in = reinterpret_cast<const T*>(f.input);
  T* out = reinterpret_cast<T*>(f.output);
  const int64_t grain = ptlite::grain_for(std::max(in_size, out_size * f.window[0] * f.window[1] * f.window[2]));
  if (f.indices != 0) {
    int64_t* indices = reinterpret_cast<int64_t*>(f.indices);
    ptlite::parallel_for(f.planes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; p++) max_with_indices<T>(axis, in + p * in_size, out + p * out_size, indices + p * out_size);
    });
    return PTLITE_OK;
  }
  if (f.mode == PoolMode_average && f.adaptive && out_size == 1) {
    ptlite::parallel_for(f.planes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; p++) out[p] = plane_sum<T>(in + p * in_size, in_size) / T(in_size);
    });
    return PTLITE_OK;
  }
  // the last window may reach beyond what was padded (ceil_mode)
  const int64_t reach = W.adaptive ? 0 : (W.out - 1) * W.stride + (W.window - 1) * W.dilation + 1;
  const int64_t length = std::max(W.in + (W.adaptive ? 0 : W.padding), reach) + 1;
  std::atomic<bool> fine{true};
  ptlite::parallel_for(f.planes, grain, [&](int64_t begin, int64_t end) {
    T* buffer = static_cast<T*>(ptlite::range_scratch(size_t(length) * sizeof(T)));
    if (buffer == nullptr) {
      fine = false;
      return;
    }
    for (int64_t p = begin; p < end; p++) {
      if (f.mode == PoolMode_max) {
        pool_plane<T, Max<T>>(axis, in + p * in_size, out + p * out_size, buffer, length);
      } else {
        pool_plane<T, Sum<T>>(axis, in + p * in_size, out + p * out_size, buffer, length);
        divide<T>(axis, f, out + p * out_size);
      }
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t pool_kernel(pool_frame* f) {
  switch (f->dtype) {
    PTLITE_HELD_CASE(PTLITE_FLOAT32, PTLITE_NO_DTYPE) return pool<float>(*f);
    PTLITE_HELD_CASE(PTLITE_FLOAT64, PTLITE_NO_DTYPE) return pool<double>(*f);
    PTLITE_HELD_CASE(PTLITE_UINT8, PTLITE_NO_DTYPE) return pool<uint8_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT64, PTLITE_NO_DTYPE) return pool<int64_t>(*f);
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(pool, pool_kernel)
