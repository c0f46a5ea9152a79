#include "blocked_tile.h"

#include <algorithm>

/// Where few registers are left, a channel at a time: the compiler would load for both first.
#if defined(PTLITE_TILE_PARTS)
#define PTLITE_UNROLL_CHANNELS _Pragma("GCC unroll 1")
#else
#define PTLITE_UNROLL_CHANNELS _Pragma("GCC unroll 2")
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace blocked {
namespace {

/// `skip`: pixels at the beginning that another tile has stored.
using Tile = void (*)(const TileArgs& a, int64_t skip, const float* x, const float* filter, const float* bias, const float* residual,
                      float* out, Soon soon);

struct Size {
  int pixels;
  Tile tiles[2][kFilters];  ///< [plain][filters - 1]
  Tile grouped[2];          ///< of 4 and of 8 channels
};

/// Adds the products of one channel to V vectors of each pixel of a tile.
template <int V, int P, int step>
PTLITE_INLINE void add_channel(const TileArgs& a, Vec<float> (&acc)[P][V], const float* x, const float* filter) {
  Vec<float> w[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) w[v] = Vec<float>::load(filter + v / kParts * a.filter_block + v % kParts * kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < P; i++) {
    const Vec<float> e(x[i * step]);
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) add_product(acc[i][v], e, w[v]);
  }
}

/// Adds the products of all taps and channels, a block of channels at a time, so that the pixels which the taps share stay in the
/// first-level cache. Each tap of a block asks for the pixels of the next one, at last for those of the next tile, and for filters: those that
/// come soon, else those kAhead taps further on: the loads of a tap all come at its beginning, and what they read is in the second-level
/// cache or behind it.
template <int F, int V, int P>
PTLITE_INLINE void add_blocks(const TileArgs& a, Vec<float> (&acc)[P][V], const float* x, const float* filter, Soon soon) {
  constexpr int64_t kAhead = 4;
  if (a.tap_count == 0) return;
  const int64_t tap_floats = a.depth * kBlock, block_floats = kBlock * kBlock;
  const int64_t taps_ahead = kAhead % a.tap_count, ahead = kAhead / a.tap_count * block_floats + taps_ahead * tap_floats;
  const int64_t step = soon.at == nullptr ? kBlock : soon.step;
  const float* tile = x;
#pragma GCC unroll 1
  for (int64_t b = 0; b < a.blocks; b++, x += a.block_step, filter += block_floats) {
    const int64_t lead = b == 0 ? a.lead : 0, depth = std::min<int64_t>(kBlock, a.channels - b * kBlock);
    const float* f = filter;
#pragma GCC unroll 1
    for (int64_t t = 0; t < a.tap_count; t++, f += tap_floats) {
      const float* next = t + 1 < a.tap_count ? x + a.taps[t + 1] : (b + 1 < a.blocks ? x + a.block_step : tile + P * kBlock) + a.taps[0];
      const float* later = soon.at;
      if (later == nullptr) later = f + lead * kBlock + ahead + (t + taps_ahead < a.tap_count ? 0 : block_floats - a.tap_count * tap_floats);
      else soon.at += (depth - lead) * step;
      const float* now = x + a.taps[t];
PTLITE_UNROLL_CHANNELS
      for (int64_t c = lead; c < depth; c++, later += step) {
        __builtin_prefetch(next + c * kBlock);
#pragma GCC unroll 2
        for (int i = 0; i < F; i++) __builtin_prefetch(later + i * a.filter_block);
        add_channel<V, P, kBlock>(a, acc, now + c, f + c * kBlock);
      }
    }
  }
}

/// Channel c of the group of G channels that each lane of part v of a block belongs to.
template <int G>
PTLITE_INLINE Vec<float> of_group(const float* pixel, int v, int c) {
  if constexpr (G >= kLanes) {
    return Vec<float>(pixel[v * kLanes / G * G + c]);
  } else {
    Vec<float>::Mask from;
    for (int i = 0; i < kLanes; i++) from.v[i] = i / G * G + c;
    return Vec<float>(arch::shuffled(Vec<float>::load(pixel + v * kLanes).v, from.v));
  }
}

/// Adds the products of all taps, where each lane reads the G channels of its group.
template <int G, int P>
PTLITE_INLINE void add_groups(const TileArgs& a, Vec<float> (&acc)[P][kParts], const float* x, const float* filter) {
#pragma GCC unroll 1
  for (int64_t t = 0; t < a.tap_count; t++, filter += G * kBlock) {
    const float* pixel = x + a.taps[t];
#pragma GCC unroll 8
    for (int c = 0; c < G; c++) {
#pragma GCC unroll 4
      for (int v = 0; v < kParts; v++) {
        const Vec<float> w = Vec<float>::load(filter + c * kBlock + v * kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < P; i++) add_product(acc[i][v], of_group<G>(pixel + i * kBlock, v, c), w);
      }
    }
  }
}

/// V vectors of F output blocks by P pixels that lie `step` floats apart in the input; G: channels of a group within a block, or 0.
template <int F, int V, int P, int step, int G>
PTLITE_INLINE void tile_part(const TileArgs& a, int64_t skip, const float* x, const float* filter, const float* bias, const float* residual,
                             float* out, Soon soon) {
  Vec<float> acc[P][V];
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) {
    const Vec<float> start = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < P; i++) acc[i][v] = start;
  }
  if constexpr (G > 0) {
    add_groups<G>(a, acc, x, filter);
  } else if constexpr (step == kBlock) {
    add_blocks<F, V>(a, acc, x, filter, soon);
  } else {
#pragma GCC unroll 1
    for (int64_t t = 0; t < a.tap_count; t++) add_channel<V, P, step>(a, acc, x + a.taps[t], filter + t * kBlock);
  }
  const auto at = [&](int i, int v) { return v / kParts * a.out_block + i * kBlock + v % kParts * kLanes; };
  if (residual != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < P; i++) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) acc[i][v] += Vec<float>::load(residual + at(i, v));
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < P; i++) {
    if (i < skip) continue;
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) limit(acc[i][v], a.lo, a.hi).store(out + at(i, v));
  }
}

