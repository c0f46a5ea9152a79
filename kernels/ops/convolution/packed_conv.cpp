// Convolutions with packed weights: products of the weight with rows that are the windows of pixels, of some outputs at a time. Integers are multiplied by
// pixels that were made bytes once, whose blocks windows copy; other numbers by floats, as packed_linear does where there are many rows. Products have
// outputs as their rows: they become planes while they are in the caches.
#include <string.h>

#include <algorithm>
#include <atomic>

#include "frames/packed_weight.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "ops/convolution/window_pixels.h"
#include "ops/fused/post_ops.h"
#include "ops/gemm/gemm_core.h"
#include "ops/gemm/packed_columns.h"
#include "ops/gemm/packed_product.h"
#include "pool/pool.h"
#include "vec/half.h"
#include "vec/transpose.h"

namespace {

using namespace ptlite;
using namespace ptlite::packed;
using F = Vec<float>;
using Frame = packed_conv_frame;

constexpr int kSide = F::size;
// Panels whose products become planes at a time.
constexpr int64_t kPair = 2;
// Most outputs that are rows at a time, and about how many bytes these may have.
constexpr int64_t kMostRows = 480;
constexpr int64_t kRowsBytes = 512 << 10;
// Outputs for each thread from which on threads share outputs rather than channels.
constexpr int64_t kRowsOfThread = 48;
// Pixels that become rows at a time.
constexpr int64_t kPixels = 48;
// Of a block of integers: int16 at most, a scale and two sums.
constexpr int64_t kBlockBytes = kBlock * 2 + 12;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// out[c][r] = in[r][c]
void transpose(int64_t rows, int64_t columns, const float* in, int64_t in_row, float* out, int64_t out_row) {
  for (int64_t c = 0; c < columns; c += kSide) {
    const int64_t width = std::min<int64_t>(kSide, columns - c);
    for (int64_t r = 0; r < rows; r += kSide) {
      const int64_t height = std::min<int64_t>(kSide, rows - r);
      F square[kSide];
      for (int64_t i = 0; i < kSide; i++) square[i] = i < height ? F::load(in + (r + i) * in_row + c, width) : F::zero();
      transpose_square<float>(square);
      for (int64_t i = 0; i < width; i++) square[i].store(out + (c + i) * out_row + r, height);
    }
  }
}

struct Problem {
  const Frame& f;
  const PostOps* post;
  WindowPixels windows{f};
  int64_t taps = windows.kernel[0] * windows.kernel[1] * windows.kernel[2];
  int64_t in_pixels = windows.in[0] * windows.in[1] * windows.in[2];
  int64_t pixels = windows.out[0] * windows.out[1] * windows.out[2];
  int64_t channels = f.in_channels;
  // Channels of a tap, and where each output reads the pixel in its place, so that planes are rows.
  int64_t width = taps == 1 ? channels : round_up(channels, kBlock);
  bool pointwise = taps == 1 && in_pixels == pixels && !any(windows.padding, 0) && !any(windows.stride, 1);
  // The product of one image.
  packed_linear_frame rows = rows_of();
  PackedWeight weight{rows, f.weight};

  packed_linear_frame rows_of() const {
    packed_linear_frame r = {};
    r.format = f.format;
    r.m = static_cast<int32_t>(pixels);
    r.n = f.out_channels;
    r.k = static_cast<int32_t>(taps * width);
    r.group = f.group;
    r.scale = ScaleFormat_bfloat16;
    r.zero = ZeroPoints_none;
    r.bytes = f.bytes != 0 ? RowBytes_blocks : RowBytes_none;
    r.clamped = f.clamped;
    r.weight = f.weight;
    r.bias = f.bias;
    r.lo = f.lo;
    r.hi = f.hi;
    return r;
  }

