// Depthwise convolution over channels in blocks of 16: a vector of channels at a time, some pixels of a row in registers.
#include "frames/blocked.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "blocked_depthwise_tile.h"

namespace {

using namespace ptlite::blocked;
using ptlite::Vec;

/// Outputs of a row that are computed together by filters of other than the usual sizes, or in short rows.
constexpr int kPixels = 4;
/// Input pixels of a row of a tile at most; a wider kernel is computed pixel by pixel.
constexpr int64_t kWidest = 48;

struct Problem {
  int64_t in[2], kernel[2], stride[2], padding[2], dilation[2], out[2];
  float lo, hi;
};

/// kPixels outputs of a row for one vector of channels. rows[h]: what row h of the filter reads for the first output.
void tile(const Problem& q, const float* const* rows, const float* filter, Vec<float> bias, float* out) {
  Vec<float> acc[kPixels];
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; i++) acc[i] = bias;
#pragma GCC unroll 1
  for (int64_t h = 0; h < q.kernel[0]; h++) {
    const float* row = rows[h];
#pragma GCC unroll 1
    for (int64_t w = 0; w < q.kernel[1]; w++) {
      const Vec<float> f = Vec<float>::load(filter + (h * q.kernel[1] + w) * kBlock);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; i++) acc[i] += f * Vec<float>::load(row + (i * q.stride[1] + w * q.dilation[1]) * kBlock);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; i++) limit(acc[i], q.lo, q.hi).store(out + i * kBlock);
}

constexpr int64_t kTallest = 16;
/// Never written to; not constant, so that it takes no room in the file.
alignas(64) float kZeros[kWidest * kBlock];

/// What the rows of the filter read for outputs [c, c + pixels) of row `r`. Where the tile touches the padding they are copied.
void find_rows(const Problem& q, const float* plane, int64_t r, int64_t c, int64_t pixels, float* copies, const float** rows) {
  const int64_t left = c * q.stride[1] - q.padding[1];
  const int64_t width = (pixels - 1) * q.stride[1] + (q.kernel[1] - 1) * q.dilation[1] + 1;
  const bool inside = left >= 0 && left + width <= q.in[1];
  const int64_t head = std::min(width, std::max<int64_t>(0, -left)), tail = std::max(head, std::min(width, q.in[1] - left));
  for (int64_t h = 0; h < q.kernel[0]; h++) {
    const int64_t y = r * q.stride[0] - q.padding[0] + h * q.dilation[0];
    if (y < 0 || y >= q.in[0]) {
      rows[h] = kZeros;
      continue;
    }
    const float* row = plane + (y * q.in[1] + left) * kBlock;
    if (!inside) {
      float* copy = copies + h * kWidest * kBlock;
      memset(copy, 0, size_t(head * kBlock) * sizeof(float));
      memcpy(copy + head * kBlock, row + head * kBlock, size_t((tail - head) * kBlock) * sizeof(float));
      memset(copy + tail * kBlock, 0, size_t((width - tail) * kBlock) * sizeof(float));
      row = copy;
    }
    rows[h] = row;
  }
}

/// A row of outputs in tiles; the last one begins earlier where it would not be full.
void tiles_of(const Problem& q, const float* plane, int64_t r, const float* filter, const float* bias, float* out) {
  alignas(64) float copies[kTallest * kWidest * kBlock];
  const float* rows[kTallest];
  for (int64_t c = 0; c < q.out[1]; c += kPixels) {
    const int64_t at = std::min(c, q.out[1] - kPixels);
    find_rows(q, plane, r, at, kPixels, copies, rows);
#pragma GCC unroll 1
    for (int v = 0; v < kParts; v++) {
      const Vec<float> start = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + v * kLanes);
      tile(q, rows, filter + v * kLanes, start, out + at * kBlock + v * kLanes);
      for (int64_t h = 0; h < q.kernel[0]; h++) rows[h] += kLanes;
    }
  }
}

