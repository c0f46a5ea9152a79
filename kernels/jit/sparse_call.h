// What generated block-sparse GEMM takes. Activations lie in panels of a kernel's `rows` rows of x, [k][stride] each.
#pragma once

#include <stdint.h>

#include "frames/limits.h"
#include "jit/handle.h"

namespace ptlite {
namespace jit {

constexpr int kMostPostOps = PTLITE_SPARSE_POST_OPS;
// Blocks by which code reads ahead; `offsets` has as many entries behind the last one.
constexpr int kSparseAhead = 3;

// One column of blocks over all panels; unrolled kernels take the whole weight, and leave out what their code knows.
struct SparseCall {
  const float* panels;
  int64_t panel_bytes;     // from panel to panel
  const int32_t* offsets;  // of the channel of each block, in bytes from the start of a panel
  int64_t blocks;
  const char* values;
  const float* bias;  // at the column; null for none
  float* out;         // at the column
  int64_t m;
  int64_t out_bytes;  // from row to row; from channel to channel where x and out are channel-major
  const float* operands[kMostPostOps];  // of binary post-ops, at the column
  int64_t operand_bytes[kMostPostOps];
  int32_t lanes;      // output channels of the column
  uint32_t mask[8];   // of these lanes: bits in the first word with AVX512, words with AVX2
};
using SparseFunction = void(PTLITE_GENERATED_CALL*)(const SparseCall*);

}  // namespace jit
}  // namespace ptlite
