// Block-sparse column format: the weight [n, k] of a linear layer in blocks of 1 input channel by `width` output channels. Per group of
// `width` output channels, the non-zero blocks follow each other along k.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace ptlite {
namespace jit {

// A float32 weight [n, k] with strides in elements; n_group is that of 16 outputs.
struct DenseWeight {
  const float* data;
  int64_t n, k;
  int64_t n_stride, n_group, k_stride;

  int64_t columns(int width) const { return (n + width - 1) / width; }
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
  // Writes the dense weight, contiguous.
  void write_dense(float* out) const;

  int64_t columns() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t blocks() const { return start.empty() ? 0 : start.back(); }
  const float* values() const { return values_; }
  size_t bytes() const { return static_cast<size_t>(blocks()) * width * sizeof(float) + index.size() * sizeof(int32_t); }

  int width = 0;
  int64_t n = 0, k = 0;
  std::vector<int64_t> start;  // first block of each column, and the end
  std::vector<int32_t> index;  // input channel of each block

 private:
  float* values_ = nullptr;  // width floats per block, 64-byte aligned
};

}  // namespace jit
}  // namespace ptlite
