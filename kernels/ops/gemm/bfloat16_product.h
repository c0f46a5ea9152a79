// Blocked product C = round(alpha * A B + beta * S) of bfloat16 matrices: sums in float32 over the whole depth, one
// rounding at the end. Panels of B are packed for a block of columns that stays in the second-level cache, then
// blocks of rows of A go past them.
#pragma once

#include <algorithm>
#include <atomic>

#include "dispatch/kernel.h"
#include "dispatch/processor.h"
#include "dispatch/run_frame.h"
#include "ops/gemm/bfloat16_tile.h"
#include "pool/pool.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

// Runs a kernel of these products by run(frame), or as a level below has it, by multiply-adds, where these are faster than dot products of pairs.
template <class Frame, class Run>
inline int32_t run_by_pairs(Frame* f, const Run& run) {
#if defined(PTLITE_BF16_DOT)
  static const bool fast = has_fast_pairs();
  if (!fast) return ptlite_run_frame_at(f, (uint32_t{1} << PTLITE_LEVEL) - 1);
#endif
  return run(f);
}

constexpr int64_t kPanelBytes = 512 << 10;
constexpr int64_t kBlockBytes = 256 << 10;

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

struct Strided {
  const bfloat16* data;
  int64_t row;
  int64_t col;
};

struct Addend {
  Strided source;  // data null: nothing is added; strides of 0 broadcast
  float alpha;
  float beta;
};

// Rows first.. of A to `block`, zeros where there are fewer than kRows; `lines` is scratch for kRows rows of `length`.
inline void pack_rows(Strided a, int64_t first, int64_t rows, int64_t k, int64_t length, bfloat16* lines, uint8_t* block) {
  if (a.col == 1) {
    for (int64_t r = 0; r < rows; r++) memcpy(lines + r * length, a.data + (first + r) * a.row, static_cast<size_t>(k) * 2);
  } else {
    for (int64_t p = 0; p < k; p++) {
      for (int64_t r = 0; r < rows; r++) lines[r * length + p] = a.data[(first + r) * a.row + p * a.col];
    }
  }
  for (int64_t r = 0; r < kRows; r++) {
    bfloat16* line = lines + r * length;
    if (r < rows) memset(line + k, 0, static_cast<size_t>(length - k) * 2);
    for (int64_t c = 0; c < length; c += kChunk) {
      uint8_t* out = block + (c / kChunk * kRows + r) * kRowBytes;
      if (r < rows) put_chunk(line + c, out);
      else memset(out, 0, static_cast<size_t>(kRowBytes));
    }
  }
}

// A panel of B from row-wise pieces: row(p, out) writes those columns of row p of B that the panel has; the others stay zero.
template <class Row>
inline void pack_panel_by_rows(int64_t k, int64_t depth, int64_t width, const Row& row, bfloat16* panel) {
  bfloat16 pair[2][kColumns] = {};
  for (int64_t p = 0; p < depth; p += 2, panel += 2 * width) {
    for (int64_t h = 0; h < 2; h++) {
      if (p + h < k) row(p + h, pair[h]);
      else memset(pair[h], 0, sizeof(pair[h]));
    }
    for (int64_t c = 0; c < width; c++) {
      panel[2 * c] = pair[0][c];
      panel[2 * c + 1] = pair[1][c];
    }
  }
}

// A panel of B whose columns are contiguous, `stride` apart.
inline void pack_panel_by_columns(int64_t k, int64_t depth, int64_t cols, int64_t width, const bfloat16* b, int64_t stride, bfloat16* panel) {
  constexpr int64_t kRun = 32;  // short runs keep both sides within a few cache lines
  for (int64_t p0 = 0; p0 < depth; p0 += kRun) {
    const int64_t p1 = std::min(depth, p0 + kRun), whole = std::min(p1, k / 2 * 2);
    for (int64_t c = 0; c < width; c++) {
      int64_t p = p0;
      if (c < cols) {
        for (; p < whole; p += 2) memcpy(panel + p * width + 2 * c, b + c * stride + p, 4);
        if (p < p1 && p < k) {
          panel[p * width + 2 * c] = b[c * stride + p];
          panel[p * width + 2 * c + 1] = bfloat16{0};
          p += 2;
        }
      }
      for (; p < p1; p += 2) memset(panel + p * width + 2 * c, 0, 4);
    }
  }
}

inline void pack_panel(Strided b, int64_t k, int64_t depth, int64_t n0, int64_t cols, int64_t width, bfloat16* panel) {
  const bfloat16* from = b.data + n0 * b.col;
  if (b.row == 1) return pack_panel_by_columns(k, depth, cols, width, from, b.col, panel);
  pack_panel_by_rows(
      k, depth, width,
      [&](int64_t p, bfloat16* out) {
        if (b.col == 1) memcpy(out, from + p * b.row, static_cast<size_t>(cols) * 2);
        else for (int64_t c = 0; c < cols; c++) out[c] = from[p * b.row + c * b.col];
      },
      panel);
}

