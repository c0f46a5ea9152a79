// Register tiles of convolutions over channels in blocks of 16: some blocks of output channels by some pixels of a row. Each
// input element is broadcast against a vector of the filter, so that nothing is packed at run time and the results of a pixel
// are stored as they lie in registers. Include inside per-level translation units only.
#pragma once

#include <stdint.h>

#include "ops/fused/post_ops.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace blocked {

/// Channels of a block, at every level: 1, 2 or 4 vectors.
constexpr int kBlock = 16;
constexpr int kLanes = Vec<float>::size;
constexpr int kParts = kBlock / kLanes;

/// Output blocks of the largest tile.
#if PTLITE_VEC_BYTES >= 64
constexpr int kFilters = 2;
#else
constexpr int kFilters = 1;
#endif

/// Vectors of an output block that a tile has at a time: all of them, but on processors that say otherwise.
#if defined(PTLITE_TILE_PARTS)
constexpr int kTileParts = PTLITE_TILE_PARTS;
#else
constexpr int kTileParts = kFilters * kParts;
#endif

/// What the tiles of a convolution have in common. Distances are in floats.
struct TileArgs {
  const int64_t* taps;   ///< from a pixel's first element to what each tap reads; for plain input, each tap of each channel
  int64_t tap_count;
  int64_t blocks;        ///< of the input; 1 where the input is plain
  int64_t block_step;    ///< from one to the next
  int64_t channels;      ///< of the input that are read, from the first block on: 1 where it is plain
  int64_t lead;          ///< channels of the first block that are not read
  int64_t group;         ///< 4 or 8: an output lane reads so many channels around its own, in one block; else 0
  int64_t depth;         ///< channels that a tap of the filter has; 1 where the input is plain
  int64_t filter_block;  ///< between the filters of two output blocks
  int64_t out_block;     ///< between two output blocks
  float lo, hi;          ///< infinite where there is no limit
};

/// Filters that will be read soon: each step over a channel of a tap asks for a line of them. null: for those a few steps ahead.
struct Soon {
  const float* at = nullptr;
  int64_t step = 0;  ///< floats

  /// In each of `passes` passes over `depth` channels of taps, a part of what lies at `filter`, in the form of what is read now.
  static Soon part(const float* filter, int64_t depth, int64_t pass, int64_t passes) {
    const int64_t step = (kBlock + passes - 1) / passes;
    return pass * step < kBlock ? Soon{filter + pass * depth * step, step} : Soon{};
  }
};

/// Element-wise steps on what a row has become; their batches are planes of one block, their rows pixels, their columns lanes.
struct RowSteps {
  const PostOps* post;    ///< null: none
  int64_t plane, pixel;   ///< of the first output

  /// Steps on `pixels` outputs of `planes` planes, `plane_step` floats apart.
  void apply(int64_t planes, int64_t plane_step, int64_t first, int64_t pixels, float* out) const {
    if (post == nullptr) return;
    constexpr int64_t kPiece = PostOps::kTile / kBlock;
    for (int64_t b = 0; b < planes; b++, out += plane_step) {
      for (int64_t p = 0; p < pixels; p += kPiece) {
        const int64_t some = pixels - p < kPiece ? pixels - p : kPiece;
        post->apply(some, kBlock, out + p * kBlock, kBlock, plane + b, pixel + first + p, 0);
      }
    }
  }
};

/// The filters that come after those of a row, which is number `row` of `rows` with them.
struct Following {
  const float* filter = nullptr;
  int64_t row = 0, rows = 1;
};

/// `pixels` neighbouring outputs of a row for 1..kFilters output blocks. Neighbours lie a block apart in the input, or one
/// element where it is plain. `bias` and `residual`, which has the form of the output and may be the output, may be null.
void run_row(const TileArgs& a, bool plain, int filters, int64_t pixels, const float* x, const float* filter, const float* bias,
             const float* residual, float* out, const RowSteps& steps = {}, const Following& following = {});

/// Pixels of the tiles that a row of so many is cut into.
int64_t row_tile(int64_t pixels);

/// acc += a * b, by one instruction where the compiler has to be asked for it.
PTLITE_INLINE void add_product(Vec<float>& acc, Vec<float> a, Vec<float> b) { acc = fma(a, b, acc); }

/// A NaN in v survives, as in at::clamp.
PTLITE_INLINE Vec<float> limit(Vec<float> v, float lo, float hi) { return fast_min(Vec<float>(hi), fast_max(Vec<float>(lo), v)); }

}  // namespace blocked
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