 private:
  static bool any(const int64_t (&list)[3], int64_t but) { return list[0] != but || list[1] != but || list[2] != but; }
};

// Some outputs of an image, the memory for the rows that they are, and for their sums, [count][out channels].
struct Outputs {
  int64_t first, count;
  uint8_t* memory;
  float* sums;
  uint8_t* scratch;  // of a product of panels; null where range_scratch has it
};

// Rows of bytes.
class ByByte {
 public:
  // Rows that are a whole number of tiles at each level.
  static constexpr int64_t kUnit = 12;

  explicit ByByte(const Problem& q) : q_(q), one_(q.rows), pixels_{nullptr, q.in_pixels, &q.windows} {
    one_.m = 1;
    one_.k = static_cast<int32_t>(q.channels);
  }

  int64_t row_bytes() const { return q_.weight.blocks() * kBlockBytes; }
  int64_t memory_of(int64_t count) const { return (count + kMostTileRows) * row_bytes() + 64; }
  int64_t scratch() const { return q_.weight.blocks() * kPanelScratch; }
  int64_t image_bytes() const { return q_.pointwise ? 0 : q_.in_pixels * (q_.width / kBlock + 1) * kBlockBytes + 64; }
  int64_t lines() const { return 0; }

  // Pixels [begin, end) of an image, as bytes.
  bool prepare(const float* image, uint8_t* memory, int64_t begin, int64_t end) const { return round(image, one_, memory, q_.in_pixels, 0, begin, end); }
  void use(uint8_t* memory) { pixels_.memory = memory; }

  // Rows [begin, end) of some outputs.
  bool fill(const float* image, const Outputs& o, int64_t begin, int64_t end, float*) const {
    if (q_.pointwise) return round(image, q_.rows, o.memory, o.count, o.first, begin, end);
    const RowsTask task{&q_.rows, o.memory, o.first, o.count, begin, end, RowsStep::kGather, &pixels_};
    return packed_bytes(&task);
  }

  bool multiply(const Outputs& o, int64_t begin, int64_t end) const {
    packed_linear_frame f = q_.rows;
    f.out = reinterpret_cast<uint64_t>(o.sums);
    const RowsTask task{&f, o.memory, 0, o.count, begin, end, RowsStep::kMultiply, nullptr, 0, o.scratch};
    return packed_bytes(&task);
  }

 private:
  // Rows [begin, end) of `m`, which are pixels from `first` on.
  bool round(const float* image, const packed_linear_frame& frame, uint8_t* memory, int64_t m, int64_t first, int64_t begin, int64_t end) const {
    packed_linear_frame f = frame;
    f.x = reinterpret_cast<uint64_t>(image);
    const RowsTask task{&f, memory, first, m, begin, end, RowsStep::kRoundPlanes, nullptr, q_.in_pixels};
    return packed_bytes(&task);
  }

  const Problem& q_;
  packed_linear_frame one_;
  RoundedPixels pixels_;
};

// Rows of floats, packed as rows of products of floats are.
class ByFloat {
 public:
  static constexpr int64_t kUnit = gemm::kRows;

  explicit ByFloat(const Problem& q) : q_(q), columns_(q.weight) {}

  int64_t row_bytes() const { return q_.rows.k * 4; }
  int64_t memory_of(int64_t count) const { return round_up(count, kUnit) * row_bytes() + 64; }
  int64_t scratch() const { return 0; }
  int64_t image_bytes() const { return q_.pointwise ? 0 : q_.in_pixels * q_.width * 4; }
  int64_t lines() const { return q_.pointwise ? 0 : kUnit * row_bytes(); }

  // Pixels [begin, end) of an image, as rows of channels.
  bool prepare(const float* image, uint8_t* memory, int64_t begin, int64_t end) const {
    const int64_t width = q_.width;
    float* to = reinterpret_cast<float*>(memory) + begin * width;
    transpose(q_.channels, end - begin, image + begin, q_.in_pixels, to, width);
    for (int64_t r = 0; r < end - begin; r++) {
      for (int64_t c = q_.channels; c < width; c++) to[r * width + c] = 0;
    }
    return true;
  }
  void use(uint8_t* memory) { image_ = reinterpret_cast<const float*>(memory); }

