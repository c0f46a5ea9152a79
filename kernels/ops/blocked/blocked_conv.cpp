// Direct convolution over channels in blocks of 16 (the NCHWc layout of Georganas et al., "Anatomy of High-Performance Deep Learning
// Convolutions on SIMD Architectures"). Rows that need padding, or every stride-th pixel, are copied into a strip first, split by
// the stride into phases, so that the tiles always read pixels that are neighbours.
#include "frames/blocked.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/half.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "blocked_tile.h"

namespace {

using namespace ptlite::blocked;
using ptlite::bfloat16;
using ptlite::float16;
using ptlite::load_float;
using ptlite::Vec;

/// Taps of one dimension of a filter that meet the input.
struct Taps {
  int64_t first, count;
};

Taps taps_inside(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
  const int64_t first = start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
  const int64_t end = start >= size ? 0 : std::min(kernel, (size - start + dilation - 1) / dilation);
  return {first, std::max<int64_t>(0, end - first)};
}

/// How the slices of volumes meet; images have one.
struct Depth {
  int64_t in, kernel, stride, padding, dilation, out;
};

/// A convolution as a loop over strips of output rows; a pointwise one has a single row of all pixels, and strips are pieces of it.
struct Problem {
  int64_t batch, channels, out_blocks, strip;
  Depth depth;
  int64_t in[2], kernel[2], stride[2], padding[2], dilation[2], out[2];
  int64_t unit;         ///< floats of a pixel: a block, or 1 where the input is plain
  int64_t planes;       ///< blocks, or channels where the input is plain
  int64_t group_inputs, group_outputs;
  bool pointwise;       ///< one tap, stride 1, no padding
  bool copied;          ///< rows are copied into strips
  int32_t filter_dtype; ///< filters of 16 bits become float32 for the strip that reads them
  int64_t phases;       ///< of a copied row
  int64_t phase_width;  ///< pixels of each
  int64_t row_step;     ///< rows of the strip from one output row to the next
  TileArgs tile;
  const ptlite::PostOps* post;  ///< null: none

  /// What threads share out: rows of a slice of the output, or pixels.
  int64_t units() const { return pointwise ? out[1] : out[0]; }
  int64_t slices() const { return batch * depth.out; }
  /// Rows of the strip that `count` output rows read.
  int64_t strip_rows(int64_t count) const { return (count - 1) * row_step + (kernel[0] - 1) * dilation[0] + 1; }
  int64_t row_floats() const { return copied ? phases * phase_width * unit : in[1] * unit; }
  /// From one slice that is read to the next.
  int64_t slice_floats() const { return copied ? strip_rows(strip) * row_floats() : depth.dilation * in[0] * in[1] * unit; }
  int64_t plane_floats() const { return copied ? depth.kernel * slice_floats() : depth.in * in[0] * in[1] * unit; }
  int64_t strip_floats() const { return copied ? planes * plane_floats() : 0; }
  int64_t widened_at() const { return (strip_floats() + kBlock - 1) / kBlock * kBlock; }
  bool widens() const { return filter_dtype != PTLITE_FLOAT32; }
  /// The filters that are read together.
  int64_t filter_floats() const { return widens() ? kFilters * tile.filter_block : 0; }

  /// Slices of the filter that meet the input, and the slice that the first one meets.
  struct Slices {
    int64_t tap, count, first;
  };
  Slices slices_of(int64_t out_slice) const {
    const int64_t start = out_slice * depth.stride - depth.padding;
    const Taps taps = taps_inside(start, depth.dilation, depth.kernel, depth.in);
    return {taps.first, taps.count, start + taps.first * depth.dilation};
  }
  /// Rows of the filter that are read for a row of the output: of volumes all, as the taps of a slice come one after the other.
  Taps rows_of(int64_t out_row) const {
    if (depth.kernel > 1) return {0, kernel[0]};
    return taps_inside(out_row * stride[0] - padding[0], dilation[0], kernel[0], in[0]);
  }

