// What generators of block-sparse products with outputs [m, n] share: rows of a panel, and columns that may end within a vector.
#pragma once

#include <stddef.h>

#include "frames/jit.h"
#include "jit/generator.h"
#include "jit/sparse_call.h"
#include "jit/sparse_matrix.h"

namespace ptlite {
namespace jit {

// Loads and stores a vector of the last column cut to n: by mask register `mask`, or with AVX2 by the mask in the call, which goes to
// vector register `mask`.
class ColumnTransfer {
 public:
  ColumnTransfer(Generator& generator, const Xbyak::Reg64& call, int mask) : g_(generator), call_(call), mask_(mask) {}

  void load(const Xbyak::Xmm& to, const Xbyak::Address& from) const {
    if (g_.wide()) {
      g_.vmovups(to | Xbyak::Opmask(mask_) | Xbyak::util::T_z, from);
    } else {
      load_mask();
      g_.vmaskmovps(to, g_.vec(mask_), from);
    }
  }
  void store(const Xbyak::Address& to, const Xbyak::Xmm& from) const {
    if (g_.wide()) {
      g_.vmovups(to | Xbyak::Opmask(mask_), from);
    } else {
      load_mask();
      g_.vmaskmovps(to, g_.vec(mask_), from);
    }
  }

 private:
  void load_mask() const { g_.vmovups(g_.vec(mask_), g_.ptr[call_ + static_cast<int>(offsetof(SparseCall, mask))]); }

  Generator& g_;
  const Xbyak::Reg64 call_;
  const int mask_;
};

// A vector of weights, widened where they are bfloat16.
inline void load_weights(Generator& g, const SparseMatrix& matrix, const Xbyak::Xmm& to, const Xbyak::Address& from) {
  if (!matrix.halves) {
    g.vmovups(to, from);
    return;
  }
  g.vpmovzxwd(to, from);
  g.vpslld(to, to, 16);
}

// Brings the address of operand `index` to r10, where it is a full one that of its row r11, by way of rax. A scalar is loaded, which gives
// false; else a vector of columns is left to load.
inline bool locate_operand(Generator& g, const Xbyak::Reg64& call, const Xbyak::Xmm& to, int32_t access, int index) {
  using namespace Xbyak::util;
  g.mov(r10, g.ptr[call + static_cast<int>(offsetof(SparseCall, operands)) + 8 * index]);
  if (access == JitAccess_scalar) {
    g.vbroadcastss(to, g.dword[r10]);
    return false;
  }
  if (access == JitAccess_full) {
    g.mov(rax, g.ptr[call + static_cast<int>(offsetof(SparseCall, operand_bytes)) + 8 * index]);
    g.imul(rax, r11);
    g.add(r10, rax);
  }
  return true;
}

// The registers of a loop over the rows of a panel: the output and its distance from row to row, the rows left, the first row's number.
struct RowRegisters {
  Xbyak::Reg64 out, out_bytes, left, row, cursor;
};

// Emits `body` per row of a panel of `rows` that exists. r11 is the row's number in the call, `cursor` its address.
template <class Body>
void for_rows(Generator& g, const RowRegisters& at, int rows, const Body& body) {
  using namespace Xbyak::util;
  Xbyak::Label end;
  g.mov(at.cursor, at.out);
  g.mov(r11, at.row);
  for (int row = 0; row < rows; row++) {
    if (row > 0) {
      g.cmp(at.left, row);
      g.jle(end, Xbyak::CodeGenerator::T_NEAR);
    }
    body(row);
    g.add(at.cursor, at.out_bytes);
    g.inc(r11);
  }
  g.L(end);
}

}  // namespace jit
}  // namespace ptlite
