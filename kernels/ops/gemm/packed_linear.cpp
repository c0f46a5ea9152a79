// Linear layers with packed weights. Panels of 16 columns are shared among threads, and read once for as many rows as registers have room for: of few rows
// the time is that of reading the weight. Activations become bytes once for all panels, or the numbers of a block, or of a whole panel where there are many
// rows, become floats.
#include <algorithm>
#include <atomic>

#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "ops/fused/post_ops.h"
#include "ops/gemm/packed_product.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using namespace ptlite;
using namespace ptlite::packed;
using F = Vec<float>;
using Frame = packed_linear_frame;

// Rows whose sums stay in registers beside a weight's.
#if PTLITE_VEC_REGISTERS >= 32
constexpr int kRows = 12 / kVectors > 6 ? 6 : 12 / kVectors;
#elif PTLITE_VEC_BYTES >= 32
constexpr int kRows = 6;
#else
constexpr int kRows = 2;
#endif
// Bytes of a weight that are asked for ahead.
constexpr int64_t kAhead = 2048;
// Rows that are made bytes at a time.
constexpr int64_t kRowsAtOnce = 512;

// The numbers of a block as floats [32][16].
void unpack(const PackedWeight& w, int64_t panel, int64_t b, float* out) {
  const uint8_t* at = w.block(panel, b);
  if (w.floats()) {
    for (int i = 0; i < kBlock * kPanel; i += F::size) {
      const F x = w.format == WeightFormat_bfloat16 ? load_float(reinterpret_cast<const bfloat16*>(at) + i) : load_float(reinterpret_cast<const float16*>(at) + i);
      x.store(out + i);
    }
    return;
  }
  using I = Vec<int32_t>;
  const uint16_t* scales = w.scales(panel, b / w.span());
  for (int v = 0; v < kVectors; v++) {
    const F scale = load_float(reinterpret_cast<const bfloat16*>(scales + v * kLanes));
    float* to = out + v * kLanes;
    if (w.format == WeightFormat_int8) {
      for (int i = 0; i < kBlock; i += 4) {
        const I x = I::load(reinterpret_cast<const int32_t*>(at + i * kPanel) + v * kLanes);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) (convert<float>((x << (24 - 8 * j)) >> 24) * scale).store(to + (i + j) * kPanel);
      }
    } else {
      for (int i = 0; i < kBlock; i += 8) {
        const I x = I::load(reinterpret_cast<const int32_t*>(at + i / 2 * kPanel) + v * kLanes);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
          const int shift = j < 4 ? 8 * j : 8 * (j - 4) + 4;
          (convert<float>(((x >> shift) & I(15)) - I(8)) * scale).store(to + (i + j) * kPanel);
        }
      }
    }
  }
}

// Columns of floats: of a panel whose numbers are at hand, of one whose numbers are read as they lie, and of one that is unpacked block by block.
struct AtHand {
  const float* values;
  PTLITE_INLINE const float* block(int64_t b) const { return values + b * kBlock * kPanel; }
};
template <class Half>
struct AsTheyLie {
  const PackedWeight* w;
  int64_t panel;
  PTLITE_INLINE const Half* block(int64_t b) const { return reinterpret_cast<const Half*>(w->block(panel, b)); }
};
struct Unpacked {
  const PackedWeight* w;
  int64_t panel;
  float* own;
  PTLITE_INLINE const float* block(int64_t b) const {
    unpack(*w, panel, b, own);
    return own;
  }
};

// R rows by a panel. Few rows have several sets of sums, so that additions do not wait for each other.
template <int R, class Columns>
void by_floats(const PackedWeight& w, int64_t m0, int64_t panel, const Columns& columns, const Finish& finish) {
  constexpr int kSets = R == 1 ? 4 : R == 2 ? 2 : 1;
  F part[kSets][R][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kSets * R * kVectors; i++) part[i / (R * kVectors)][i / kVectors % R][i % kVectors] = F::zero();
  const float* x = reinterpret_cast<const float*>(finish.f.x) + m0 * w.k;
  for (int64_t b = 0; b < w.blocks(); b++, x += kBlock) {
    const auto* at = columns.block(b);
    if constexpr (sizeof(*at) == 2) {
      for (int64_t line = 0; line < kBlock * kPanel; line += 32) __builtin_prefetch(at + kAhead / 2 + line);
    }
    const int64_t count = std::min<int64_t>(kBlock, w.k - b * kBlock);
    const auto add = [&](int64_t i, F(&sums)[R][kVectors]) __attribute__((always_inline)) {
      F column[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; v++) column[v] = load_float(at + i * kPanel + v * kLanes);
#pragma GCC unroll 6
      for (int r = 0; r < R; r++) {
        const F a(x[r * w.k + i]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; v++) sums[r][v] = fma(a, column[v], sums[r][v]);
      }
    };
    int64_t i = 0;
    for (; i + kSets <= count; i += kSets) {
#pragma GCC unroll 4
      for (int s = 0; s < kSets; s++) add(i + s, part[s]);
    }
    for (; i < count; i++) add(i, part[0]);
  }
#pragma GCC unroll 4
  for (int s = 1; s < kSets; s++) {
#pragma GCC unroll 2
    for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; v++) part[0][r][v] += part[s][r][v];
    }
  }
  finish.store<R, kVectors>(m0, panel, 0, part[0]);
}