  // Rows [begin, end) of some outputs, from the first one of a strip on.
  bool fill(const float* image, const Outputs& o, int64_t begin, int64_t end, float* line) const {
    const int64_t k = q_.rows.k;
    float* to = reinterpret_cast<float*>(o.memory);
    if (q_.pointwise) {
      gemm::pack_a<float>(end - begin, k, image + o.first + begin, 1, q_.in_pixels, to + begin * k);
    } else {
      for (int64_t r = begin; r < end; r += kUnit) {
        const int64_t some = std::min(kUnit, end - r);
        for (int64_t i = 0; i < some; i++) {
          float* row = line + i * k;
          q_.windows.visit(o.first + r + i, [&](int64_t tap, int64_t pixel) {
            if (pixel < 0) memset(row + tap * q_.width, 0, static_cast<size_t>(q_.width) * 4);
            else memcpy(row + tap * q_.width, image_ + pixel * q_.width, static_cast<size_t>(q_.width) * 4);
          });
        }
        gemm::pack_a<float>(some, k, line, k, 1, to + r * k);
      }
    }
    // bfloat16
    if (q_.f.bytes != 0) {
      for (int64_t i = begin * k; i < round_up(end, kUnit) * k; i += F::size) {
        bfloat16 rounded[F::size];
        store_float(rounded, F::load(to + i, round_up(end, kUnit) * k - i));
        load_float(rounded).store(to + i, round_up(end, kUnit) * k - i);
      }
    }
    return true;
  }

  bool multiply(const Outputs& o, int64_t begin, int64_t end) const {
    alignas(64) float values[Columns::kFloats];
    gemm::Epilogue<float> e;
    e.source = reinterpret_cast<const float*>(q_.f.bias);
    e.source_col = 1;
    e.lo = static_cast<float>(q_.f.lo);
    e.hi = static_cast<float>(q_.f.hi);
    e.clamped = q_.f.clamped != 0;
    const int64_t k = q_.rows.k, n = q_.rows.n, last = std::min<int64_t>(n, end * kPanel);
    for (int64_t column = begin * kPanel; column < last; column += Columns::kTile) {
      poll();
      const int64_t width = std::min(Columns::kTile, last - column);
      for (int64_t from = 0; from < k; from += columns_.depth) {
        const int64_t depth = std::min(columns_.depth, k - from);
        columns_.unpack(column, width, from, depth, values);
        gemm::multiply_packed<float>(o.count, width, depth, reinterpret_cast<const float*>(o.memory) + from * kUnit, k, values, depth, 0, o.sums + column, n, e,
                                     from == 0, from + depth == k, 0, column);
      }
    }
    return true;
  }

 private:
  const Problem& q_;
  const Columns columns_;
  const float* image_ = nullptr;
};

template <class By>
class Convolution {
 public:
  explicit Convolution(const Problem& q) : q_(q), by_(q) {}

