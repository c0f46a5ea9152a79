// 3x3 convolution with stride 1 over channels in blocks of 16 by Winograd's F(4x4, 3x3) (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks"): 36 products per 4x4 outputs and channel where the definition has 144. A strip of tiles is
// transformed, multiplied position by position as a pointwise convolution over tiles, and transformed back. Filters of volumes have
// several slices, whose products are summed up position by position.
#include "frames/blocked.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "ops/blocked/blocked_tile.h"

namespace {

using namespace ptlite::blocked;
using ptlite::Vec;

constexpr int kTile = 4;    ///< outputs of a tile in each direction
constexpr int kWindow = 6;  ///< inputs
constexpr int kPositions = kWindow * kWindow;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Problem {
  int64_t batch, in_blocks, out_blocks, in[2], padding[2], out[2];
  int64_t in_slices, out_slices, taps, slice_padding;
  int64_t tiles[2];  ///< rows and columns of tiles
  int64_t strip;     ///< rows of tiles
  int64_t slices;    ///< of the output in a strip
  float lo, hi;
  const ptlite::PostOps* post;  ///< null: none

  /// Slices of the input, or taps of the filter, from `first` on.
  struct Range {
    int64_t first, count;
  };
  /// Slices of the input that slices [first, first + count) of the output read.
  Range slices_of(int64_t first, int64_t count) const {
    const int64_t begin = std::max<int64_t>(0, first - slice_padding);
    return {begin, std::max<int64_t>(0, std::min(in_slices, first + count - 1 + taps - slice_padding) - begin)};
  }
  /// Taps that meet slices of the input for a slice of the output.
  Range taps_of(int64_t slice) const {
    const int64_t begin = std::min(taps, std::max<int64_t>(0, slice_padding - slice));
    return {begin, std::max<int64_t>(0, std::min(taps, in_slices + slice_padding - slice) - begin)};
  }
};

/// d B for one row or column of a tile: B^T of the paper times six values.
PTLITE_INLINE void transform_input(const Vec<float> (&d)[kWindow], Vec<float> (&v)[kWindow]) {
  const Vec<float> two(2.f), four(4.f), five(5.f);
  const Vec<float> a = d[4] - four * d[2], b = d[3] - four * d[1];
  const Vec<float> c = d[4] - d[2], e = two * (d[3] - d[1]);
  v[0] = four * d[0] - five * d[2] + d[4];
  v[1] = a + b;
  v[2] = a - b;
  v[3] = c + e;
  v[4] = c - e;
  v[5] = four * d[1] - five * d[3] + d[5];
}

/// A^T times six values.
PTLITE_INLINE void transform_output(const Vec<float> (&m)[kWindow], Vec<float> (&y)[kTile]) {
  const Vec<float> two(2.f), four(4.f), eight(8.f);
  const Vec<float> a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
  y[0] = m[0] + a + c;
  y[1] = b + two * d;
  y[2] = a + four * c;
  y[3] = b + eight * d + m[5];
}

/// The window at (y, x) of a plane, zeros outside of it, to `out`, kWindow x kWindow blocks.
void copy_window(const Problem& q, const float* plane, int64_t y, int64_t x, float* out) {
  const int64_t head = std::min<int64_t>(kWindow, std::max<int64_t>(0, -x)), tail = std::max(head, std::min<int64_t>(kWindow, q.in[1] - x));
  memset(out, 0, size_t(kWindow * kWindow * kBlock) * sizeof(float));
  for (int64_t i = 0; i < kWindow; i++, out += kWindow * kBlock) {
    if (y + i < 0 || y + i >= q.in[0]) continue;
    memcpy(out + head * kBlock, plane + ((y + i) * q.in[1] + x + head) * kBlock, size_t((tail - head) * kBlock) * sizeof(float));
  }
}

/// A window whose rows are `pitch` floats apart, one vector of channels, to `out`, whose positions are `step` floats apart.
void input_tile(const float* window, int64_t pitch, float* out, int64_t step) {
  Vec<float> rows[kWindow][kWindow];
#pragma GCC unroll 1
  for (int j = 0; j < kWindow; j++) {
    Vec<float> d[kWindow], v[kWindow];
#pragma GCC unroll 6
    for (int i = 0; i < kWindow; i++) d[i] = Vec<float>::load(window + i * pitch + j * kBlock);
    transform_input(d, v);
#pragma GCC unroll 6
    for (int i = 0; i < kWindow; i++) rows[i][j] = v[i];
  }
#pragma GCC unroll 1
  for (int i = 0; i < kWindow; i++) {
    Vec<float> v[kWindow];
    transform_input(rows[i], v);
#pragma GCC unroll 6
    for (int j = 0; j < kWindow; j++) v[j].store(out + (i * kWindow + j) * step);
  }
}

/// Where the outputs of a tile go.
struct Target {
  float* out;
  const float* residual;
  int64_t rows, cols;  ///< of the tile inside the output
  int64_t pitch;
};

void output_tile(const Problem& q, const float* in, int64_t step, Vec<float> bias, const Target& to) {
  Vec<float> rows[kTile][kWindow];
#pragma GCC unroll 1
  for (int j = 0; j < kWindow; j++) {
    Vec<float> m[kWindow], y[kTile];
#pragma GCC unroll 6
    for (int i = 0; i < kWindow; i++) m[i] = Vec<float>::load(in + (i * kWindow + j) * step);
    transform_output(m, y);
#pragma GCC unroll 4
    for (int i = 0; i < kTile; i++) rows[i][j] = y[i];
  }
  for (int i = 0; i < to.rows; i++) {
    Vec<float> y[kTile];
    transform_output(rows[i], y);
    for (int j = 0; j < to.cols; j++) {
      const int64_t at = i * to.pitch + j * kBlock;
      Vec<float> r = y[j] + bias;
      if (to.residual != nullptr) r += Vec<float>::load(to.residual + at);
      limit(r, q.lo, q.hi).store(to.out + at);
    }
  }
}

/// Transformed tiles of a strip: [position][block][slice][tile][16]. Positions are an odd number of lines apart, or the stores of a
/// tile would all go to one set of the cache.
struct Spread {
  int64_t blocks, slices, tiles;