// alpha * sums + beta * source to memory, rounded.
inline void finish(const float* sums, int64_t width, int64_t rows, int64_t cols, const Addend& e, int64_t m0, int64_t n0, bfloat16* c, int64_t c_row) {
  using F = Vec<float>;
  for (int64_t r = 0; r < rows; r++, sums += width) {
    bfloat16 added[kColumns];
    bfloat16 out[kColumns];
    const bfloat16* source = added;
    if (e.source.data != nullptr) {
      const bfloat16* s = e.source.data + (m0 + r) * e.source.row + n0 * e.source.col;
      for (int64_t i = 0; i < cols; i++) added[i] = s[i * e.source.col];
      for (int64_t i = cols; i < width; i++) added[i] = bfloat16{0};
    }
    for (int64_t i = 0; i < width; i += F::size) {
      F x = F::load(sums + i) * F(e.alpha);
      if (e.source.data != nullptr) x += F(e.beta) * load_float(source + i);
      store_float(out + i, x);
    }
    memcpy(c + (m0 + r) * c_row + n0, out, static_cast<size_t>(cols) * 2);
  }
}

// Rows [first, last) by columns [from, to) of a product; see below. `from` is the start of a panel.
template <class Pack>
bool part(int64_t first, int64_t last, int64_t from, int64_t to, int64_t n, int64_t k, Strided a, const Pack& pack, const Addend& e, bfloat16* c,
          int64_t c_row) {
  const int64_t depth = round_up(k, kStep), length = round_up(k, kChunk);
  const int64_t columns = round_up(to, kNarrowPanels ? kLanes : kColumns);
  const int64_t block_bytes = length / kChunk * kRows * kRowBytes;
  const int64_t wide = std::min(columns - from, std::max<int64_t>(1, kPanelBytes / (2 * kColumns * (depth + 1))) * kColumns);
  const int64_t blocks = std::min((last - first + kRows - 1) / kRows, kBlockBytes / (block_bytes + 1) + 1);
  const int64_t b_bytes = round_up(wide * depth * 2, 64), lines_bytes = kRows * length * 2;
  auto* memory = static_cast<uint8_t*>(range_scratch(static_cast<size_t>(b_bytes + lines_bytes + blocks * block_bytes)));
  if (memory == nullptr) return false;
  auto* b_pack = reinterpret_cast<bfloat16*>(memory);
  auto* lines = reinterpret_cast<bfloat16*>(memory + b_bytes);
  uint8_t* a_pack = memory + b_bytes + lines_bytes;
  alignas(64) float sums[kRows * kColumns];
  [[maybe_unused]] const Tiles tiles;
  const auto width_at = [&](int64_t at) { return std::min<int64_t>(kColumns, columns - at); };
  for (int64_t n0 = from; n0 < columns; n0 += wide) {
    const int64_t n1 = std::min(columns, n0 + wide);
    for (int64_t j = n0; j < n1; j += kColumns) pack(j, std::min<int64_t>(kColumns, n - j), width_at(j), b_pack + (j - n0) * depth);
    for (int64_t m0 = first; m0 < last; m0 += blocks * kRows) {
      const int64_t m1 = std::min(last, m0 + blocks * kRows);
      for (int64_t i = m0; i < m1; i += kRows) {
        pack_rows(a, i, std::min<int64_t>(kRows, m1 - i), k, length, lines, a_pack + (i - m0) / kRows * block_bytes);
      }
      for (int64_t j = n0; j < n1; j += kColumns) {
        const auto* panel = reinterpret_cast<const uint8_t*>(b_pack + (j - n0) * depth);
        for (int64_t i = m0; i < m1; i += kRows) {
          const int64_t rows = std::min<int64_t>(kRows, m1 - i), width = width_at(j);
          multiply_block(a_pack + (i - m0) / kRows * block_bytes, panel, depth / 2, rows, width, sums);
          finish(sums, width, rows, std::min(width, n - j), e, i, j, c, c_row);
        }
      }
    }
  }
  return true;
}

// The product of A [m, k] and B [k, n], of which pack(n0, cols, width, panel) writes a panel. C is contiguous along its columns.
// False where there is no memory.
template <class Pack>
bool product(int64_t m, int64_t n, int64_t k, Strided a, const Pack& pack, const Addend& e, bfloat16* c, int64_t c_row) {
  std::atomic<bool> done{true};
  // threads share the longer side, so that little is packed twice
  if (n >= m) {
    parallel_for((n + kColumns - 1) / kColumns, grain_for(m * k * kColumns), [&](int64_t begin, int64_t end) {
      if (!part(0, m, begin * kColumns, std::min(n, end * kColumns), n, k, a, pack, e, c, c_row)) done = false;
    });
  } else {
    parallel_for(m, round_up(grain_for(n * k), kRows), [&](int64_t begin, int64_t end) {
      if (!part(begin, end, 0, n, n, k, a, pack, e, c, c_row)) done = false;
    });
  }
  return done;
}

}  // namespace bf16
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
