// Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", section 3.2.1) by blocks of rows: scores,
// softmax and the weighted sum of a block follow one another while it is in the second-level cache.
#include "frames/attention.h"
#include "isa/kernel.h"

#include <algorithm>
#include <atomic>

#include "gemm_core.h"
#include "pool/pool.h"
#include "softmax_row.h"

namespace {

namespace gemm = ptlite::gemm;

/// Bytes of a block of scores.
constexpr int64_t kScoreBytes = 1 << 17;

template <class T>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

/// Start of the matrix of one batch and head.
int64_t start(const int64_t* strides, int64_t batch, int64_t head) { return batch * strides[0] + head * strides[1]; }

/// Rows of a block: whole register tiles, all blocks about equal. It follows from the sizes alone, so that any number of
/// threads gives the same bits.
int64_t rows_of_block(int64_t queries, int64_t keys) {
  const int64_t most = std::max<int64_t>(1, kScoreBytes / int64_t(sizeof(float)) / (gemm::kRows * keys)) * gemm::kRows;
  const int64_t blocks = (queries + most - 1) / most;
  return gemm::round_up((queries + blocks - 1) / blocks, gemm::kRows);
}

int32_t attention_kernel(attention_frame* frame) {
  const attention_frame& f = *frame;
  const int64_t rows = rows_of_block(f.queries, f.keys);
  const int64_t blocks = (f.queries + rows - 1) / rows;
  const int64_t key_size = gemm::round_up(gemm::packed_b_size<float>(f.keys, f.depth), 16);
  const int64_t value_size = gemm::round_up(gemm::packed_b_size<float>(f.width, f.keys), 16);
  std::atomic<bool> fine{true};
  const int64_t work = rows * f.keys * (int64_t{f.depth} + f.width);
  ptlite::parallel_for(int64_t{f.batch} * f.heads * blocks, ptlite::grain_for(work), [&](int64_t begin, int64_t end) {
    float* keys = static_cast<float*>(ptlite::range_scratch(size_t(key_size + value_size + rows * f.keys) * sizeof(float)));
    if (keys == nullptr) {
      fine = false;
      return;
    }
    float* values = keys + key_size;
    float* scores = values + value_size;
    for (int64_t i = begin, packed = -1; i < end; i++) {
      const int64_t matrix = i / blocks, batch = matrix / f.heads, head = matrix % f.heads;
      if (matrix != packed) {
        const float* key = pointer<const float>(f.key) + start(f.key_strides, batch, head);
        const float* value = pointer<const float>(f.value) + start(f.value_strides, batch, head);
        gemm::pack_b<float>(f.depth, f.keys, key, f.key_strides[3], f.key_strides[2], keys);
        gemm::pack_b<float>(f.keys, f.width, value, f.value_strides[2], f.value_strides[3], values);
        packed = matrix;
      }
      const int64_t row = i % blocks * rows, count = std::min<int64_t>(rows, f.queries - row);
      gemm::Epilogue<float> e;
      e.alpha = f.scale;
      if (f.mask != 0) {
        e.source = pointer<const float>(f.mask) + start(f.mask_strides, batch, head) + row * f.mask_strides[2];
        e.source_row = f.mask_strides[2];
        e.source_col = f.mask_strides[3];
      }
      const float* query = pointer<const float>(f.query) + start(f.query_strides, batch, head) + row * f.query_strides[2];
      const gemm::Operand<float> q{query, f.query_strides[2], f.query_strides[3], false};
      if (!gemm::multiply<float>(count, f.keys, f.depth, q, {keys, 0, 0, true}, scores, f.keys, e)) fine = false;
      for (int64_t r = 0; r < count; r++) ptlite::softmax_row<float>(scores + r * f.keys, scores + r * f.keys, f.keys, false);
      float* out = pointer<float>(f.out) + start(f.out_strides, batch, head) + row * f.out_strides[2];
      const gemm::Operand<float> weights{scores, f.keys, 1, false};
      if (!gemm::multiply<float>(count, f.width, f.keys, weights, {values, 0, 0, true}, out, f.out_strides[2], {})) fine = false;
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

}  // namespace

PTLITE_KERNEL(attention, attention_kernel)