  int64_t block() const { return slices * tiles * kBlock; }
  int64_t position() const { return (blocks * slices * tiles | 1) * kBlock; }
  int64_t floats() const { return kPositions * position(); }
};

/// A part of an image: rows of tiles and slices of the output.
struct Strip {
  int64_t image, row, rows, slice, slices;
};

/// Transforms what a strip reads of the input.
void read_strip(const Problem& q, const Strip& s, const Problem::Range& slices, const Spread& to, const float* input, float* out) {
  alignas(64) float copy[kWindow * kWindow * kBlock];
  for (int64_t u = 0; u < q.in_blocks * slices.count; u++) {
    const int64_t block = s.image * q.in_blocks + u / slices.count, slice = slices.first + u % slices.count;
    const float* plane = input + (block * q.in_slices + slice) * q.in[0] * q.in[1] * kBlock;
    float* first = out + u / slices.count * to.block() + u % slices.count * to.tiles * kBlock;
    for (int64_t t = 0; t < to.tiles; t++) {
      const int64_t y = (s.row + t / q.tiles[1]) * kTile - q.padding[0], x = t % q.tiles[1] * kTile - q.padding[1];
      const bool inside = y >= 0 && x >= 0 && y + kWindow <= q.in[0] && x + kWindow <= q.in[1];
      if (!inside) copy_window(q, plane, y, x, copy);
      const float* window = inside ? plane + (y * q.in[1] + x) * kBlock : copy;
      const int64_t pitch = inside ? q.in[1] * kBlock : kWindow * kBlock;
#pragma GCC unroll 1
      for (int v = 0; v < kParts; v++) input_tile(window + v * kLanes, pitch, first + t * kBlock + v * kLanes, to.position());
    }
  }
}

/// Products of all positions.
void multiply(const Problem& q, const winograd_conv_frame& f, const Strip& s, const Problem::Range& slices, const Spread& in,
              const float* memory, const Spread& out, int64_t* offsets, float* products) {
  const float* filter = reinterpret_cast<const float*>(f.filter);
  const int64_t channels = f.in_channels, block = q.taps * channels * kBlock, slice = in.tiles * kBlock;
  for (int64_t t = 0; t < q.taps; t++) offsets[t] = t * slice;
  TileArgs a{};
  a.lo = -kInfinity;
  a.hi = kInfinity;
  a.taps = offsets;
  a.blocks = q.in_blocks;
  a.block_step = in.block();
  a.channels = a.depth = channels;
  a.filter_block = block;
  a.out_block = out.block();
  for (int64_t p = 0; p < kPositions; p++) {
    for (int64_t b = 0; b < q.out_blocks; b += kFilters) {
      const int filters = int(std::min<int64_t>(kFilters, q.out_blocks - b));
      const float* w = filter + (p * q.out_blocks + b) * block;
      // slices that the same taps serve are one row
      for (int64_t z = 0, last; z < s.slices; z = last) {
        const Problem::Range taps = q.taps_of(s.slice + z);
        const auto same = [&](const Problem::Range& other) { return other.first == taps.first && other.count == taps.count; };
        for (last = z + 1; last < s.slices && same(q.taps_of(s.slice + last));) last++;
        a.tap_count = taps.count;
        const int64_t from = taps.count == 0 ? 0 : s.slice + z + taps.first - q.slice_padding - slices.first;
        run_row(a, false, filters, (last - z) * in.tiles, memory + p * in.position() + from * slice, w + taps.first * channels * kBlock,
                nullptr, nullptr, products + p * out.position() + b * out.block() + z * slice, {}, {w + filters * block, z, s.slices});
      }
    }
  }
}

/// Transforms products into the results of a strip.
void write_strip(const Problem& q, const winograd_conv_frame& f, const Strip& s, const Spread& from, const float* products) {
  const float* bias = reinterpret_cast<const float*>(f.bias);
  float* output = reinterpret_cast<float*>(f.output);
  const int64_t pixels = q.out[0] * q.out[1];
  for (int64_t u = 0; u < q.out_blocks * s.slices; u++) {
    const int64_t b = u / s.slices, slice = s.slice + u % s.slices, block = s.image * q.out_blocks + b;
    const int64_t plane = (block * q.out_slices + slice) * pixels * kBlock;
    for (int64_t t = 0; t < from.tiles; t++) {
      const int64_t y = (s.row + t / q.tiles[1]) * kTile, x = t % q.tiles[1] * kTile;
      const int64_t at = plane + (y * q.out[1] + x) * kBlock;
#pragma GCC unroll 1
      for (int v = 0; v < kParts; v++) {
        Target to;
        to.out = output + at + v * kLanes;
        to.residual = f.residual == 0 ? nullptr : reinterpret_cast<const float*>(f.residual) + at + v * kLanes;
        to.rows = std::min<int64_t>(kTile, q.out[0] - y);
        to.cols = std::min<int64_t>(kTile, q.out[1] - x);
        to.pitch = q.out[1] * kBlock;
        const Vec<float> start = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + b * kBlock + v * kLanes);
        output_tile(q, products + b * from.block() + (u % s.slices * from.tiles + t) * kBlock + v * kLanes, from.position(), start, to);
      }
      if ((t + 1) % q.tiles[1] != 0) continue;
      // a row of tiles is finished
      const int64_t pixel = y * q.out[1], some = std::min<int64_t>(kTile, q.out[0] - y) * q.out[1];
      RowSteps{q.post, block, slice * pixels + pixel}.apply(1, 0, 0, some, output + plane + pixel * kBlock);
    }
  }
}

