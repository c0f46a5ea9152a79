// Descriptions of code for JavaScript, which generates it (runtime/native/wasm/emit) and keeps it (runtime/native/wasm/code-table.ts).
#pragma once

#include <stdint.h>
#include <string.h>

#include "jit/cache.h"

namespace ptlite {
namespace jit {

enum class CodeKind : int32_t { elementwise, sparse };

// Words in the order in which runtime/native/wasm/emit/descriptions.ts reads them.
class Description {
 public:
  explicit Description(CodeKind kind) : kind_(kind) {
#if defined(__wasm_relaxed_simd__)
    add(1);
#else
    add(0);
#endif
  }

  void add(int32_t word) { words_[count_++] = word; }
  void add(float number) {
    int32_t word;
    memcpy(&word, &number, sizeof word);
    add(word);
  }

  // A kernel of its own, which `release` gives up. nullptr where no code can be generated, or memory is short.
  Kernel* generate() const;

 private:
  static constexpr int kMost = 256;

  CodeKind kind_;
  int32_t count_ = 0;
  int32_t words_[kMost];
};

}  // namespace jit
}  // namespace ptlite
