// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", section 3.2.1) without a matrix of all scores: by blocks
// of queries, each against tiles of keys.
#include "frames/attention.h"
#include "dispatch/kernel.h"

#include <algorithm>
#include <atomic>

#include "attention_block.h"
#include "attention_few.h"
#include "pool/pool.h"
#include "support/element.h"
#include "vec/half.h"

namespace {

namespace gemm = ptlite::gemm;
using namespace ptlite::attention;

template <class T>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

/// The rows of queries that share one head of keys and values: those of all heads of a group, head by head.
class Rows {
 public:
  Rows(const attention_frame& frame, int64_t matrix)
      : f(frame), batch(matrix / frame.kv_heads), first_head(matrix % frame.kv_heads * frame.group) {}

  int64_t count() const { return int64_t{f.group} * f.queries; }

  Row at(int64_t index) const { return at(index / f.queries, index % f.queries); }

  /// The query at `position` of a head of the group.
  Row at(int64_t in_group, int64_t position) const {
    const int64_t head = first_head + in_group;
    Row row;
    row.query = pointer<const float>(f.query) + batch * f.query_strides[0] + head * f.query_strides[1] + position * f.query_strides[2];
    row.out = pointer<float>(f.out) + batch * f.out_strides[0] + head * f.out_strides[1] + position * f.out_strides[2];
    row.sum = f.sums == 0 ? nullptr : pointer<float>(f.sums) + (batch * f.kv_heads * f.group + head) * f.queries + position;
    row.position = position;
    if (f.mask != 0) {
      row.mask.truth = f.mask_dtype == kBool;
      row.mask.row = f.mask_strides[2];
      row.mask.col = f.mask_strides[3];
      row.mask.data = pointer<const char>(f.mask) + (batch * f.mask_strides[0] + head * f.mask_strides[1]) * row.mask.element_size();
    }
    return row;
  }

 private:
  const attention_frame& f;
  const int64_t batch, first_head;
};

/// How rows are cut into blocks. Blocks keep to one head where it has enough rows, as causal blocks then see few keys. It
/// follows from the sizes alone, so that any number of threads gives the same bits.
class Blocks {
 public:
  explicit Blocks(const attention_frame& f)
      : queries_(f.queries),
        rows_(f.queries >= kBlock ? f.queries : int64_t{f.group} * f.queries),
        heads_(f.queries >= kBlock ? f.group : 1),
        by_head_((rows_ + kBlock - 1) / kBlock) {}

  int64_t count() const { return heads_ * by_head_; }

  Block at(int64_t index, const Rows& rows) const {
    const int64_t from = index % by_head_ * kBlock;
    Block block;
    block.count = int(std::min<int64_t>(kBlock, rows_ - from));
    block.lowest = INT64_MAX;
    block.highest = 0;
    block.one_mask = true;
    // rows_ are one head or all of the group
    int64_t head = heads_ > 1 ? index / by_head_ : from / queries_, position = heads_ > 1 ? from : from % queries_;
    for (int i = 0; i < kBlock; i++) {
      const Row row = rows.at(head, position);
      // lanes that are left over do what the last row does
      if (i + 1 < block.count && ++position == queries_) head++, position = 0;
      block.query[i] = row.query;
      block.mask[i] = row.mask;
      block.out[i] = row.out;
      block.sum[i] = row.sum;
      block.position[i] = float(row.position);
      block.lowest = std::min(block.lowest, row.position);
      block.highest = std::max(block.highest, row.position);
      block.one_mask &= row.mask.data == block.mask[0].data && (row.mask.row == 0 || row.position == int64_t(block.position[0]));
    }
    return block;
  }

 private:
  const int64_t queries_, rows_, heads_, by_head_;
};

/// A matrix of keys or values, whose rows are made float32 where they are of fewer bits.
struct Matrix {
  const char* data;
  const float* scales;  ///< of rows; null for 1
  int64_t row, col, scale_row;
  int32_t element;

  Matrix(const attention_frame& f, uint64_t address, const int64_t* strides, uint64_t scale_address, const int64_t* scale_strides, int64_t matrix)
      : row(strides[2]), col(strides[3]), scale_row(scale_strides[2]), element(f.element) {
    const int64_t batch = matrix / f.kv_heads, head = matrix % f.kv_heads;
    data = pointer<const char>(address) + (batch * strides[0] + head * strides[1]) * size();
    scales = scale_address == 0 ? nullptr : pointer<const float>(scale_address) + batch * scale_strides[0] + head * scale_strides[1];
  }

  bool is_float() const { return element == elem::F32; }
  int64_t size() const { return is_float() ? 4 : element == elem::I8 ? 1 : 2; }

  /// `count` rows of `width` numbers from `first` on: where they lie, or in `memory` [count, width].
  gemm::Operand<float> rows(int64_t first, int64_t count, int64_t width, float* memory) const {
    const char* from = data + first * row * size();
    if (is_float()) return {reinterpret_cast<const float*>(from), row, col, false};
    if (element == elem::I8) scale(reinterpret_cast<const int8_t*>(from), first, count, width, memory);
    else if (element == elem::BF16) widen(reinterpret_cast<const ptlite::bfloat16*>(from), count, width, memory);
    else widen(reinterpret_cast<const ptlite::float16*>(from), count, width, memory);
    return {memory, width, 1, false};
  }

 private:
  template <class Half>
  void widen(const Half* from, int64_t count, int64_t width, float* to) const {
    using F = ptlite::Vec<float>;
    for (int64_t r = 0; r < count; r++, from += row, to += width) {
      int64_t d = 0;
      if (col == 1) {
        for (; d < width; d += F::size) {
          const int64_t some = std::min<int64_t>(F::size, width - d);
          load_float(from + d, some).store(to + d, some);
        }
      }
      for (; d < width; d++) to[d] = to_float(from[d * col]);
    }
  }