int32_t run(const winograd_conv_frame* f, const ptlite::PostOps* post) {
  Problem q{};
  q.post = post;
  q.batch = f->batch;
  q.in_blocks = (f->in_channels + kBlock - 1) / kBlock;
  q.out_blocks = f->out_blocks;
  q.in_slices = f->in[0];
  q.slice_padding = f->padding[0];
  q.out_slices = f->out[0];
  q.taps = f->taps;
  for (int d = 0; d < 2; d++) {
    q.in[d] = f->in[d + 1];
    q.padding[d] = f->padding[d + 1];
    q.out[d] = f->out[d + 1];
    q.tiles[d] = (q.out[d] + kTile - 1) / kTile;
  }
  q.lo = f->clamped != 0 ? float(f->lo) : -kInfinity;
  q.hi = f->clamped != 0 ? float(f->hi) : kInfinity;
  q.slices = std::min<int64_t>(f->slices, q.out_slices);
  const int64_t parts = (q.out_slices + q.slices - 1) / q.slices;
  // each thread has a strip at least: a tile has the same bits in any of them
  const int64_t wanted = (ptlite::thread_limit() + q.batch * parts - 1) / (q.batch * parts);
  q.strip = std::min<int64_t>(f->strip, (q.tiles[0] + wanted - 1) / wanted);
  const int64_t strips = (q.tiles[0] + q.strip - 1) / q.strip, tiles = q.strip * q.tiles[1];
  const int64_t read = std::min(q.in_slices, q.slices + q.taps - 1);
  const Spread most_in{q.in_blocks, read, tiles}, most_out{q.out_blocks, q.slices, tiles};
  const size_t bytes = size_t(most_in.floats() + most_out.floats()) * sizeof(float) + size_t(q.taps) * sizeof(int64_t);
  std::atomic<bool> fine{true};
  const int64_t work = tiles * q.slices * kPositions * q.taps * q.in_blocks * q.out_blocks * kBlock * kBlock;
  ptlite::parallel_for(q.batch * parts * strips, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    float* memory = static_cast<float*>(ptlite::range_scratch(bytes));
    if (memory == nullptr) {
      fine = false;
      return;
    }
    for (int64_t u = begin; u < end; u++) {
      const int64_t row = u % strips * q.strip, slice = u / strips % parts * q.slices;
      const Strip s{u / strips / parts, row, std::min(q.strip, q.tiles[0] - row), slice, std::min(q.slices, q.out_slices - slice)};
      const Problem::Range slices = q.slices_of(s.slice, s.slices);
      const Spread in{q.in_blocks, slices.count, s.rows * q.tiles[1]}, out{q.out_blocks, s.slices, in.tiles};
      float* products = memory + most_in.floats();
      read_strip(q, s, slices, in, reinterpret_cast<const float*>(f->input), memory);
      multiply(q, *f, s, slices, in, memory, out, reinterpret_cast<int64_t*>(products + most_out.floats()), products);
      write_strip(q, *f, s, out, products);
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t convolve(winograd_conv_frame* f) { return run(f, nullptr); }

int32_t convolve_post(winograd_conv_post_frame* f) {
  const ptlite::PostOps post(*f);
  // a frame of winograd_conv_post starts as one of winograd_conv
  return post.valid() ? run(reinterpret_cast<const winograd_conv_frame*>(f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(winograd_conv, convolve)
PTLITE_KERNEL(winograd_conv_post, convolve_post)
