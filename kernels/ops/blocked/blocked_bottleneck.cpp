// A depthwise convolution between pointwise ones (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks") over channels in
// blocks of 16, some rows of the output at a time: what the layers hand to one another stays in the second-level cache. Rows of the
// expanded input that the next rows of the output read as well are kept. Sums are those of the single layers, in their order.
#include "frames/blocked.h"
#include "dispatch/kernel.h"
#include "ops/elementwise/gate.h"
#include "pool/pool.h"

#include <algorithm>
#include <atomic>

#include "blocked_depthwise_tile.h"

namespace {

using namespace ptlite::blocked;
using ptlite::Vec;

/// A layer's weights, and what becomes of its sums.
struct Layer {
  const float *filter, *bias;
  float lo, hi;
  int32_t gate;
};

/// Memory for `count` rows of each plane, `plane` floats apart: row y takes the place of row y - count.
struct Rows {
  float* at;
  int64_t plane, count;
};

struct Problem {
  int64_t batch, in_channels, channels, out_blocks, rows, kernel, stride, padding;
  int64_t in[2], out[2];
  const float *input, *residual;
  float* output;
  Layer expand, depthwise, project;

  bool expands() const { return in_channels > 0; }
  bool projects() const { return out_blocks > 0; }
  int64_t blocks() const { return (channels + kBlock - 1) / kBlock; }
  int64_t in_blocks() const { return expands() ? (in_channels + kBlock - 1) / kBlock : blocks(); }
  /// Floats of a row.
  int64_t in_row() const { return in[1] * kBlock; }
  int64_t out_row() const { return out[1] * kBlock; }
  /// Rows of the input that output rows [first, end) read.
  int64_t first_read(int64_t first) const { return std::min(in[0], std::max<int64_t>(0, first * stride - padding)); }
  int64_t end_read(int64_t end) const { return std::max<int64_t>(0, std::min(in[0], (end - 1) * stride - padding + kernel)); }
  /// Rows that the expanded input of a band has at most.
  int64_t band_rows() const { return std::min(in[0], (rows - 1) * stride + kernel); }
  int64_t expanded_floats() const { return expands() ? blocks() * band_rows() * in_row() : 0; }
  int64_t scratch_floats() const { return expanded_floats() + (projects() ? blocks() * rows * out_row() : 0); }
};

void apply_gate(int32_t gate, int64_t floats, float* out) {
  if (gate == Gate_none) return;
  ptlite::with_gate(gate, [&](const auto& f) {
    for (int64_t i = 0; i < floats; i += kLanes) f(Vec<float>::load(out + i)).store(out + i);
  });
}

/// `filters` output blocks of a pointwise layer for `pixels` pixels; gates see pieces that are in the first-level cache.
void run_pixels(const TileArgs& a, const Layer& layer, int64_t block, int filters, int64_t pixels, const float* x, const float* residual, float* out) {
  constexpr int64_t kTiles = 4;
  const float* filter = layer.filter + block * a.filter_block;
  const float* bias = layer.bias == nullptr ? nullptr : layer.bias + block * kBlock;
  const int64_t piece = layer.gate == Gate_none ? pixels : kTiles * row_tile(pixels);
  for (int64_t p = 0; p < pixels; p += piece) {
    const int64_t at = p * kBlock, some = std::min(piece, pixels - p);
    run_row(a, false, filters, some, x + at, filter, bias, residual == nullptr ? nullptr : residual + at, out + at);
    for (int i = 0; i < filters; i++) apply_gate(layer.gate, some * kBlock, out + at + i * a.out_block);
  }
}

TileArgs pointwise(const Layer& layer, int64_t channels, int64_t in_plane, int64_t out_plane) {
  static constexpr int64_t kTap = 0;
  TileArgs a{};
  a.taps = &kTap;
  a.tap_count = 1;
  a.blocks = (channels + kBlock - 1) / kBlock;
  a.block_step = in_plane;
  a.channels = a.depth = channels;
  a.filter_block = channels * kBlock;
  a.out_block = out_plane;
  a.lo = layer.lo;
  a.hi = layer.hi;
  return a;
}

/// Rows [first, end) of the expanded input of one image, blocks [block, block + filters).
void expand_rows(const Problem& q, int64_t image, int64_t block, int filters, int64_t first, int64_t end, const Rows& to) {
  const int64_t in_plane = q.in[0] * q.in_row();
  const TileArgs a = pointwise(q.expand, q.in_channels, in_plane, to.plane);
  const float* x = q.input + image * q.in_blocks() * in_plane;
  for (int64_t y = first, some = 0; y < end; y += some) {
    const int64_t place = y % to.count;
    some = std::min(end - y, to.count - place);
    run_pixels(a, q.expand, block, filters, some * q.in[1], x + y * q.in_row(), nullptr, to.at + block * to.plane + place * q.in_row());
  }
}

/// Output rows [first, end) of one block of the depthwise convolution.
void depthwise_rows(const Problem& q, const DepthwiseRow& tiles, int64_t block, const Rows& from, int64_t first, int64_t end, float* out) {
  constexpr int64_t kTallest = 16;
  const float* rows[kTallest];
  const float* filter = q.depthwise.filter + block * q.kernel * q.kernel * kBlock;
  const float* bias = q.depthwise.bias == nullptr ? nullptr : q.depthwise.bias + block * kBlock;
  for (int64_t r = first; r < end; r++, out += q.out_row()) {
    // rows in the padding are left out
    const int64_t top = r * q.stride - q.padding;
    const int64_t low = std::max<int64_t>(0, -top), high = std::max(low, std::min(q.kernel, q.in[0] - top));
    for (int64_t h = low; h < high; h++) rows[h - low] = from.at + block * from.plane + (top + h) % from.count * q.in_row();
    tiles.run(rows, high - low, filter + low * q.kernel * kBlock, bias, q.depthwise.lo, q.depthwise.hi, out);
    apply_gate(q.depthwise.gate, q.out_row(), out);
  }
}

/// Output rows [first, end) of one image from what the depthwise convolution has made of them.
void project_rows(const Problem& q, int64_t image, const float* from, int64_t from_plane, int64_t first, int64_t end) {
  const int64_t plane = q.out[0] * q.out_row();
  const TileArgs a = pointwise(q.project, q.channels, from_plane, plane);
  for (int64_t b = 0; b < q.out_blocks; b += kFilters) {
    const int filters = int(std::min<int64_t>(kFilters, q.out_blocks - b));
    const int64_t at = (image * q.out_blocks + b) * plane + first * q.out_row();
    run_pixels(a, q.project, b, filters, (end - first) * q.out[1], from, q.residual == nullptr ? nullptr : q.residual + at, q.output + at);
  }
}

/// Output rows [first, last) of one image, band by band.
void run_bands(const Problem& q, const DepthwiseRow& tiles, int64_t image, int64_t first, int64_t last, float* scratch) {
  const int64_t blocks = q.blocks(), in_plane = q.in[0] * q.in_row(), out_plane = q.out[0] * q.out_row();
  // without a layer in front, all rows are there
  const Rows rows = q.expands() ? Rows{scratch, q.band_rows() * q.in_row(), q.band_rows()}
                                : Rows{const_cast<float*>(q.input) + image * blocks * in_plane, in_plane, q.in[0]};
  int64_t expanded = q.first_read(first);  // rows before it have been
  for (int64_t r = first; r < last; r += q.rows) {
    const int64_t end = std::min(last, r + q.rows), needed = q.end_read(end);
    float* spread = q.projects() ? scratch + q.expanded_floats() : q.output + image * blocks * out_plane + r * q.out_row();
    const int64_t spread_plane = q.projects() ? (end - r) * q.out_row() : out_plane;
    for (int64_t b = 0; b < blocks; b += kFilters) {
      const int filters = int(std::min<int64_t>(kFilters, blocks - b));
      if (q.expands()) expand_rows(q, image, b, filters, expanded, needed, rows);
      for (int64_t i = b; i < b + filters; i++) depthwise_rows(q, tiles, i, rows, r, end, spread + i * spread_plane);
    }
    expanded = std::max(expanded, needed);
    if (q.projects()) project_rows(q, image, spread, spread_plane, r, end);
  }
}

/// Output rows of all images, shared out among threads: each takes one range at most, as its first rows need some of its neighbour's.
int32_t run_rows(const Problem& q, const DepthwiseRow& tiles) {
  const int64_t rows = q.batch * q.out[0], threads = ptlite::thread_limit();
  const size_t bytes = size_t(q.scratch_floats()) * sizeof(float);
  std::atomic<bool> fine{true};
  const int64_t work = q.out_row() * (q.kernel * q.kernel + q.out_blocks * kBlock) * q.blocks();
  ptlite::parallel_for(rows, std::max((rows + threads - 1) / threads, ptlite::grain_for(work)), [&](int64_t begin, int64_t end) {
    float* scratch = bytes == 0 ? nullptr : static_cast<float*>(ptlite::range_scratch(bytes));
    if (bytes > 0 && scratch == nullptr) {
      fine = false;
      return;
    }
    for (int64_t u = begin; u < end;) {
      const int64_t image = u / q.out[0], first = u % q.out[0], last = std::min(q.out[0], first + end - u);
      run_bands(q, tiles, image, first, last, scratch);
      u += last - first;
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

/// The same where threads are so many that they would expand too many rows twice: all rows are expanded first.
int32_t run_layers(const Problem& q, const DepthwiseRow& tiles) {
  const int64_t blocks = q.blocks(), plane = q.in[0] * q.in_row(), rows = q.batch * q.in[0];
  float* all = static_cast<float*>(ptlite_scratch(size_t(q.batch * blocks * plane) * sizeof(float)));
  if (all == nullptr) return PTLITE_NO_MEMORY;
  const int64_t work = q.in_row() * q.in_channels * blocks;
  ptlite::parallel_for(rows, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end;) {
      const int64_t image = u / q.in[0], first = u % q.in[0], some = std::min({q.band_rows(), q.in[0] - first, end - u});
      const Rows to{all + image * blocks * plane, plane, q.in[0]};
      for (int64_t b = 0; b < blocks; b += kFilters) {
        expand_rows(q, image, b, int(std::min<int64_t>(kFilters, blocks - b)), first, first + some, to);
      }
      u += some;
    }
  });
  Problem rest = q;
  rest.input = all;
  rest.in_channels = 0;
  return run_rows(rest, tiles);
}

int32_t bottleneck(blocked_bottleneck_frame* f) {
  const auto at = [](uint64_t address) { return reinterpret_cast<const float*>(address); };
  const auto layer = [&](int i, uint64_t filter, uint64_t bias, int32_t gate) {
    return Layer{at(filter), at(bias), float(f->lo[i]), float(f->hi[i]), gate};
  };
  Problem q{};
  q.batch = f->batch;
  q.in_channels = f->in_channels;
  q.channels = f->channels;
  q.out_blocks = f->out_blocks;
  q.kernel = f->kernel;
  q.stride = f->stride;
  q.padding = f->padding;
  for (int d = 0; d < 2; d++) {
    q.in[d] = f->in[d];
    q.out[d] = f->out[d];
  }
  q.rows = std::min<int64_t>(f->rows, q.out[0]);
  q.input = at(f->input);
  q.residual = at(f->residual);
  q.output = reinterpret_cast<float*>(f->output);
  q.expand = layer(0, f->expand, f->expand_bias, f->expand_gate);
  q.depthwise = layer(1, f->depthwise, f->depthwise_bias, f->depthwise_gate);
  q.project = layer(2, f->project, f->project_bias, f->project_gate);
  const DepthwiseRow tiles(q.kernel, q.stride, q.padding, q.in[1], q.out[1]);
  if (!tiles.known()) return PTLITE_NO_KERNEL;
  // rows that neighbouring ranges expand twice, as a part of all
  constexpr int64_t kMostTwice = 8;
  const int64_t twice = std::max<int64_t>(0, q.kernel - q.stride) * (ptlite::thread_limit() - 1);
  return q.expands() && twice * kMostTwice > q.batch * q.in[0] ? run_layers(q, tiles) : run_rows(q, tiles);
}

}  // namespace

PTLITE_KERNEL(blocked_bottleneck, bottleneck)