  /// The channels of the input that some channels of the output read.
  struct Span {
    int64_t first, end;
    bool operator==(const Span& other) const { return first == other.first && end == other.end; }
  };
  Span span(int64_t first_output, int64_t end_output) const {
    return {first_output / group_outputs * group_inputs, std::min(channels, ((end_output - 1) / group_outputs + 1) * group_inputs)};
  }
  Span span_of(int64_t block) const { return span(block * kBlock, std::min((block + 1) * kBlock, channels / group_inputs * group_outputs)); }
};

/// Every second of some elements; how many of `count` have been taken: what is read ends before the last one.
int64_t copy_even(const float* from, int64_t count, float* to) {
  constexpr int L = Vec<float>::size;
  typename Vec<float>::Mask::Raw even{};
  for (int i = 0; i < L; i++) even[i] = 2 * i;
  int64_t i = 0;
  for (; i + L < count; i += L) {
    const Vec<float> a = Vec<float>::load(from + 2 * i), b = Vec<float>::load(from + 2 * i + L);
    Vec<float>(ptlite::arch::shuffled(a.v, b.v, even)).store(to + i);
  }
  return i;
}

/// Every step-th of `count` pixels.
void copy_pixels(const float* from, int64_t step, int64_t count, int64_t unit, float* to) {
  if (step == 1) {
    memcpy(to, from, size_t(count * unit) * sizeof(float));
  } else if (unit == 1) {
    for (int64_t i = step == 2 ? copy_even(from, count, to) : 0; i < count; i++) to[i] = from[i * step];
  } else {
    for (int64_t i = 0; i < count; i++) {
      for (int v = 0; v < kParts; v++) Vec<float>::load(from + i * step * kBlock + v * kLanes).store(to + i * kBlock + v * kLanes);
    }
  }
}

/// Row `y` of a plane of the input, padded and split into phases; zeros outside.
void copy_row(const Problem& q, const float* plane, int64_t y, float* to) {
  if (y < 0 || y >= q.in[0]) {
    memset(to, 0, size_t(q.row_floats()) * sizeof(float));
    return;
  }
  const float* row = plane + y * q.in[1] * q.unit;
  for (int64_t phase = 0; phase < q.phases; phase++, to += q.phase_width * q.unit) {
    // pixels [head, tail) lie inside the input
    const int64_t shift = q.padding[1] - phase, stride = q.stride[1];
    const int64_t head = std::min(q.phase_width, shift <= 0 ? 0 : (shift + stride - 1) / stride);
    const int64_t end = q.in[1] + shift;
    const int64_t tail = std::max(head, std::min(q.phase_width, end <= 0 ? 0 : (end + stride - 1) / stride));
    memset(to, 0, size_t(head * q.unit) * sizeof(float));
    if (tail > head) copy_pixels(row + (head * stride - shift) * q.unit, stride, tail - head, q.unit, to + head * q.unit);
    memset(to + tail * q.unit, 0, size_t((q.phase_width - tail) * q.unit) * sizeof(float));
  }
}

/// The rows of these slices that output rows [first, first + count) read, for planes [from, to_plane).
void copy_strip(const Problem& q, const float* image, const Problem::Slices& slices, int64_t first, int64_t count, int64_t from,
                int64_t to_plane, float* to) {
  const int64_t rows = q.strip_rows(count), pixels = q.in[0] * q.in[1];
  const int64_t spread = q.kernel[0] == 1 ? q.stride[0] : 1;  // between rows that are read at all
  for (int64_t c = from; c < to_plane; c++) {
    for (int64_t s = 0; s < slices.count; s++) {
      const float* slice = image + (c * q.depth.in + slices.first + s * q.depth.dilation) * pixels * q.unit;
      float* row = to + c * q.plane_floats() + s * q.slice_floats();
      for (int64_t r = 0; r < rows; r++, row += q.row_floats()) copy_row(q, slice, first * q.stride[0] - q.padding[0] + r * spread, row);
    }
  }
}

template <class Half>
void widen(const Half* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kLanes) load_float(from + i).store(to + i);
}