  bool run() {
    const int64_t panels = q_.weight.panels(), threads = thread_limit();
    const int64_t most = std::max(By::kUnit, std::min(kMostRows, kRowsBytes / std::max<int64_t>(1, by_.row_bytes())) / By::kUnit * By::kUnit);
    // equal parts
    const bool share_outputs = q_.pixels >= threads * kRowsOfThread || panels <= kPair;
    const int64_t shares = share_outputs ? threads * ((q_.pixels + most * threads - 1) / (most * threads)) : (q_.pixels + kMostRows - 1) / kMostRows;
    const int64_t height = round_up((q_.pixels + shares - 1) / shares, By::kUnit);
    const int64_t parts = (q_.pixels + height - 1) / height;
    const int64_t memory = round_up(by_.memory_of(height), 64), sums = round_up(height * q_.rows.n * 4, 64);
    const int64_t image_bytes = round_up(by_.image_bytes(), 64);
    auto* own = static_cast<uint8_t*>(ptlite_scratch(static_cast<size_t>(image_bytes + (share_outputs ? 0 : memory + sums) + 64)));
    if (own == nullptr) return false;
    by_.use(own);
    std::atomic<bool> done{true};
    for (int64_t i = 0; i < q_.f.batch; i++) {
      const float* image = reinterpret_cast<const float*>(q_.f.input) + i * q_.channels * q_.in_pixels;
      if (image_bytes > 0) {
        parallel_for(q_.in_pixels, round_up(grain_for(q_.channels * 4), kPixels), [&](int64_t begin, int64_t end) {
          if (!by_.prepare(image, own, begin, end)) done = false;
        });
      }
      if (share_outputs) {
        parallel_for(parts, grain_for(height * q_.rows.k * q_.rows.n / 4), [&](int64_t begin, int64_t end) {
          const int64_t lines = round_up(by_.lines(), 64);
          auto* at = static_cast<uint8_t*>(range_scratch(static_cast<size_t>(memory + sums + lines + by_.scratch() + 64)));
          if (at == nullptr) {
            done = false;
            return;
          }
          for (int64_t part = begin; part < end; part++) {
            const int64_t first = part * height;
            const Outputs o{first, std::min(height, q_.pixels - first), at, reinterpret_cast<float*>(at + memory), at + memory + sums + lines};
            if (!by_.fill(image, o, 0, o.count, reinterpret_cast<float*>(at + memory + sums)) || !panels_of(o, i, 0, panels)) done = false;
          }
        });
        continue;
      }
      for (int64_t first = 0; first < q_.pixels; first += height) {
        const Outputs o{first, std::min(height, q_.pixels - first), own + image_bytes, reinterpret_cast<float*>(own + image_bytes + memory), nullptr};
        parallel_for((o.count + By::kUnit - 1) / By::kUnit, grain_for(q_.rows.k * 2 * By::kUnit), [&](int64_t begin, int64_t end) {
          auto* line = static_cast<float*>(range_scratch(static_cast<size_t>(by_.lines() + 64)));
          if (line == nullptr || !by_.fill(image, o, begin * By::kUnit, std::min(o.count, end * By::kUnit), line)) done = false;
        });
        parallel_for((panels + kPair - 1) / kPair, grain_for(o.count * q_.rows.k * kPanel * kPair / 4), [&](int64_t begin, int64_t end) {
          if (!panels_of(o, i, begin * kPair, std::min(panels, end * kPair))) done = false;
        });
      }
    }
    return done;
  }

 private:
  // Panels [begin, end) of some outputs, as planes. What steps read is in the caches still.
  bool panels_of(const Outputs& o, int64_t batch, int64_t begin, int64_t end) const {
    const int64_t n = q_.rows.n, pixels = q_.pixels;
    float* output = reinterpret_cast<float*>(q_.f.output) + batch * n * pixels + o.first;
    for (int64_t p = begin; p < end; p += kPair) {
      if (!by_.multiply(o, p, std::min(end, p + kPair))) return false;
      const int64_t channel = p * kPanel, count = std::min<int64_t>(std::min(end, p + kPair) * kPanel, n) - channel;
      float* to = output + channel * pixels;
      transpose(o.count, count, o.sums + channel, n, to, pixels);
      if (q_.post != nullptr) q_.post->apply(count, o.count, to, pixels, batch, channel, o.first);
    }
    return true;
  }

  const Problem& q_;
  By by_;
};

int32_t convolve(const Frame& f, const PostOps* post) {
  const Problem q{f, post};
  if (f.batch == 0 || q.pixels == 0 || f.out_channels == 0) return PTLITE_OK;
  const bool bytes = f.bytes != 0 && !q.weight.floats();
  return (bytes ? Convolution<ByByte>(q).run() : Convolution<ByFloat>(q).run()) ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t packed_conv(packed_conv_frame* f) { return convolve(*f, nullptr); }

int32_t packed_conv_post(packed_conv_post_frame* f) {
  const PostOps post(*f);
  // a frame of packed_conv_post starts as one of packed_conv
  return post.valid() ? convolve(reinterpret_cast<const Frame&>(*f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(packed_conv, packed_conv)
PTLITE_KERNEL(packed_conv_post, packed_conv_post)
