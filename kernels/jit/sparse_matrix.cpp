#include "jit/sparse_matrix.h"

#include <string.h>

#include <algorithm>

#include "frames/sparse.h"
#include "dispatch/kernel.h"
#include "jit/sparse_generators.h"
#include "os/heap.h"
#include "ptlite_abi.h"
#include "support/bfloat16_bits.h"

namespace ptlite {
namespace jit {

namespace {

float read(const char* from, bool halves) {
  if (!halves) {
    float x;
    memcpy(&x, from, sizeof x);
    return x;
  }
  uint16_t bits;
  memcpy(&bits, from, sizeof bits);
  return bfloat16_to_float(bits);
}

}  // namespace

bool DenseWeight::read_block(int64_t column, int64_t kk, int width, float* block) const {
  bool any = false;
  for (int i = 0; i < width; i++) {
    const int64_t row = column * width + i;
    block[i] = row < n ? read(element(row, kk), halves) : 0.f;
    // NaN counts as a value
    any |= !(block[i] == 0.f);
  }
  return any;
}

SparseMatrix::~SparseMatrix() { free_aligned(own_); }

bool SparseMatrix::build(const DenseWeight& dense, int block_width) {
  width = block_width;
  halves = dense.halves;
  n = dense.n;
  k = dense.k;
  float block[16];
  start.assign(1, 0);
  index.clear();
  for (int64_t column = 0; column < dense.columns(width); column++) {
    for (int64_t kk = 0; kk < k; kk++) {
      if (dense.read_block(column, kk, width, block)) index.push_back(static_cast<int32_t>(kk));
    }
    start.push_back(static_cast<int64_t>(index.size()));
  }
  const size_t bytes = (index.size() * static_cast<size_t>(block_bytes()) + 63) / 64 * 64;
  own_ = static_cast<char*>(allocate_aligned(64, std::max<size_t>(bytes, 64)));
  values_ = own_;
  if (own_ == nullptr) return false;
  for (int64_t column = 0; column < columns(); column++) {
    for (int64_t i = start[column]; i < start[column + 1]; i++) {
      dense.read_block(column, index[i], width, block);
      store(i, block);
    }
  }
  return true;
}

bool SparseMatrix::borrow(const char* values, const int32_t* channels, const int64_t* from, int64_t count) {
  const int64_t columns = (n + width - 1) / width;
  if (from[0] != 0 || from[columns] != count) return false;
  for (int64_t column = 0; column < columns; column++) {
    if (from[column + 1] < from[column] || from[column + 1] > count) return false;
    for (int64_t i = from[column]; i < from[column + 1]; i++) {
      if (channels[i] < (i == from[column] ? 0 : channels[i - 1] + 1) || channels[i] >= k) return false;
    }
  }
  start.assign(from, from + columns + 1);
  index.assign(channels, channels + count);
  values_ = values;
  return true;
}

void SparseMatrix::store(int64_t block, const float* from) {
  char* to = own_ + block * block_bytes();
  for (int lane = 0; lane < width; lane++, to += value_bytes()) {
    if (!halves) {
      memcpy(to, from + lane, sizeof(float));
      continue;
    }
    // exact: it was widened
    uint32_t bits;
    memcpy(&bits, from + lane, sizeof bits);
    const auto upper = static_cast<uint16_t>(bits >> 16);
    memcpy(to, &upper, sizeof upper);
  }
}

void SparseMatrix::write_dense(float* out) const {
  memset(out, 0, static_cast<size_t>(n) * static_cast<size_t>(k) * sizeof(float));
  for (int64_t column = 0; column < columns(); column++) {
    for (int64_t i = start[column]; i < start[column + 1]; i++) {
      for (int lane = 0; lane < width && column * width + lane < n; lane++) {
        out[(column * width + lane) * k + index[i]] = read(values_ + i * block_bytes() + lane * value_bytes(), halves);
      }
    }
  }
}

}  // namespace jit
}  // namespace ptlite

namespace {

using ptlite::jit::DenseWeight;

int32_t share(sparse_share_frame* f) {
  // 0 asks for the width of the kernels in use
  const int width = f->width > 0 ? f->width : ptlite::jit::sparse_sizes().block;
  f->width_used = width;
  f->blocks = 0;
  f->zero_blocks = 0;
  if (width > 16) return PTLITE_INDEX_RANGE;
  const DenseWeight weight{reinterpret_cast<char*>(f->weight), f->dtype == PTLITE_BFLOAT16, f->n, f->k, f->n_stride, f->n_group, f->k_stride};
  float block[16];
  for (int64_t column = 0; column < weight.columns(width); column++) {
    for (int64_t kk = 0; kk < weight.k; kk++) {
      f->blocks++;
      if (!weight.read_block(column, kk, width, block)) f->zero_blocks++;
    }
  }
  return PTLITE_OK;
}

int32_t prune(sparse_prune_frame* f) {
  const int width = f->width;
  if (width < 1 || width > 16) return PTLITE_INDEX_RANGE;
  const DenseWeight weight{reinterpret_cast<char*>(f->weight), f->dtype == PTLITE_BFLOAT16, f->n, f->k, f->n_stride, 16 * f->n_stride, f->k_stride};
  struct Block {
    double size;
    int64_t at;
  };
  std::vector<Block> blocks;
  float block[16];
  for (int64_t column = 0; column < weight.columns(width); column++) {
    for (int64_t kk = 0; kk < weight.k; kk++) {
      weight.read_block(column, kk, width, block);
      double size = 0;
      for (int i = 0; i < width; i++) size += static_cast<double>(block[i]) * block[i];
      blocks.push_back({size, column * weight.k + kk});
    }
  }
  const int64_t zeros = std::clamp<int64_t>(f->zeros, 0, static_cast<int64_t>(blocks.size()));
  // ties by position, so that the result does not depend on the sort
  const auto smaller = [](const Block& a, const Block& b) { return a.size != b.size ? a.size < b.size : a.at < b.at; };
  std::sort(blocks.begin(), blocks.end(), smaller);
  f->kept = 0;
  f->lost = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(blocks.size()); i++) {
    (i < zeros ? f->lost : f->kept) += blocks[i].size;
    if (i >= zeros) continue;
    const int64_t column = blocks[i].at / weight.k, kk = blocks[i].at % weight.k;
    for (int64_t row = column * width; row < std::min<int64_t>(weight.n, (column + 1) * width); row++) memset(weight.element(row, kk), 0, weight.halves ? 2 : 4);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sparse_share, share)
PTLITE_KERNEL(sparse_prune, prune)