/// `count` floats of each of `filters` filters from number `at` on, those of a filter as far apart as they lie.
void widen_filters(const Problem& q, const blocked_conv_frame& f, int64_t at, int filters, int64_t count, float* to) {
  for (int i = 0; i < filters; i++, at += q.tile.filter_block, to += q.tile.filter_block) {
    if (q.filter_dtype == PTLITE_BFLOAT16) widen(reinterpret_cast<const bfloat16*>(f.filter) + at, count, to);
    else widen(reinterpret_cast<const float16*>(f.filter) + at, count, to);
  }
}

/// Output blocks [from, to) of `count` units of one slice of an image, a strip at most, from `first` on.
void compute_strip(const Problem& q, const blocked_conv_frame& f, int64_t slice, int64_t first, int64_t count, int64_t from, int64_t to,
                   float* memory) {
  const int64_t image = slice / q.depth.out, out_slice = slice % q.depth.out, in_pixels = q.in[0] * q.in[1];
  const int64_t pixels = q.out[0] * q.out[1];  // of a slice
  const Problem::Slices slices = q.slices_of(out_slice);
  const float* input = reinterpret_cast<const float*>(f.input) + image * q.planes * q.depth.in * in_pixels * q.unit;
  const int64_t slice_taps = q.kernel[0] * q.kernel[1] * f.depth * kBlock, filter_at = slices.tap * slice_taps;
  const float* filter = reinterpret_cast<const float*>(f.filter) + filter_at;
  float* widened = memory + q.widened_at();
  const float* bias = reinterpret_cast<const float*>(f.bias);
  const float* residual = reinterpret_cast<const float*>(f.residual);
  float* output = reinterpret_cast<float*>(f.output);
  const float* x = input + (slices.count > 0 ? slices.first * in_pixels : 0) * q.unit;
  TileArgs a = q.tile;
  a.tap_count = a.tap_count / q.depth.kernel * slices.count;
  const bool grouped = q.group_inputs < q.channels;
  if (q.copied) {
    const Problem::Span all = grouped ? Problem::Span{q.span_of(from).first, q.span_of(to - 1).end} : Problem::Span{0, q.channels};
    const int64_t of_plane = q.unit;  // as many channels as a pixel has floats
    copy_strip(q, input, slices, first, count, all.first / of_plane, (all.end + of_plane - 1) / of_plane, memory);
    x = memory;
  } else {
    x += q.pointwise ? first * q.unit : first * q.stride[0] * q.row_floats();
  }
  int filters = 0;
  for (int64_t b = from; b < to; b += filters) {
    filters = int(std::min<int64_t>(kFilters, to - b));
    const float* source = x;
    if (grouped) {
      const Problem::Span span = q.span_of(b);
      if (a.group > 0 || !(q.span_of(b + filters - 1) == span)) filters = 1;
      const int64_t start = a.group > 0 ? b : span.first / kBlock;
      source += start * a.block_step;
      a.lead = span.first - start * kBlock;
      a.channels = span.end - start * kBlock;
      a.blocks = (a.channels + kBlock - 1) / kBlock;
    }
    const int64_t block = image * q.out_blocks + b, plane = (block * q.depth.out + out_slice) * pixels * kBlock;
    const float* w = filter + b * a.filter_block;
    if (q.widens()) {
      widen_filters(q, f, filter_at + b * a.filter_block, filters, slices.count * slice_taps, widened);
      w = widened;
    }
    const float* sums = bias == nullptr ? nullptr : bias + b * kBlock;
    const float* following = q.widens() ? nullptr : b + filters < to ? w + filters * a.filter_block : filter + from * a.filter_block;
    const int64_t rows = q.pointwise ? 1 : count, width = q.pointwise ? count : q.out[1];
    for (int64_t r = 0; r < rows; r++) {
      const int64_t pixel = q.pointwise ? first : (first + r) * q.out[1], at = plane + pixel * kBlock;
      const Taps inside = q.pointwise ? Taps{0, 1} : q.rows_of(first + r);
      TileArgs row = a;
      row.taps += a.tap_count / q.kernel[0] * inside.first;
      row.tap_count = a.tap_count / q.kernel[0] * inside.count;
      run_row(row, q.unit == 1, filters, width, source + r * q.row_step * q.row_floats(),
              w + inside.first * q.kernel[1] * f.depth * kBlock, sums, residual == nullptr ? nullptr : residual + at, output + at,
              {q.post, block, out_slice * pixels + pixel}, {following, r, rows});
    }
  }
}

