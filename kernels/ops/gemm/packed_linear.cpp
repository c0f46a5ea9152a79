// Linear layers with packed weights. Panels of 16 columns are shared among threads, and read once for as many rows as registers have room for: of few rows
// the time is that of reading the weight. Activations become bytes, or pairs of bfloat16, once for all panels; or the numbers of the weight become floats, in
// registers or, where there are many rows, a part of the weight at a time.
#include <algorithm>
#include <atomic>

#include "frames/post_ops.h"
#include "dispatch/kernel.h"
#include "ops/fused/post_ops.h"
#include "ops/gemm/gemm_core.h"
#include "ops/gemm/packed_columns.h"
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
// Rows that integers become floats for in registers, at a time.
constexpr int kFew = PTLITE_VEC_REGISTERS >= 32 || PTLITE_VEC_BYTES >= 32 ? 4 : 2;
// Bytes of a weight that are asked for ahead.
constexpr int64_t kAhead = 2048;
// Rows that are packed at a time.
constexpr int64_t kRowsAtOnce = 512;
// Bytes of results that steps are applied to at a time.
constexpr int64_t kStepsBytes = 128 << 10;

// R rows by a panel of 16-bit floats, read as they lie. Few rows have several sets of sums, so that additions do not wait for each other.
template <class Half, int R>
void by_halves(const PackedWeight& w, const float* from, int64_t m0, int64_t panel, const Finish& finish) {
  constexpr int kSets = R == 1 ? 4 : R == 2 || (R == 4 && kVectors == 1) ? 2 : 1;
  F part[kSets][R][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kSets * R * kVectors; i++) part[i / (R * kVectors)][i / kVectors % R][i % kVectors] = F::zero();
  const float* x = from + m0 * w.k;
  for (int64_t b = 0; b < w.blocks(); b++, x += kBlock) {
    const auto* at = reinterpret_cast<const Half*>(w.block(panel, b));
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

// R rows by a panel of integers, which become floats in registers: for so few rows that nothing is gained by keeping them. Sums of a group are scaled once.
template <class W, int R>
void by_integers(const PackedWeight& w, const float* from, int64_t m0, int64_t panel, const Finish& finish) {
  using I = Vec<int32_t>;
  constexpr int kMost = 8 / (R * kVectors), kSets = kMost > 4 ? 4 : kMost < 1 ? 1 : kMost;
  F total[R][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < R * kVectors; i++) total[i / kVectors][i % kVectors] = F::zero();
  const float* x = from + m0 * w.k;
  const uint8_t* at = w.block(panel, 0);
  float last[R][kBlock];
  for (int64_t b = 0, g = 0; b < w.blocks(); g++) {
    F zero[kVectors], part[kSets][R][kVectors], all[R];
    for (int v = 0; v < kVectors; v++) zero[v] = F(W::kMore) + (w.zero == ZeroPoints_integers ? zeros_of(w, panel, g, v) : F::zero());
    for (int r = 0; r < R; r++) all[r] = F::zero();
#pragma GCC unroll 16
    for (int i = 0; i < kSets * R * kVectors; i++) part[i / (R * kVectors)][i / kVectors % R][i % kVectors] = F::zero();
    const bool shifts = W::kMore != 0 || w.zero == ZeroPoints_integers;
    for (const int64_t end = std::min(w.blocks(), b + w.span()); b < end; b++, at += W::kBytes) {
      for (int64_t line = 0; line < W::kBytes; line += 64) __builtin_prefetch(at + kAhead + line);
      const float* a = x + b * kBlock;
      int64_t row = w.k;
      if (w.k - b * kBlock < kBlock) {
        // numbers that lack are zero
        for (int r = 0; r < R; r++)
          for (int i = 0; i < kBlock; i++) last[r][i] = b * kBlock + i < w.k ? a[r * w.k + i] : 0;
        a = last[0], row = kBlock;
      }
      if (w.zero == ZeroPoints_offsets) {
        for (int r = 0; r < R; r++)
          for (int i = 0; i < kBlock; i += F::size) all[r] += F::load(a + r * row + i);
      }
      for (int i = 0; i < kBlock; i += W::kNumbers) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; v++) {
          const I words = I::load(reinterpret_cast<const int32_t*>(at + i / W::kNumbers * 4 * kPanel) + v * kLanes);
#pragma GCC unroll 8
          for (int j = 0; j < W::kNumbers; j++) {
            F q = W::number(words, j);
            if (shifts) q -= zero[v];
#pragma GCC unroll 4
            for (int r = 0; r < R; r++) part[j % kSets][r][v] = fma(F(a[r * row + i + j]), q, part[j % kSets][r][v]);
          }
        }
      }
    }
    for (int v = 0; v < kVectors; v++) {
      const F scale = scales_of(w, panel, g, v);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        F sum = part[0][r][v];
#pragma GCC unroll 4
        for (int s = 1; s < kSets; s++) sum += part[s][r][v];
        total[r][v] = fma(sum, scale, total[r][v]);
        if (w.zero == ZeroPoints_offsets) total[r][v] = fma(zeros_of(w, panel, g, v), F(reduce_add(all[r])), total[r][v]);
      }
    }
  }
  finish.store<R, kVectors>(m0, panel, 0, total);
}

