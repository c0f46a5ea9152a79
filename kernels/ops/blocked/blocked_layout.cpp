// Between [channels][pixels] or [pixels][channels] and channels in blocks of 16, [channels / 16][pixels][16].
#include "frames/blocked.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <algorithm>

#include "vec/transpose.h"

namespace {

constexpr int64_t kBlock = 16;
/// Pixels that one range turns at least: their two forms fit into a first-level cache.
constexpr int64_t kPiece = 128;

/// Pixels [begin, end) of `channels` planes from one block.
void from_block(const float* in, int64_t channels, int64_t pixels, int64_t begin, int64_t end, float* out) {
  int64_t i = begin;
#if PTLITE_VEC_BYTES >= 32
  for (; i + 8 <= end; i += 8) {
    int64_t c = 0;
    for (; c + 8 <= channels; c += 8) ptlite::transpose_8x8(in + i * kBlock + c, kBlock, out + c * pixels + i, pixels);
    for (; c < channels; c++) {
      for (int64_t k = i; k < i + 8; k++) out[c * pixels + k] = in[k * kBlock + c];
    }
  }
#endif
  for (; i < end; i++) {
    for (int64_t c = 0; c < channels; c++) out[c * pixels + i] = in[i * kBlock + c];
  }
}

/// `count` pixels of `lanes` channels, `from_step` and `to_step` floats apart; the lanes up to `filled` become zeros.
void copy_lanes(const float* from, int64_t from_step, int64_t count, int64_t lanes, int64_t filled, float* to, int64_t to_step) {
  using V = ptlite::Vec<float>;
  for (int64_t i = 0; i < count; i++, from += from_step, to += to_step) {
    for (int64_t l = 0; l < filled; l += V::size) {
      const int64_t some = std::min<int64_t>(V::size, std::max<int64_t>(0, lanes - l));
      const V v = some == V::size ? V::load(from + l) : some > 0 ? V::load(from + l, some) : V::zero();
      if (filled - l >= V::size) v.store(to + l);
      else v.store(to + l, filled - l);
    }
  }
}

int32_t reorder(blocked_reorder_frame* f) {
  const float* input = reinterpret_cast<const float*>(f->input);
  float* output = reinterpret_cast<float*>(f->output);
  const int64_t channels = f->channels, pixels = f->pixels, blocks = (channels + kBlock - 1) / kBlock;
  const int64_t pieces = (pixels + kPiece - 1) / kPiece;
  ptlite::parallel_for(f->batch * blocks * pieces, ptlite::grain_for(kBlock * kPiece), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t block = u / pieces % blocks, image = u / pieces / blocks, from = u % pieces * kPiece;
      const int64_t to = std::min(pixels, from + kPiece);
      const int64_t some = std::min(kBlock, channels - block * kBlock);
      const int64_t plain = (image * channels + block * kBlock) * pixels, blocked = (image * blocks + block) * pixels * kBlock;
      if (f->rows != 0) {
        const int64_t row = (image * pixels + from) * channels + block * kBlock, lane = blocked + from * kBlock;
        if (f->to_blocks != 0) copy_lanes(input + row, channels, to - from, some, kBlock, output + lane, kBlock);
        else copy_lanes(input + lane, kBlock, to - from, some, some, output + row, channels);
        continue;
      }
      if (f->to_blocks != 0) {
        ptlite::transpose_panel(input + plain + from, pixels, int(some), kBlock, to - from, output + blocked + from * kBlock);
      } else {
        from_block(input + blocked, some, pixels, from, to, output + plain);
      }
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(blocked_reorder, reorder)
