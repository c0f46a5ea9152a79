// Block-sparse column format: the weight [n, k] of a linear layer in blocks of 1 input channel by `width` output channels. Per group of
// `width` output channels, the non-zero blocks follow each other along k.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace ptlite {
namespace jit {

// A weight [n, k] of float32, or of bfloat16, with strides in elements; n_group is that of 16 outputs.
struct DenseWeight {
  char* data;
  bool halves;
  int64_t n, k;
  int64_t n_stride, n_group, k_stride;

  int64_t columns(int width) const { return (n + width - 1) / width; }
  char* element(int64_t row, int64_t kk) const { return data + (row / 16 * n_group + row % 16 * n_stride + kk * k_stride) * (halves ? 2 : 4); }
  // Block `kk` of column `column`, filled up with zeros beyond n. False where all are zero.
  bool read_block(int64_t column, int64_t kk, int width, float* block) const;
};

class SparseMatrix {
 public:
  SparseMatrix() = default;
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  ~SparseMatrix();

  // False where memory is short.
  bool build(const DenseWeight& dense, int block_width);
  // Blocks that lie at `values` already, and stay there: `from` has the first of each column, and their number at the end. False where these are no
  // columns of blocks in order.
  bool borrow(const char* values, const int32_t* channels, const int64_t* from, int64_t count);
  // Writes the dense weight, contiguous.
  void write_dense(float* out) const;

  int64_t columns() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t blocks() const { return start.empty() ? 0 : start.back(); }
  const char* values() const { return values_; }
  int value_bytes() const { return halves ? 2 : 4; }
  int block_bytes() const { return width * value_bytes(); }
  size_t bytes() const { return static_cast<size_t>(blocks()) * block_bytes() + index.size() * sizeof(int32_t); }

  int width = 0;
  bool halves = false;  // values are bfloat16
  int64_t n = 0, k = 0;
  std::vector<int64_t> start;  // first block of each column, and the end
  std::vector<int32_t> index;  // input channel of each block

 private:
  void store(int64_t block, const float* from);  // in own_

  const char* values_ = nullptr;  // block_bytes() per block, 64-byte aligned
  char* own_ = nullptr;           // where they are of this matrix
};

}  // namespace jit
}  // namespace ptlite