template <class Columns>
void rows_by_floats(const PackedWeight& w, int64_t panel, const Columns& columns, const Finish& finish) {
  int64_t r = 0;
  for (; r + kRows <= finish.f.m; r += kRows) by_floats<kRows>(w, r, panel, columns, finish);
  if constexpr (kRows > 2) {
    for (; r + 2 <= finish.f.m; r += 2) by_floats<2>(w, r, panel, columns, finish);
  }
  for (; r < finish.f.m; r++) by_floats<1>(w, r, panel, columns, finish);
}

bool product_of_bytes(const Frame& f, const PostOps* post) {
  const PackedWeight w(f, f.weight);
  const int64_t most = std::min<int64_t>(f.m, kRowsAtOnce);
  // a scale and a sum for each block of at most int16
  auto* memory = static_cast<uint8_t*>(ptlite_scratch(static_cast<size_t>(most * w.blocks() * (kBlock * 2 + 8) + 64)));
  if (memory == nullptr) return false;
  for (int64_t m0 = 0; m0 < f.m; m0 += kRowsAtOnce) {
    const int64_t m = std::min(kRowsAtOnce, f.m - m0);
    parallel_for(m, grain_for(f.k * 2), [&](int64_t begin, int64_t end) {
      const BytesTask task{&f, memory, m0, m, begin, end, false};
      packed_bytes(&task);
    });
    parallel_for(w.panels(), grain_for(m * f.k * kPanel / 4), [&](int64_t begin, int64_t end) {
      const BytesTask task{&f, memory, m0, m, begin, end, true};
      packed_bytes(&task);
      if (post == nullptr) return;
      const int64_t column = begin * kPanel;
      post->apply(m, std::min<int64_t>(f.n, end * kPanel) - column, reinterpret_cast<float*>(f.out) + m0 * f.n + column, f.n, 0, m0, column);
    });
  }
  return true;
}

bool product_of_floats(const Frame& f, const PostOps* post) {
  const PackedWeight w(f, f.weight);
  const Finish finish{f};
  std::atomic<bool> done{true};
  parallel_for(w.panels(), grain_for(int64_t{f.m} * f.k * kPanel), [&](int64_t begin, int64_t end) {
    float* values = nullptr;
    // what is read more than once
    if (f.m > 2) {
      values = static_cast<float*>(range_scratch(static_cast<size_t>(w.blocks() * kBlock * kPanel) * 4));
      if (values == nullptr) {
        done = false;
        return;
      }
    }
    alignas(64) float own[kBlock * kPanel];
    for (int64_t p = begin; p < end; p++) {
      poll();
      if (values != nullptr) {
        for (int64_t b = 0; b < w.blocks(); b++) unpack(w, p, b, values + b * kBlock * kPanel);
        rows_by_floats(w, p, AtHand{values}, finish);
      } else if (w.format == WeightFormat_bfloat16) {
        rows_by_floats(w, p, AsTheyLie<bfloat16>{&w, p}, finish);
      } else if (w.format == WeightFormat_float16) {
        rows_by_floats(w, p, AsTheyLie<float16>{&w, p}, finish);
      } else {
        rows_by_floats(w, p, Unpacked{&w, p, own}, finish);
      }
    }
    if (post != nullptr) {
      const int64_t column = begin * kPanel;
      post->apply(f.m, std::min<int64_t>(f.n, end * kPanel) - column, reinterpret_cast<float*>(f.out) + column, f.n, 0, 0, column);
    }
  });
  return done;
}

int32_t product(const Frame& f, const PostOps* post) {
  return (f.bytes == 0 ? product_of_floats(f, post) : product_of_bytes(f, post)) ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t packed_linear(packed_linear_frame* f) { return product(*f, nullptr); }

int32_t packed_linear_post(packed_linear_post_frame* f) {
  const PostOps post(*f);
  return post.valid() ? product(reinterpret_cast<const packed_linear_frame&>(*f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(packed_linear, packed_linear)
PTLITE_KERNEL(packed_linear_post, packed_linear_post)
