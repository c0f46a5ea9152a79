// How generated element-wise loops are called, for code that is compiled without the assembler.
#pragma once

#include <stdint.h>

#include "frames/limits.h"
#include "jit/handle.h"

namespace ptlite {
namespace jit {

constexpr int kMostInputs = PTLITE_CHAIN_INPUTS;
// Outputs beside the last step's.
constexpr int kMostMore = PTLITE_CHAIN_MORE;

// Rows of `length` elements. Steps from row to row are in bytes.
struct ElementwiseCall {
  void* out;
  const void* in[kMostInputs];
  int64_t rows;
  int64_t length;
  int64_t out_step;
  int64_t in_step[kMostInputs];
  void* more[kMostMore];
  int64_t more_step[kMostMore];
};
using ElementwiseFunction = void(PTLITE_GENERATED_CALL*)(const ElementwiseCall*);

// Runs the kernel of a handle of jit_elementwise_create.
inline void run_elementwise(int64_t handle, const ElementwiseCall& call) {
  reinterpret_cast<ElementwiseFunction>(reinterpret_cast<const Handle*>(handle)->start)(&call);
}

}  // namespace jit
}  // namespace ptlite