  void scale(const int8_t* from, int64_t first, int64_t count, int64_t width, float* to) const {
    using F = ptlite::Vec<float>;
    for (int64_t r = 0; r < count; r++, from += row, to += width) {
      const float by = scales == nullptr ? 1.f : scales[(first + r) * scale_row];
      int64_t d = 0;
      if (col == 1) {
        for (; d + F::size <= width; d += F::size) (F::load_from(from + d) * F(by)).store(to + d);
      }
      for (; d < width; d++) to[d] = float(from[d * col]) * by;
    }
  }
};

struct Operands {
  Matrix key, value;

  Operands(const attention_frame& f, int64_t matrix)
      : key(f, f.key, f.key_strides, f.key_scales, f.key_scale_strides, matrix),
        value(f, f.value, f.value_strides, f.value_scales, f.value_scale_strides, matrix) {}
};

int32_t few_queries(const attention_frame& f) {
  const int64_t work = int64_t{f.group} * f.queries * f.keys * (int64_t{f.depth} + f.width);
  std::atomic<bool> fine{true};
  ptlite::parallel_for(int64_t{f.batch} * f.kv_heads, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    const int64_t own = few_rows_size(f.keys, f.depth, f.width), wide = f.element == elem::F32 ? 0 : f.keys * (int64_t{f.depth} + f.width);
    float* memory = static_cast<float*>(ptlite::range_scratch(size_t(own + wide) * sizeof(float)));
    if (memory == nullptr) {
      fine = false;
      return;
    }
    for (int64_t matrix = begin; matrix < end; matrix++) {
      const Rows rows(f, matrix);
      const Operands operands(f, matrix);
      Row list[kFewRows];
      for (int64_t r = 0; r < rows.count(); r++) list[r] = rows.at(r);
      const KeyRange seen = f.causal != 0 ? KeyRange{0, f.keys}
                                          : seen_by(
                                                rows.count(), f.keys, [&](int64_t r) -> const Mask& { return list[r].mask; },
                                                [&](int64_t r) { return list[r].position; });
      for (int64_t r = 0; r < rows.count(); r++) list[r].mask = list[r].mask.from(seen.begin);
      const int64_t count = seen.end - seen.begin;
      const auto key = operands.key.rows(seen.begin, count, f.depth, memory + own);
      const auto value = operands.value.rows(seen.begin, count, f.width, memory + own + count * f.depth);
      if (!few_rows(list, rows.count(), f.query_strides[3], key, value, count, f.depth, f.width, f.scale, f.causal != 0, f.safe != 0, memory)) {
        fine = false;
      }
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t many_queries(const attention_frame& f) {
  const int64_t matrices = int64_t{f.batch} * f.kv_heads, tile = tile_keys(f.keys);
  const Blocks blocks(f);
  // each share of a matrix packs what it reads of keys and values
  const int64_t wanted = 2 * ptlite::thread_limit();
  const int64_t shares = ptlite::thread_limit() == 1 ? 1 : std::min(blocks.count(), (wanted + matrices - 1) / matrices);
  const int64_t value_rows = gemm::round_up(f.width, gemm::kRows);
  const int64_t key_size = gemm::round_up(gemm::round_up(f.keys, gemm::kRows) * f.depth, 16);
  const int64_t value_size = gemm::round_up(value_rows * f.keys, 16);
  const int64_t work = blocks.count() * kBlock * f.keys * (int64_t{f.depth} + f.width) / shares;
  std::atomic<bool> fine{true};
  ptlite::parallel_for(matrices * shares, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    const int64_t own = BlockMemory::size(f.depth, f.width, tile), wide = f.element == elem::F32 ? 0 : tile * std::max(f.depth, f.width);
    const size_t floats = size_t(key_size + value_size + own + wide);
    float* keys = static_cast<float*>(ptlite::range_scratch(floats * sizeof(float)));
    if (keys == nullptr) {
      fine = false;
      return;
    }
    float* values = keys + key_size;
    const BlockMemory memory(values + value_size, f.depth, tile);
    float* widened = values + value_size + own;
    for (int64_t unit = begin, packed = 0; unit < end; unit++) {
      const int64_t matrix = unit / shares;
      if (unit == begin || unit % shares == 0) packed = 0;
      const Rows rows(f, matrix);
      const Operands operands(f, matrix);
      for (int64_t b = unit % shares; b < blocks.count(); b += shares) {
        const Block block = blocks.at(b, rows);
        const KeyRange range = f.causal != 0 ? KeyRange{0, std::min<int64_t>(f.keys, block.highest + 1)} : seen_by(block, f.keys);
        const int64_t begin_key = range.begin / tile * tile, seen = range.end;
        for (; packed < seen; packed += tile) {
          const int64_t count = std::min<int64_t>(tile, f.keys - packed);
          const auto key = operands.key.rows(packed, count, f.depth, widened);
          gemm::pack_a<float>(count, f.depth, key.data, key.row, key.col, keys + packed * f.depth);
          const auto value = operands.value.rows(packed, count, f.width, widened);
          gemm::pack_a<float>(f.width, count, value.data, value.col, value.row, values + packed * value_rows);
        }
        block_of_queries(block, f.query_strides[3], keys, values, value_rows, f.keys, begin_key, seen, tile, f.depth, f.width, f.scale, f.causal != 0,
                         f.safe != 0, memory);
      }
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t attention_kernel(attention_frame* frame) {
  return int64_t{frame->group} * frame->queries <= kFewRows ? few_queries(*frame) : many_queries(*frame);
}

}  // namespace

PTLITE_KERNEL(attention, attention_kernel)