/// Units [begin, end) of all slices in strips of equal size, of whole tiles where they are pixels.
template <class F>
void each_strip(const Problem& q, int64_t begin, int64_t end, const F& f) {
  const int64_t units = q.units();
  for (int64_t u = begin; u < end;) {
    const int64_t slice = u / units, last = std::min(end, (slice + 1) * units);
    const int64_t strips = (last - u + q.strip - 1) / q.strip, tile = q.pointwise ? row_tile(last - u) : 1;
    const int64_t strip = ((last - u + strips - 1) / strips + tile - 1) / tile * tile;
    for (; u < last; u += strip) f(slice, u - slice * units, std::min(strip, last - u));
    u = last;
  }
}

/// Output blocks that a thread takes at a time, where threads share out filters: pairs, or equal parts where pairs would leave one
/// thread with more than the others.
int64_t blocks_together(const Problem& q, int64_t work) {
  const int64_t groups = (q.out_blocks + kFilters - 1) / kFilters, threads = ptlite::thread_limit();
  if (work * q.out_blocks / threads < ptlite::kWorthwhile) return q.out_blocks;
  if (groups < 4 * threads && groups % threads != 0) return (q.out_blocks + threads - 1) / threads;
  // a range copies the strips again
  return kFilters * std::max(ptlite::grain_for(work * kFilters), q.copied ? (groups + 2 * threads - 1) / (2 * threads) : 1);
}

