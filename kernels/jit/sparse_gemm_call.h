// What generated block-sparse GEMM takes.
#pragma once

#include <stdint.h>

namespace ptlite {
namespace jit {

constexpr int kMostPostOps = 8;

struct SparseCall {
  const float* panels;  // [panel][k][rows]
  const float* values;
  const float* bias;  // n floats; null for none
  float* out;
  int64_t m;
  int64_t out_bytes;  // from row to row
  const float* operands[kMostPostOps];
  int64_t operand_bytes[kMostPostOps];
};
using SparseFunction = void (*)(const SparseCall*);

}  // namespace jit
}  // namespace ptlite
