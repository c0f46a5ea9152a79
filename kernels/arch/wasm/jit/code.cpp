#include "jit/code.h"

#include <stddef.h>

#include <new>

#include "jit/elementwise_call.h"
#include "jit/sparse_call.h"
#include "os/wasi/imports.h"

namespace ptlite {
namespace jit {

// The places that runtime/native/wasm/emit/calls.ts has.
static_assert(offsetof(ElementwiseCall, out) == 0 && offsetof(ElementwiseCall, in) == 4 && offsetof(ElementwiseCall, rows) == 40 &&
                  offsetof(ElementwiseCall, length) == 48 && offsetof(ElementwiseCall, out_step) == 56 && offsetof(ElementwiseCall, in_step) == 64 &&
                  offsetof(ElementwiseCall, more) == 128 && offsetof(ElementwiseCall, more_step) == 144,
              "the call of element-wise code");
static_assert(offsetof(SparseCall, panels) == 0 && offsetof(SparseCall, panel_bytes) == 8 && offsetof(SparseCall, offsets) == 16 &&
                  offsetof(SparseCall, blocks) == 24 && offsetof(SparseCall, values) == 32 && offsetof(SparseCall, bias) == 36 &&
                  offsetof(SparseCall, out) == 40 && offsetof(SparseCall, m) == 48 && offsetof(SparseCall, out_bytes) == 56 &&
                  offsetof(SparseCall, operands) == 64 && offsetof(SparseCall, operand_bytes) == 96 && offsetof(SparseCall, lanes) == 160,
              "the call of sparse products");

Kernel* Description::generate() const {
  auto* const kernel = new (std::nothrow) Kernel;
  if (kernel == nullptr) return nullptr;
  const int32_t bytes = ptlite_generate(static_cast<int32_t>(kind_), words_, count_, &kernel->start);
  if (bytes == 0) {
    delete kernel;
    return nullptr;
  }
  kernel->code.bytes = static_cast<size_t>(bytes);
  return kernel;
}

void release(Kernel* kernel) {
  ptlite_discard(&kernel->start);
  delete kernel;
}

}  // namespace jit
}  // namespace ptlite