/// A pixel at a time, taps in the padding left out: for filters of any size.
void row_of_any(const Problem& q, const float* plane, int64_t r, const float* filter, const float* bias, float* out) {
  for (int64_t c = 0; c < q.out[1]; c++) {
    for (int v = 0; v < kParts; v++) {
      Vec<float> acc = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + v * kLanes);
      for (int64_t h = 0; h < q.kernel[0]; h++) {
        const int64_t y = r * q.stride[0] - q.padding[0] + h * q.dilation[0];
        if (y < 0 || y >= q.in[0]) continue;
        for (int64_t w = 0; w < q.kernel[1]; w++) {
          const int64_t x = c * q.stride[1] - q.padding[1] + w * q.dilation[1];
          if (x < 0 || x >= q.in[1]) continue;
          add_product(acc, Vec<float>::load(filter + (h * q.kernel[1] + w) * kBlock + v * kLanes),
                      Vec<float>::load(plane + (y * q.in[1] + x) * kBlock + v * kLanes));
        }
      }
      limit(acc, q.lo, q.hi).store(out + c * kBlock + v * kLanes);
    }
  }
}

using Row = void (*)(const Problem&, const float*, int64_t, const float*, const float*, float*);

Row row_for(const Problem& q) {
  const int64_t width = (kPixels - 1) * q.stride[1] + (q.kernel[1] - 1) * q.dilation[1] + 1;
  return q.out[1] >= kPixels && width <= kWidest && q.kernel[0] <= kTallest ? &tiles_of : &row_of_any;
}

/// A row of outputs by tiles for filters of a usual size, whose rows in the padding are left out.
void row_of_usual(const Problem& q, const DepthwiseRow& tiles, const float* plane, int64_t r, const float* filter, const float* bias,
                  float* out) {
  const float* rows[kTallest];
  const int64_t top = r * q.stride[0] - q.padding[0];
  const int64_t first = std::max<int64_t>(0, -top), end = std::max(first, std::min(q.kernel[0], q.in[0] - top));
  for (int64_t h = first; h < end; h++) rows[h - first] = plane + (top + h) * q.in[1] * kBlock;
  tiles.run(rows, end - first, filter + first * q.kernel[1] * kBlock, bias, q.lo, q.hi, out);
}

/// A padded copy of a plane in place of the plane: where rows are short, most tiles would touch the padding.
struct Padded {
  Problem problem;
  int64_t floats;

  explicit Padded(const Problem& q) : problem(q) {
    for (int d = 0; d < 2; d++) {
      problem.in[d] = (q.out[d] - 1) * q.stride[d] + (q.kernel[d] - 1) * q.dilation[d] + 1;
      problem.padding[d] = 0;
    }
    floats = problem.in[0] * problem.in[1] * kBlock;
  }

  void copy(const Problem& q, const float* plane, float* to) const {
    const int64_t height = problem.in[0], width = problem.in[1];
    const int64_t some = std::max<int64_t>(0, std::min(q.in[1], width - q.padding[1]));
    const int64_t behind = std::max<int64_t>(0, width - q.padding[1] - some);
    for (int64_t y = 0; y < height; y++, to += width * kBlock) {
      const int64_t from = y - q.padding[0];
      if (from < 0 || from >= q.in[0] || some == 0) {
        memset(to, 0, size_t(width * kBlock) * sizeof(float));
        continue;
      }
      memset(to, 0, size_t(q.padding[1] * kBlock) * sizeof(float));
      memcpy(to + q.padding[1] * kBlock, plane + from * q.in[1] * kBlock, size_t(some * kBlock) * sizeof(float));
      memset(to + (q.padding[1] + some) * kBlock, 0, size_t(behind * kBlock) * sizeof(float));
    }
  }
};

/// Rows up to this length are computed from padded copies of planes.
constexpr int64_t kShortRow = 28;

