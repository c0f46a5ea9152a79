// What all generators stand on: the assembler for one of two vector widths, registers, and constants behind the code.
#pragma once

#define XBYAK_NO_EXCEPTION
#include <xbyak/xbyak.h>
// macros of the headers that it takes from Windows
#undef near
#undef far

#include <stdint.h>

#include <deque>
#include <vector>

#include "jit/cache.h"

namespace ptlite {
namespace jit {

enum class Isa { none, avx2, avx512 };

// What generated code may use: from the level in use, ATEN_CPU_CAPABILITY included.
Isa current_isa();

class Generator : public Xbyak::CodeGenerator {
 public:
  // `capacity` bounds the code's bytes.
  Generator(Isa isa, size_t capacity);

  Isa isa() const { return isa_; }
  bool wide() const { return isa_ == Isa::avx512; }
  int vector_bytes() const { return wide() ? 64 : 32; }
  // fp32 elements of a vector
  int lanes() const { return vector_bytes() / 4; }
  int vector_count() const { return wide() ? 32 : 16; }

  // Vector register `index` of this width.
  Xbyak::Xmm vec(int index) const { return wide() ? Xbyak::Xmm(Xbyak::Zmm(index)) : Xbyak::Xmm(Xbyak::Ymm(index)); }

  // A constant in all lanes, as the last operand of an instruction. Equal ones are kept once.
  Xbyak::Address constant(float value);
  Xbyak::Address constant_bits(uint32_t bits);
  // Loads it into a register.
  void broadcast(const Xbyak::Xmm& to, float value);
  void broadcast_bits(const Xbyak::Xmm& to, uint32_t bits);

  // Writes the constants behind the last instruction; the second call does nothing.
  void write_constants();
  // A table of 32-bit words behind the code, vector-aligned. Equal ones are kept once.
  Xbyak::Label& table(const std::vector<uint32_t>& words);

  // As many ones as a vector has lanes, then as many zeros, as a table.
  Xbyak::Label& lane_masks();

  // Saves and restores the registers that the System V calling convention leaves to the callee.
  void enter();
  void leave();

 private:
  struct Constant {
    uint32_t bits;
    Xbyak::Label label;
  };
  struct Table {
    std::vector<uint32_t> words;
    Xbyak::Label label;
  };
  Xbyak::Label& label_of(uint32_t bits);

  const Isa isa_;
  bool written_ = false;
  std::deque<Constant> constants_;
  std::deque<Table> tables_;
  Xbyak::Label* lane_masks_ = nullptr;
};

// The finished code; empty after any error of the assembler.
Generated finish(Generator& generator);

}  // namespace jit
}  // namespace ptlite