/// F output blocks, a few vectors at a time where there are few registers.
template <int F, int P, int step, int G = 0>
void tile(const TileArgs& a, int64_t skip, const float* x, const float* filter, const float* bias, const float* residual, float* out,
          Soon soon) {
  constexpr int kWhole = F * kParts, V = G > 0 || kTileParts > kWhole ? kWhole : kTileParts;
#pragma GCC unroll 1
  for (int v = 0; v < kWhole; v += V) {
    const int64_t by = v * kLanes;
    tile_part<F, V, P, step, G>(a, skip, x, filter + by, bias == nullptr ? nullptr : bias + by, residual == nullptr ? nullptr : residual + by,
                                out + by, soon);
  }
}

template <int P>
constexpr Size size() {
#if PTLITE_VEC_BYTES >= 64
  return {P, {{&tile<1, P, kBlock>, &tile<2, P, kBlock>}, {&tile<1, P, 1>, &tile<2, P, 1>}}, {&tile<1, P, kBlock, 4>, &tile<1, P, kBlock, 8>}};
#else
  return {P, {{&tile<1, P, kBlock>}, {&tile<1, P, 1>}}, {&tile<1, P, kBlock, 4>, &tile<1, P, kBlock, 8>}};
#endif
}

// Accumulators of the largest tile: 28 of 32 registers with AVX-512, 12 of 16 with AVX2, 8 of 16 with SSE2, 24 of 32 on 64-bit Arm, 12 of half a block
// with WebAssembly. The others are for
// rows that it does not divide well; 8 is half of the 16 tiles of a 14 x 14 Winograd convolution.
#if PTLITE_VEC_BYTES >= 64
constexpr Size kSizes[] = {size<14>(), size<12>(), size<10>(), size<9>(), size<8>(), size<7>(), size<4>(), size<2>(), size<1>()};
#elif defined(PTLITE_TILE_PARTS) && !defined(PTLITE_VEC_MULTIPLY_ADDS)
// a product takes a register of its own
constexpr Size kSizes[] = {size<5>(), size<4>(), size<2>(), size<1>()};
#elif PTLITE_VEC_BYTES >= 32 || PTLITE_VEC_REGISTERS >= 32 || defined(PTLITE_TILE_PARTS)
constexpr Size kSizes[] = {size<6>(), size<4>(), size<2>(), size<1>()};
#else
constexpr Size kSizes[] = {size<2>(), size<1>()};
#endif

/// The size whose tiles cover a row with the least work; below 4 pixels, multiplications wait for each other.
const Size& best_size(int64_t pixels) {
  const Size* best = nullptr;
  int64_t least = 0;
  for (const Size& s : kSizes) {
    if (s.pixels > pixels) continue;
    const int64_t work = (pixels + s.pixels - 1) / s.pixels * (std::max(s.pixels, std::min(4, kSizes[0].pixels)) + 1);
    if (best == nullptr || work < least) {
      best = &s;
      least = work;
    }
  }
  return *best;
}

/// Pixels that element-wise steps take at a time: whole tiles, and vectors in groups of four.
constexpr int64_t kStepPixels = 56;

}  // namespace

int64_t row_tile(int64_t pixels) { return best_size(pixels).pixels; }

void run_row(const TileArgs& a, bool plain, int filters, int64_t pixels, const float* x, const float* filter, const float* bias,
             const float* residual, float* out, const RowSteps& steps, const Following& following) {
  const Size& size = best_size(pixels);
  const Tile tile = a.group == 0 ? size.tiles[plain][filters - 1] : size.grouped[a.group / 8];
  const int64_t step = plain ? 1 : kBlock;
  const int64_t tiles = (pixels + size.pixels - 1) / size.pixels, depth = a.depth * a.tap_count;
  int64_t done = 0, pass = following.row * tiles;
  for (int64_t i = 0; i < pixels; i += size.pixels, pass++) {
    const Soon soon = following.filter == nullptr ? Soon{} : Soon::part(following.filter, depth, pass, following.rows * tiles);
    // the last tile begins earlier where it would not be full
    const int64_t at = std::min<int64_t>(i, pixels - size.pixels), end = at + size.pixels;
    tile(a, i - at, x + at * step, filter, bias, residual == nullptr ? nullptr : residual + at * kBlock, out + at * kBlock, soon);
    // some tiles at a time, which are in the first-level cache
    if (end < pixels && end - done < kStepPixels) continue;
    steps.apply(filters, a.out_block, done, end - done, out + done * kBlock);
    done = end;
  }
}

}  // namespace blocked
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