int32_t run(const blocked_depthwise_frame* f, const ptlite::PostOps* post) {
  Problem q{};
  for (int d = 0; d < 2; d++) {
    q.in[d] = f->in[d];
    q.kernel[d] = f->kernel[d];
    q.stride[d] = f->stride[d];
    q.padding[d] = f->padding[d];
    q.dilation[d] = f->dilation[d];
    q.out[d] = f->out[d];
  }
  q.lo = f->clamped != 0 ? float(f->lo) : -std::numeric_limits<float>::infinity();
  q.hi = f->clamped != 0 ? float(f->hi) : std::numeric_limits<float>::infinity();
  const float* input = reinterpret_cast<const float*>(f->input);
  const float* filter = reinterpret_cast<const float*>(f->filter);
  const float* bias = reinterpret_cast<const float*>(f->bias);
  float* output = reinterpret_cast<float*>(f->output);
  const int64_t taps = q.kernel[0] * q.kernel[1], blocks = f->blocks;
  const int64_t in_plane = q.in[0] * q.in[1] * kBlock, planes = f->batch * blocks, work = q.out[1] * kBlock * taps;
  // rows [first, last) of a plane, each by compute(row, filter, bias, out), and the steps on some of them while they are in the first cache
  const int64_t together = std::max<int64_t>(1, ptlite::PostOps::kTile / kBlock / q.out[1]);
  const auto rows_of = [&](int64_t index, int64_t first, int64_t last, const auto& compute) {
    const float* w = filter + index % blocks * taps * kBlock;
    const float* b = bias == nullptr ? nullptr : bias + index % blocks * kBlock;
    float* out = output + (index * q.out[0] + first) * q.out[1] * kBlock;
    for (int64_t r = first; r < last;) {
      const int64_t end = std::min(last, r + together), pixels = (end - r) * q.out[1];
      for (int64_t i = r; i < end; i++) compute(i, w, b, out + (i - r) * q.out[1] * kBlock);
      RowSteps{post, index, r * q.out[1]}.apply(1, 0, 0, pixels, out);
      out += pixels * kBlock;
      r = end;
    }
  };
  const auto all_rows = [&](const auto& compute) {
    ptlite::parallel_for(planes * q.out[0], ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end;) {
        const int64_t index = u / q.out[0], first = u % q.out[0], last = std::min(q.out[0], first + end - u);
        const float* plane = input + index * in_plane;
        rows_of(index, first, last, [&](int64_t r, const float* w, const float* b, float* out) { compute(plane, r, w, b, out); });
        u += last - first;
      }
    });
    return PTLITE_OK;
  };
  const bool square = q.kernel[0] == q.kernel[1] && q.stride[0] == q.stride[1] && q.dilation[0] == 1 && q.dilation[1] == 1;
  if (square) {
    const DepthwiseRow tiles(q.kernel[1], q.stride[1], q.padding[1], q.in[1], q.out[1]);
    if (tiles.known()) {
      return all_rows([&](const float* plane, int64_t r, const float* w, const float* b, float* out) {
        row_of_usual(q, tiles, plane, r, w, b, out);
      });
    }
  }
  const Row row = row_for(q);
  const Padded padded(q);
  const bool copied = q.out[1] <= kShortRow && (padded.problem.in[0] > q.in[0] || padded.problem.in[1] > q.in[1] || q.padding[0] + q.padding[1] > 0);
  if (!copied) {
    return all_rows([&](const float* plane, int64_t r, const float* w, const float* b, float* out) { row(q, plane, r, w, b, out); });
  }
  std::atomic<bool> fine{true};
  ptlite::parallel_for(planes, ptlite::grain_for(work * q.out[0]), [&](int64_t begin, int64_t end) {
    float* copy = static_cast<float*>(ptlite::range_scratch(size_t(padded.floats) * sizeof(float)));
    if (copy == nullptr) {
      fine = false;
      return;
    }
    for (int64_t i = begin; i < end; i++) {
      padded.copy(q, input + i * in_plane, copy);
      rows_of(i, 0, q.out[0],
              [&](int64_t r, const float* w, const float* b, float* out) { row(padded.problem, copy, r, w, b, out); });
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t depthwise(blocked_depthwise_frame* f) { return run(f, nullptr); }

int32_t depthwise_post(blocked_depthwise_post_frame* f) {
  const ptlite::PostOps post(*f);
  // a frame of blocked_depthwise_post starts as one of blocked_depthwise
  return post.valid() ? run(reinterpret_cast<const blocked_depthwise_frame*>(f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(blocked_depthwise, depthwise)
PTLITE_KERNEL(blocked_depthwise_post, depthwise_post)
