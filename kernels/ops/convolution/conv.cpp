// Convolution: implicit GEMM (the columns of a block are gathered while they are packed, there is no im2col buffer)
// and a direct depthwise form. Both run on the phase-split window of conv_window.h.
#include "frames/conv.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <algorithm>
#include <atomic>

#include "conv_window.h"
#include "ops/gemm/gemm_core.h"

namespace {

namespace gemm = ptlite::gemm;

using conv::Window;
using ptlite::Vec;

/// Whole vectors are read at the ends of runs; windows are followed by this many elements of slack.
constexpr int64_t kSlack = 64;

/// Consecutive outputs of a panel that are consecutive in the window too.
struct Run {
  int32_t at;
  int32_t length;
  int64_t offset;
};

/// Cuts outputs [first, first + count) into runs; returns how many.
int cut_runs(const Window& w, int64_t first, int64_t count, Run* runs) {
  const int64_t rows = w.dim[1].out, cols = w.dim[2].out;
  int n = 0;
  int64_t done = 0;
  int64_t ow = first % cols, oh = first / cols % rows, od = first / cols / rows;
  while (done < count) {
    const int64_t length = std::min(cols - ow, count - done);
    const int64_t offset = (od * w.dim[1].size + oh) * w.dim[2].size + ow;
    if (n > 0 && runs[n - 1].offset + runs[n - 1].length == offset) runs[n - 1].length += int32_t(length);
    else runs[n++] = Run{int32_t(done), int32_t(length), offset};
    done += length;
    ow = 0;
    if (++oh == rows) {
      oh = 0;
      od++;
    }
  }
  return n;
}

/// Gathers one panel of B: row p holds base[offsets[p] + position of each output]. With kSpill whole vectors are copied
/// at the ends of runs, in ascending order, so that what spills over is overwritten by what follows.
template <class T, bool kSpill>
void gather_panel(const T* base, const int64_t* offsets, int64_t depth, const Run* runs, int run_count, int64_t width, T* out) {
  constexpr int L = Vec<T>::size;
  if (run_count == 1 && runs[0].length == gemm::kCols<T>) {
    const T* from = base + runs[0].offset;
    for (int64_t p = 0; p < depth; p++, out += width) {
      for (int v = 0; v < gemm::kVectors; v++) Vec<T>::load(from + offsets[p] + v * L).store(out + v * L);
    }
    return;
  }
  for (int64_t p = 0; p < depth; p++, out += width) {
    const T* from = base + offsets[p];
    for (int r = 0; r < run_count; r++) {
      const T* src = from + runs[r].offset;
      T* dst = out + runs[r].at;
      const int length = runs[r].length;
      for (int i = 0; i < length; i += L) {
        (kSpill || length - i >= L ? Vec<T>::load(src + i) : Vec<T>::load(src + i, length - i)).store(dst + i);
      }
    }
  }
}

template <class T>
struct Problem {
  Window window;
  int64_t groups, in_channels, out_channels;  // channels per group
  gemm::Epilogue<T> end;                      // source: bias of the group
};

/// Output channels [first, last) and pixels [from, to) of one group of one image, both beginning at panels. `base` is the
/// input in the form of the window, `packed` memory for a block of it.
template <class T>
void conv_part(const Problem<T>& q, const T* base, const T* weight, T* output, const int64_t* offsets, int64_t first, int64_t last,
               int64_t from, int64_t to, T* packed) {
  const Window& w = q.window;
  const int64_t k = q.in_channels * w.taps(), n = w.pixels();
  const int64_t depth = gemm::even_depth(k);
  Run runs[gemm::kCols<T>];
  for (int64_t j = from; j < to; j += gemm::kWidth<T>) {
    ptlite::poll();
    const int64_t nn = std::min(gemm::kWidth<T>, to - j);
    for (int64_t p = 0; p < k; p += depth) {
      const int64_t kk = std::min(depth, k - p);
      for (int64_t jj = 0; jj < nn; jj += gemm::kCols<T>) {
        const int64_t cols = std::min<int64_t>(gemm::kCols<T>, nn - jj);
        const int count = cut_runs(w, j + jj, cols, runs);
        const int64_t width = gemm::round_up(cols, Vec<T>::size);
        if (w.direct) gather_panel<T, false>(base, offsets + p, kk, runs, count, width, packed + jj * kk);
        else gather_panel<T, true>(base, offsets + p, kk, runs, count, width, packed + jj * kk);
      }
      gemm::multiply_packed<T>(last - first, nn, kk, weight + first * k + p * gemm::kRows, k, packed, kk, 0, output + first * n + j, n, q.end,
                               p == 0, p + kk == k, first, j);
    }
  }
}

/// One group of one image. Threads share out the larger of weight and image, so that the other is read by all.
template <class T>
bool conv_gemm(const Problem<T>& q, const T* input, const T* weight, T* output, T* window, const int64_t* offsets) {
  const Window& w = q.window;
  const int64_t k = q.in_channels * w.taps(), n = w.pixels(), m = q.out_channels;
  const T* base = input;
  if (!w.direct) {
    for (int64_t c = 0; c < q.in_channels; c++) w.fill(input + c * w.in_plane(), window + c * w.channel);
    base = window;
  }
  const size_t bytes = size_t(gemm::even_depth(k) * gemm::kWidth<T> + 2 * kSlack) * sizeof(T);
  std::atomic<bool> fine{true};
  const bool by_rows = m > n;
  const int64_t step = by_rows ? gemm::kRows : gemm::kCols<T>, size = by_rows ? m : n;
  const int64_t units = (size + step - 1) / step;
  // each range of rows gathers the image again
  const int64_t ranges = int64_t{ptlite::thread_limit()} * (by_rows ? 1 : 2);
  const int64_t grain = std::max((units + ranges - 1) / ranges, ptlite::grain_for(step * (by_rows ? n : m) * k));
  ptlite::parallel_for(units, grain, [&](int64_t begin, int64_t end) {
    T* packed = static_cast<T*>(ptlite::range_scratch(bytes));
    if (packed == nullptr) {
      fine = false;
      return;
    }
    const int64_t from = begin * step, to = std::min(end * step, size);
    conv_part<T>(q, base, weight, output, offsets, by_rows ? from : 0, by_rows ? to : m, by_rows ? 0 : from, by_rows ? n : to, packed);
  });
  return fine;
}

/// One channel against one filter: every output of a few rows at a time, the columns between rows included.
template <class T>
void depthwise_plane(const Window& w, const T* in, const T* filter, const int64_t* offsets, T bias, const gemm::Epilogue<T>& end, T* out) {
  constexpr int L = Vec<T>::size, U = 4;
  constexpr int64_t kBuffer = 2048;
  alignas(64) T buffer[kBuffer + U * L];
  const int64_t taps = w.taps(), rows = w.dim[1].out, cols = w.dim[2].out, pitch = w.dim[2].size;
  const int64_t piece = std::min(cols, kBuffer);
  const int64_t group = piece < cols ? 1 : std::max<int64_t>(1, kBuffer / pitch);
  for (int64_t d = 0; d < w.dim[0].out; d++) {
    for (int64_t r = 0; r < rows; r += group) {
      ptlite::poll();
      const int64_t some = std::min(group, rows - r);
      for (int64_t c = 0; c < cols; c += piece) {
        const int64_t width = std::min(piece, cols - c);
        const T* from = in + (d * w.dim[1].size + r) * pitch + c;
        const int64_t count = (some - 1) * pitch + width;
        for (int64_t i = 0; i < count; i += U * L) {
          Vec<T> acc[U];
          for (int u = 0; u < U; u++) acc[u] = Vec<T>(bias);
          for (int64_t t = 0; t < taps; t++) {
            const Vec<T> f = Vec<T>(filter[t]);
            const T* p = from + offsets[t] + i;
            for (int u = 0; u < U; u++) acc[u] += f * Vec<T>::load(p + u * L);
          }
          for (int u = 0; u < U; u++) {
            if (end.clamped) acc[u] = gemm::clamp<T>(acc[u], end.lo, end.hi);
            acc[u].store(buffer + i + u * L);
          }
        }
        for (int64_t s = 0; s < some; s++) {
          T* row = out + (d * rows + r + s) * cols + c;
          const T* result = buffer + s * pitch;
          int64_t i = 0;
          for (; i + L <= width; i += L) Vec<T>::load(result + i).store(row + i);
          if (i < width) Vec<T>::load(result + i).store(row + i, int(width - i));
        }
      }
    }
  }
}

template <class T>
int32_t convolve(const conv_frame& f, const ptlite::PostOps* post = nullptr) {
  Problem<T> q;
  q.end.post = post;
  for (int i = 0; i < conv::kDims; i++) {
    q.window.dim[i] = {f.in[i], f.out[i], f.kernel[i], f.stride[i], f.padding[i], f.dilation[i], 0, 0};
  }
  Window& w = q.window;
  // a pointwise convolution sees each channel as one row
  if (w.taps() == 1 && f.stride[0] == 1 && f.stride[1] == 1 && f.stride[2] == 1 && f.padding[0] == 0 && f.padding[1] == 0 &&
      f.padding[2] == 0 && w.pixels() == w.in_plane()) {
    const int64_t pixels = w.pixels();
    w.dim[0] = w.dim[1] = {1, 1, 1, 1, 0, 1, 0, 0};
    w.dim[2] = {pixels, pixels, 1, 1, 0, 1, 0, 0};
  }
  w.finish();
  if (f.batch == 0 || w.pixels() == 0) return PTLITE_OK;
  q.groups = f.groups;
  q.in_channels = f.in_channels / f.groups;
  q.out_channels = f.out_channels / f.groups;
  q.end.lo = T(f.lo);
  q.end.hi = T(f.hi);
  q.end.clamped = f.clamped != 0;
  q.end.source_row = 1;
  const T* input = reinterpret_cast<const T*>(f.input);
  const T* weight = reinterpret_cast<const T*>(f.weight);
  const T* bias = reinterpret_cast<const T*>(f.bias);
  T* output = reinterpret_cast<T*>(f.output);
  const int64_t taps = w.taps(), k = q.in_channels * taps;
  const bool depthwise = q.in_channels == 1 && q.groups > 1 && !f.packed;
  const int64_t slack = kSlack + 8 * Vec<T>::size;
  const int64_t windows = w.direct || depthwise ? 0 : q.in_channels * w.channel + slack;
  const int64_t pack_size = f.packed || depthwise ? 0 : gemm::packed_a_size<T>(q.out_channels, k) * q.groups;
  const size_t bytes = size_t(gemm::round_up(k, 8)) * 8 + size_t(gemm::round_up(windows, 16) + gemm::round_up(pack_size, 16)) * sizeof(T);
  char* memory = static_cast<char*>(ptlite_scratch(bytes));
  if (memory == nullptr) return PTLITE_NO_MEMORY;
  int64_t* offsets = reinterpret_cast<int64_t*>(memory);
  T* window = reinterpret_cast<T*>(memory + gemm::round_up(k, 8) * 8);
  T* own_pack = window + gemm::round_up(windows, 16);
  w.tap_offsets(offsets);
  for (int64_t p = taps; p < k; p++) offsets[p] = offsets[p - taps] + w.channel;
  const int64_t in_plane = w.in_plane(), pixels = w.pixels();
  std::atomic<bool> fine{true};
  if (depthwise) {
    ptlite::parallel_for(f.batch * q.groups, ptlite::grain_for(q.out_channels * pixels * taps), [&](int64_t begin, int64_t end) {
      T* plane = static_cast<T*>(ptlite::range_scratch(size_t(w.channel + slack) * sizeof(T)));
      if (plane == nullptr) {
        fine = false;
        return;
      }
      for (int64_t g = begin; g < end; g++) {
        w.fill(input + g * in_plane, plane);
        for (int64_t m = 0; m < q.out_channels; m++) {
          const int64_t c = g % q.groups * q.out_channels + m;
          depthwise_plane<T>(w, plane, weight + c * taps, offsets, bias == nullptr ? T(0) : bias[c], q.end,
                             output + (g * q.out_channels + m) * pixels);
          if constexpr (sizeof(T) == 4) {
            if (post != nullptr) post->apply(1, pixels, output + (g * q.out_channels + m) * pixels, pixels, g / q.groups, c, 0);
          }
        }
      }
    });
    return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
  }
  const int64_t group_pack = gemm::packed_a_size<T>(q.out_channels, k);
  if (!f.packed) {
    for (int64_t g = 0; g < q.groups; g++) gemm::pack_a<T>(q.out_channels, k, weight + g * q.out_channels * k, k, 1, own_pack + g * group_pack);
    weight = own_pack;
  }
  for (int64_t i = 0; i < f.batch; i++) {
    for (int64_t g = 0; g < q.groups; g++) {
      q.end.source = bias == nullptr ? nullptr : bias + g * q.out_channels;
      q.end.post_batch = i;
      q.end.post_row = g * q.out_channels;
      fine = fine & conv_gemm<T>(q, input + (i * f.in_channels + g * q.in_channels) * in_plane, weight + g * group_pack,
                                 output + (i * f.out_channels + g * q.out_channels) * pixels, window, offsets);
    }
  }
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t conv_kernel(conv_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return convolve<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return convolve<double>(*f);
  return PTLITE_NO_DTYPE;
}

int32_t conv_post_kernel(conv_post_frame* f) {
  const ptlite::PostOps post(*f);
  if (f->dtype != PTLITE_FLOAT32) return PTLITE_NO_DTYPE;
  // a frame of conv_post starts as one of conv
  return post.valid() ? convolve<float>(reinterpret_cast<const conv_frame&>(*f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(conv_post, conv_post_kernel)
PTLITE_KERNEL(conv, conv_kernel)