int32_t convolve(const Problem& q, const blocked_conv_frame& f) {
  const size_t bytes = size_t(q.widened_at() + q.filter_floats()) * sizeof(float);
  const int64_t work = q.depth.out * q.out[0] * q.out[1] * q.tile.filter_block;  // of one output block
  std::atomic<bool> fine{true};
  const auto compute = [&](int64_t begin, int64_t end, int64_t from, int64_t to) {
    float* memory = bytes == 0 ? nullptr : static_cast<float*>(ptlite::range_scratch(bytes));
    if (bytes > 0 && memory == nullptr) {
      fine = false;
      return;
    }
    each_strip(q, begin, end, [&](int64_t slice, int64_t first, int64_t count) {
      compute_strip(q, f, slice, first, count, from, to, memory);
    });
  };
  if (f.by_filters != 0) {
    ptlite::parallel_for(q.out_blocks, blocks_together(q, work),
                         [&](int64_t begin, int64_t end) { compute(0, q.slices() * q.units(), begin, end); });
  } else {
    // whole tiles of pixels, and not so few rows that most of what is copied serves their neighbours too
    const int64_t least = q.pointwise ? row_tile(q.units()) : q.copied && q.kernel[0] > 1 ? 2 : 1;
    const int64_t worthwhile = ptlite::grain_for(work * q.out_blocks / (q.depth.out * q.units()));
    ptlite::parallel_for(q.slices() * q.units(), (worthwhile + least - 1) / least * least,
                         [&](int64_t begin, int64_t end) { compute(begin, end, 0, q.out_blocks); });
  }
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t run(const blocked_conv_frame* f, const ptlite::PostOps* post) {
  const bool known = f->filter_dtype == PTLITE_FLOAT32 || f->filter_dtype == PTLITE_BFLOAT16 || f->filter_dtype == PTLITE_FLOAT16;
  if (!known) return PTLITE_NO_DTYPE;
  Problem q{};
  q.post = post;
  q.filter_dtype = f->filter_dtype;
  q.batch = f->batch;
  q.channels = f->in_channels;
  q.out_blocks = f->out_blocks;
  q.group_inputs = q.channels / f->groups;
  q.group_outputs = f->groups == 1 ? q.out_blocks * kBlock : f->group_outputs;
  q.strip = f->strip;
  q.depth = {f->in[0], f->kernel[0], f->stride[0], f->padding[0], f->dilation[0], f->out[0]};
  for (int d = 0; d < 2; d++) {
    q.in[d] = f->in[d + 1];
    q.kernel[d] = f->kernel[d + 1];
    q.stride[d] = f->stride[d + 1];
    q.padding[d] = f->padding[d + 1];
    q.dilation[d] = f->dilation[d + 1];
    q.out[d] = f->out[d + 1];
  }
  const bool plain = f->plain != 0;
  q.unit = plain ? 1 : kBlock;
  q.planes = plain ? q.channels : (q.channels + kBlock - 1) / kBlock;
  const int64_t taps = q.depth.kernel * q.kernel[0] * q.kernel[1];
  bool padded = false;
  for (int d = 0; d < 2; d++) {
    padded = padded || q.padding[d] > 0 || (q.out[d] - 1) * q.stride[d] + (q.kernel[d] - 1) * q.dilation[d] + 1 > q.in[d];
  }
  q.pointwise = taps == 1 && !padded && q.stride[0] == 1 && q.stride[1] == 1 && q.in[0] == q.out[0] && q.in[1] == q.out[1] &&
                q.depth.stride == 1 && q.depth.padding == 0 && q.depth.in == q.depth.out;
  if (q.pointwise) {
    q.in[1] *= q.depth.in * q.in[0];
    q.out[1] = q.in[1];
    q.depth.in = q.depth.out = q.in[0] = q.out[0] = 1;
  }
  q.copied = padded || q.stride[1] != 1;
  q.phases = q.kernel[1] == 1 ? 1 : q.stride[1];
  q.phase_width = q.out[1] + (q.kernel[1] - 1) * q.dilation[1] / q.stride[1];
  q.row_step = q.copied && q.kernel[0] == 1 ? 1 : q.stride[0];
  const int64_t per_tap = plain ? q.channels : 1;
  int64_t* offsets = static_cast<int64_t*>(ptlite_scratch(size_t(taps * per_tap) * sizeof(int64_t)));
  if (offsets == nullptr) return PTLITE_NO_MEMORY;
  int64_t* offset = offsets;
  for (int64_t t = 0; t < taps; t++) {
    const int64_t d = t / (q.kernel[0] * q.kernel[1]), h = t / q.kernel[1] % q.kernel[0], col = t % q.kernel[1] * q.dilation[1];
    const int64_t pixel = q.copied ? col % q.stride[1] * q.phase_width + col / q.stride[1] : col;
    const int64_t first = d * q.slice_floats() + h * q.dilation[0] * q.row_floats() + pixel * q.unit;
    for (int64_t c = 0; c < per_tap; c++) *offset++ = first + c * q.plane_floats();
  }
  q.tile.taps = offsets;
  q.tile.tap_count = taps * per_tap;
  q.tile.blocks = plain ? 1 : q.planes;
  q.tile.block_step = q.plane_floats();
  q.tile.channels = plain ? 1 : q.channels;
  q.tile.lead = 0;
  q.tile.group = f->groups > 1 && q.group_inputs == q.group_outputs && (f->depth == 4 || f->depth == 8) ? f->depth : 0;
  q.tile.depth = plain ? 1 : f->depth;
  q.tile.filter_block = taps * f->depth * kBlock;
  q.tile.out_block = q.depth.out * q.out[0] * q.out[1] * kBlock;
  q.tile.lo = f->clamped != 0 ? float(f->lo) : -std::numeric_limits<float>::infinity();
  q.tile.hi = f->clamped != 0 ? float(f->hi) : std::numeric_limits<float>::infinity();
  return convolve(q, *f);
}

int32_t conv_kernel(blocked_conv_frame* f) { return run(f, nullptr); }

int32_t conv_post_kernel(blocked_conv_post_frame* f) {
  const ptlite::PostOps post(*f);
  // a frame of blocked_conv_post starts as one of blocked_conv
  return post.valid() ? run(reinterpret_cast<const blocked_conv_frame*>(f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(blocked_conv, conv_kernel)
PTLITE_KERNEL(blocked_conv_post, conv_post_kernel)
