// How a convolution sees one channel of its input: padded, and split by the stride into phases, so that every tap of
// the kernel reads consecutive elements for consecutive outputs, whatever stride, padding and dilation are.
// Element i of phase p of a dimension is the padded coordinate i * stride + p; tap t reads phase (t * dilation) % stride
// at index output + (t * dilation) / stride. Include inside per-level translation units only.
#pragma once

#include "vec/vec.h"

namespace {
namespace conv {

using ptlite::Vec;

constexpr int kDims = 3;

struct Dim {
  int64_t in, out, kernel, stride, padding, dilation;
  int64_t size;    ///< elements of a phase
  int64_t phases;  ///< phases that some tap reads

  /// Position among the phases that are kept of the phase that tap t reads.
  int64_t phase_index(int64_t t) const {
    const int64_t phase = t * dilation % stride;
    int64_t index = 0;
    for (int64_t p = next(0); p < phase; p = next(p + 1)) index++;
    return index;
  }
  /// The first phase from `phase` on that some tap reads, or the stride: there are as many as taps at most, and a stride may be of any size.
  int64_t next(int64_t phase) const {
    int64_t found = stride;
    for (int64_t t = 0; t < kernel; t++) {
      const int64_t p = t * dilation % stride;
      if (p >= phase && p < found) found = p;
    }
    return found;
  }
  void finish() {
    size = out + (kernel - 1) * dilation / stride;
    phases = 0;
    for (int64_t p = next(0); p < stride; p = next(p + 1)) phases++;
  }
};

struct Window {
  Dim dim[kDims];
  int64_t plane;    ///< elements of one combination of phases
  int64_t channel;  ///< elements of all combinations
  bool direct;      ///< the input itself has this form

  void finish() {
    plane = 1;
    int64_t combinations = 1;
    direct = true;
    for (Dim& d : dim) {
      d.finish();
      plane *= d.size;
      combinations *= d.phases;
      direct = direct && d.stride == 1 && d.padding == 0 && d.size == d.in;
    }
    channel = plane * combinations;
  }
  int64_t taps() const { return dim[0].kernel * dim[1].kernel * dim[2].kernel; }
  int64_t pixels() const { return dim[0].out * dim[1].out * dim[2].out; }
  int64_t in_plane() const { return dim[0].in * dim[1].in * dim[2].in; }

  /// Element that the tap reads for output (0, 0, 0), from the start of the channel.
  void tap_offsets(int64_t* offsets) const {
    for (int64_t d = 0; d < dim[0].kernel; d++) {
      for (int64_t h = 0; h < dim[1].kernel; h++) {
        for (int64_t w = 0; w < dim[2].kernel; w++) {
          const int64_t combination =
              (dim[0].phase_index(d) * dim[1].phases + dim[1].phase_index(h)) * dim[2].phases + dim[2].phase_index(w);
          const int64_t shift_d = d * dim[0].dilation / dim[0].stride;
          const int64_t shift_h = h * dim[1].dilation / dim[1].stride;
          const int64_t shift_w = w * dim[2].dilation / dim[2].stride;
          *offsets++ = combination * plane + (shift_d * dim[1].size + shift_h) * dim[2].size + shift_w;
        }
      }
    }
  }

  /// Writes one channel of the input in this form; up to a vector of what lies behind it is overwritten.
  template <class T>
  void fill(const T* in, T* out) const {
    const Dim &D = dim[0], &H = dim[1], &W = dim[2];
    for (int64_t pd = D.next(0); pd < D.stride; pd = D.next(pd + 1)) {
      for (int64_t ph = H.next(0); ph < H.stride; ph = H.next(ph + 1)) {
        for (int64_t pw = W.next(0); pw < W.stride; pw = W.next(pw + 1)) {
          fill_plane(in, out, pd, ph, pw);
          out += plane;
        }
      }
    }
  }

 private:
  template <class T>
  void fill_plane(const T* in, T* out, int64_t pd, int64_t ph, int64_t pw) const {
    const Dim &D = dim[0], &H = dim[1], &W = dim[2];
    // outputs [head, tail) of a row lie inside the input
    const int64_t shift = W.padding - pw;
    int64_t head = shift <= 0 ? 0 : (shift + W.stride - 1) / W.stride;
    int64_t tail = W.in + shift <= 0 ? 0 : (W.in + shift + W.stride - 1) / W.stride;
    if (tail > W.size) tail = W.size;
    if (head > tail) head = tail;
    for (int64_t d = 0; d < D.size; d++) {
      const int64_t id = d * D.stride + pd - D.padding;
      for (int64_t h = 0; h < H.size; h++, out += W.size) {
        const int64_t ih = h * H.stride + ph - H.padding;
        if (id < 0 || id >= D.in || ih < 0 || ih >= H.in) {
          zero(out, 0, W.size);
          continue;
        }
        const T* row = in + (id * H.in + ih) * W.in;
        zero(out, 0, head);
        if (W.stride == 1) copy(row + head - shift, tail - head, out + head);
        else if (W.stride == 2) copy_every_second(row + head * 2 - shift, tail - head, out + head);
        else copy_apart(row + head * W.stride - shift, W.stride, tail - head, out + head);
        zero(out, tail, W.size);
      }
    }
  }

  // Rows are written in ascending order and may spill a vector over their end: what follows overwrites it, and behind
  // the last row lies the slack of the window.

  template <class T>
  static void zero(T* out, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += Vec<T>::size) Vec<T>::zero().store(out + i);
  }

  template <class T>
  static void copy(const T* from, int64_t n, T* out) {
    for (int64_t i = 0; i < n; i += Vec<T>::size) Vec<T>::load(from + i, n - i).store(out + i);
  }

  template <class T>
  static void copy_every_second(const T* from, int64_t n, T* out) {
    constexpr int L = Vec<T>::size;
    const int64_t last = 2 * n - 1;
    for (int64_t i = 0; i < n; i += L) {
      const int64_t left = last - 2 * i;
      const Vec<T> upper = left > L ? Vec<T>::load(from + 2 * i + L, left - L) : Vec<T>::zero();
      even_lanes(Vec<T>::load(from + 2 * i, left), upper).store(out + i);
    }
  }

  template <class T>
  static void copy_apart(const T* from, int64_t step, int64_t n, T* out) {
    for (int64_t i = 0; i < n; i++) out[i] = from[i * step];
  }

  template <class T>
  static Vec<T> even_lanes(Vec<T> a, Vec<T> b) {
    typename Vec<T>::Mask pick;
    for (int i = 0; i < Vec<T>::size; i++) pick.v[i] = 2 * i;
    return Vec<T>(typename Vec<T>::Raw(ptlite::arch::shuffled(a.v, b.v, pick.v)));
  }
};

}  // namespace conv
}  // namespace
