// isa: AVX512_BF16, AMX, BF16
// Products of weights packed as bfloat16 with rows that are rounded to it: pairs of numbers of a column are brought together, a panel at a time, for all rows.
#include <string.h>

#include <algorithm>

#include "dispatch/processor.h"
#include "ops/gemm/bfloat16_tile.h"
#include "ops/gemm/packed_product.h"
#include "pool/budget.h"
#include "pool/pool.h"

#if defined(PTLITE_BF16_AMX) || defined(PTLITE_BF16_DOT)

namespace {

using namespace ptlite;
using namespace ptlite::packed;
using F = Vec<float>;

static_assert(bf16::kRows <= kMostTileRows && kBlock == bf16::kChunk && bf16::kRowBytes == kBlock * 2);

// Rows of k numbers as blocks of bf16::kRows rows, depth filled up with zeros.
struct Rows {
  uint8_t* memory;
  int64_t blocks;

  uint8_t* chunk(int64_t row, int64_t b) const { return memory + ((row / bf16::kRows * blocks + b) * bf16::kRows + row % bf16::kRows) * bf16::kRowBytes; }

  void fill(int64_t row, const float* x, int64_t k) const {
    for (int64_t b = 0; b < blocks; b++) {
      bfloat16 numbers[kBlock];
      for (int64_t i = 0; i < kBlock; i += F::size) {
        const int64_t count = k - b * kBlock - i;
        store_float(numbers + i, count <= 0 ? F::zero() : F::load(x + b * kBlock + i, count));
      }
      bf16::put_chunk(numbers, chunk(row, b));
    }
  }
};

// A block of a panel that is not there.
alignas(64) const uint8_t kZeros[kBlock * kPanel * 2] = {};

// bf16::kColumns columns from `column` on, as [pairs][columns][2]. What there is no panel for is zero.
void pack_columns(const PackedWeight& w, int64_t column, uint16_t* out) {
  constexpr int kWide = static_cast<int>(bf16::kColumns), kRun = kWide < kPanel ? kWide : kPanel;
  for (int part = 0; part < kWide; part += kRun, column += kRun) {
    const int64_t panel = column / kPanel;
    for (int64_t b = 0; b < w.blocks(); b++) {
      uint16_t* to = out + (b * kBlock * kWide / 2 + part) * 2;
      const auto* from = reinterpret_cast<const uint16_t*>(panel < w.panels() ? w.block(panel, b) : kZeros) + column % kPanel;
      for (int i = 0; i < kBlock; i += 2, to += 2 * kWide, from += 2 * kPanel) {
        for (int c = 0; c < kRun; c++) {
          to[2 * c] = from[c];
          to[2 * c + 1] = from[kPanel + c];
        }
      }
    }
  }
}

bool product(const RowsTask* task) {
  if (task == nullptr) {
#if defined(PTLITE_BF16_AMX)
    return true;
#else
    static const bool fast = has_fast_pairs();
    return fast;
#endif
  }
  const packed_linear_frame& f = *task->f;
  const PackedWeight w(f, f.weight);
  const Rows rows{task->memory, w.blocks()};
  if (task->step == RowsStep::kRound) {
    for (int64_t r = task->begin; r < task->end; r++) rows.fill(r, reinterpret_cast<const float*>(f.x) + (task->m0 + r) * f.k, f.k);
    // rows that the last block lacks
    if (task->end == task->m) {
      for (int64_t r = task->m; r % bf16::kRows != 0; r++) {
        for (int64_t b = 0; b < w.blocks(); b++) memset(rows.chunk(r, b), 0, static_cast<size_t>(bf16::kRowBytes));
      }
    }
    return true;
  }
  const int64_t end = std::min<int64_t>(f.n, task->end * kPanel);
  auto* panel = static_cast<uint16_t*>(range_scratch(static_cast<size_t>(w.blocks() * kBlock * bf16::kColumns) * 2));
  if (panel == nullptr) return false;
  const Finish finish{f};
  alignas(64) float sums[bf16::kRows * bf16::kColumns];
  [[maybe_unused]] const bf16::Tiles tiles;
  for (int64_t column = task->begin * kPanel; column < end; column += bf16::kColumns) {
    poll();
    pack_columns(w, column, panel);
    for (int64_t r = 0; r < task->m; r += bf16::kRows) {
      const int64_t count = std::min<int64_t>(bf16::kRows, task->m - r);
      bf16::multiply_block(rows.chunk(r, 0), reinterpret_cast<const uint8_t*>(panel), w.blocks() * kBlock / 2, count, bf16::kColumns, sums);
      finish.store_tile(sums, bf16::kColumns, task->m0 + r, count, column);
    }
  }
  return true;
}

}  // namespace

PTLITE_REGISTER_STUB(packed_pairs, &product)

#endif