template <class W>
void rows_by_integers(const PackedWeight& w, const float* x, int64_t panel, const Finish& finish) {
  int64_t r = 0;
  if constexpr (kFew >= 4) {
    for (; r + 4 <= finish.f.m; r += 4) by_integers<W, 4>(w, x, r, panel, finish);
  }
  for (; r + 2 <= finish.f.m; r += 2) by_integers<W, 2>(w, x, r, panel, finish);
  for (; r < finish.f.m; r++) by_integers<W, 1>(w, x, r, panel, finish);
}

template <class Half>
void rows_by_halves(const PackedWeight& w, const float* x, int64_t panel, const Finish& finish) {
  int64_t r = 0;
  for (; r + kRows <= finish.f.m; r += kRows) by_halves<Half, kRows>(w, x, r, panel, finish);
  if constexpr (kRows > 4) {
    if (r + 4 <= finish.f.m) {
      by_halves<Half, 4>(w, x, r, panel, finish);
      r += 4;
    }
  }
  if constexpr (kRows > 2) {
    for (; r + 2 <= finish.f.m; r += 2) by_halves<Half, 2>(w, x, r, panel, finish);
  }
  for (; r < finish.f.m; r++) by_halves<Half, 1>(w, x, r, panel, finish);
}

// Products of rows that `product` rounds, into `row_bytes` of each: of panels, two by two.
template <class Product>
bool product_of_rounded(const Frame& f, const PostOps* post, int64_t row_bytes, const Product& product) {
  constexpr int64_t kPair = 2;
  const PackedWeight w(f, f.weight);
  const int64_t most = std::min<int64_t>(f.m, kRowsAtOnce);
  auto* memory = static_cast<uint8_t*>(ptlite_scratch(static_cast<size_t>((most + kMostTileRows) * row_bytes + 64)));
  if (memory == nullptr) return false;
  std::atomic<bool> done{true};
  for (int64_t m0 = 0; m0 < f.m; m0 += kRowsAtOnce) {
    const int64_t m = std::min(kRowsAtOnce, f.m - m0);
    parallel_for(m, grain_for(f.k * 2), [&](int64_t begin, int64_t end) {
      const RowsTask task{&f, memory, m0, m, begin, end, RowsStep::kRound};
      if (!product(&task)) done = false;
    });
    parallel_for((w.panels() + kPair - 1) / kPair, grain_for(m * f.k * kPanel * kPair / 4), [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(w.panels(), end * kPair);
      // what steps read is in the caches still
      const int64_t step = post == nullptr ? last : std::max<int64_t>(1, kStepsBytes / (4 * m * kPanel * kPair)) * kPair;
      for (int64_t p = begin * kPair; p < last; p += step) {
        const int64_t to = std::min(last, p + step), column = p * kPanel;
        const RowsTask task{&f, memory, m0, m, p, to, RowsStep::kMultiply};
        if (!product(&task)) done = false;
        if (post != nullptr)
          post->apply(m, std::min<int64_t>(f.n, to * kPanel) - column, reinterpret_cast<float*>(f.out) + m0 * f.n + column, f.n, 0, m0, column);
      }
    });
  }
  return done;
}

void round_to_bfloat16(const float* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += F::size) {
    bfloat16 rounded[F::size];
    store_float(rounded, F::load(from + i, count - i));
    load_float(rounded).store(to + i, count - i);
  }
}

// Many rows: they are packed, and a part of the weight that the first-level cache keeps is unpacked for all of them and multiplied as a float32 weight is. Threads share
// columns, and rows, too, where there are few columns.
bool product_of_many(const Frame& f, const PostOps* post) {
  constexpr int64_t kTileRows = gemm::kRows;
  const PackedWeight w(f, f.weight);
  const int64_t k = f.k, n = f.n, most = std::min<int64_t>(f.m, kRowsAtOnce);
  auto* packed = static_cast<float*>(ptlite_scratch(static_cast<size_t>(gemm::packed_a_size<float>(most, k)) * 4));
  if (packed == nullptr) return false;
  const Columns columns(w);
  const int64_t tiles = (n + Columns::kTile - 1) / Columns::kTile;
  gemm::Epilogue<float> e;
  e.source = reinterpret_cast<const float*>(f.bias);
  e.source_col = 1;
  e.lo = static_cast<float>(f.lo);
  e.hi = static_cast<float>(f.hi);
  e.clamped = f.clamped != 0;
  e.post = post;
  for (int64_t m0 = 0; m0 < f.m; m0 += kRowsAtOnce) {
    const int64_t m = std::min(kRowsAtOnce, f.m - m0), strips = (m + kTileRows - 1) / kTileRows;
    parallel_for(strips, grain_for(kTileRows * k), [&](int64_t begin, int64_t end) {
      const int64_t row = begin * kTileRows;
      float* to = packed + row * k;
      gemm::pack_a<float>(std::min(m, end * kTileRows) - row, k, reinterpret_cast<const float*>(f.x) + (m0 + row) * k, k, 1, to);
      if (f.bytes != 0) round_to_bfloat16(to, (end * kTileRows - row) * k, to);
    });
    const int64_t wanted = 2 * thread_limit(), shares = tiles >= wanted ? 1 : std::min(strips, (wanted + tiles - 1) / tiles);
    const int64_t height = (strips + shares - 1) / shares * kTileRows;
    parallel_for(shares * tiles, grain_for(height * k * Columns::kTile), [&](int64_t begin, int64_t end) {
      alignas(64) float values[Columns::kFloats];
      for (int64_t i = begin; i < end; i++) {
        const int64_t row = i / tiles * height, column = i % tiles * Columns::kTile;
        const int64_t rows = std::min(height, m - row), width = std::min(Columns::kTile, n - column);
        if (rows <= 0) continue;
        for (int64_t from = 0; from < k; from += columns.depth) {
          const int64_t depth = std::min(columns.depth, k - from);
          columns.unpack(column, width, from, depth, values);
          gemm::multiply_packed<float>(rows, width, depth, packed + row * k + from * kTileRows, k, values, depth, 0,
                                       reinterpret_cast<float*>(f.out) + (m0 + row) * n + column, n, e, from == 0, from + depth == k, m0 + row, column);
        }
      }
    });
  }
  return true;
}

bool product_of_few(const Frame& f, const PostOps* post) {
  const PackedWeight w(f, f.weight);
  const Finish finish{f};
  const auto* x = reinterpret_cast<const float*>(f.x);
  if (f.bytes != 0) {
    const int64_t count = int64_t{f.m} * f.k;
    auto* rounded = static_cast<float*>(ptlite_scratch(static_cast<size_t>(count) * 4 + 4));
    if (rounded == nullptr) return false;
    round_to_bfloat16(x, count, rounded);
    x = rounded;
  }
  parallel_for(w.panels(), grain_for(int64_t{f.m} * f.k * kPanel / 2), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
      poll();
      if (w.format == WeightFormat_bfloat16) {
        rows_by_halves<bfloat16>(w, x, p, finish);
      } else if (w.format == WeightFormat_float16) {
        rows_by_halves<float16>(w, x, p, finish);
      } else if (w.format == WeightFormat_int8) {
        rows_by_integers<Bytes4>(w, x, p, finish);
      } else {
        rows_by_integers<Halves8>(w, x, p, finish);
      }
    }
    if (post != nullptr) {
      const int64_t column = begin * kPanel;
      post->apply(f.m, std::min<int64_t>(f.n, end * kPanel) - column, reinterpret_cast<float*>(f.out) + column, f.n, 0, 0, column);
    }
  });
  return true;
}

bool multiply(const Frame& f, const PostOps* post) {
  const PackedWeight w(f, f.weight);
  const int64_t blocks = w.blocks();
  // floats that lie as they are multiplied are read twice at less than unpacking takes
  const bool many = f.m > (w.floats() && kRows > 2 ? 2 * kRows : kRows) && blocks > 0;
  if (f.bytes != 0 && f.format != WeightFormat_bfloat16) {
    // a scale and two sums for each block of at most int16, and a scale of the row
    return product_of_rounded(f, post, blocks * (kBlock * 2 + 12) + 4, packed_bytes);
  }
  if (f.bytes != 0 && many && packed_pairs(nullptr)) return product_of_rounded(f, post, blocks * kBlock * 2, packed_pairs);
  return many ? product_of_many(f, post) : product_of_few(f, post);
}

int32_t product(const Frame& f, const PostOps* post) {
  if (f.m == 0 || f.n == 0) return PTLITE_OK;
  return multiply(f, post) ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t packed_linear(packed_linear_frame* f) { return product(*f, nullptr); }

int32_t packed_linear_post(packed_linear_post_frame* f) {
  const PostOps post(*f);
  return post.valid() ? product(reinterpret_cast<const packed_linear_frame&>(*f), &post) : PTLITE_NO_KERNEL;
}

}  // namespace

PTLITE_KERNEL(packed_linear, packed_linear)
PTLITE_KERNEL(packed_linear_post, packed_linear_post)
