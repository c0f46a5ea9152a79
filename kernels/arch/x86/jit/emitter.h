// Building blocks of vector code that are the same for both widths: scratch registers, comparisons and selections.
#pragma once

#include "jit/registers.h"
#include "jit/vector_group.h"

namespace ptlite {
namespace jit {

class Emitter {
 public:
  // `count` vectors at a time; `vectors` and `masks` then hand out numbers of groups.
  Emitter(Generator& generator, RegisterSet& vectors, RegisterSet& masks, int count = 1)
      : g(generator, count), vectors_(vectors), masks_(masks) {}

  // A vector register for as long as it lives. Where none is left, `failed` is set and register 0 stands in.
  class Scratch {
   public:
    explicit Scratch(Emitter& e) : e_(e), index_(e.acquire()) {}
    ~Scratch() {
      if (index_ >= 0) e_.give(index_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    operator Xbyak::Xmm() const { return e_.g.vec(index_ < 0 ? 0 : index_); }  // NOLINT: it stands for the register

   private:
    Emitter& e_;
    const int index_;
  };

  // The lanes for which `a <predicate> b` holds: a mask register, or a vector of all ones and zeros.
  class Condition {
   public:
    Condition(Emitter& e, const Xbyak::Xmm& a, const Xbyak::Operand& b, uint8_t predicate);
    ~Condition();
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    // to = condition ? value : other
    void select(const Xbyak::Xmm& to, const Xbyak::Xmm& other, const Xbyak::Operand& value) const;
    void select(const Xbyak::Xmm& x, const Xbyak::Operand& value) const { select(x, x, value); }
    // to = condition ? value : 0
    void keep(const Xbyak::Xmm& to, const Xbyak::Operand& value) const;

   private:
    Emitter& e_;
    int index_;
  };
  // Predicates of vcmpps; all are false for NaN but not_equal and is_nan.
  static constexpr uint8_t less = 0x11, less_equal = 0x12, greater = 0x1e, equal = 0x00, not_equal = 0x04, is_nan = 0x03;

  void copy(const Xbyak::Xmm& to, const Xbyak::Xmm& from) { g.vmovaps(to, from); }
  Xbyak::Address c(float value) { return g.constant(value); }
  Xbyak::Address bits(uint32_t word) { return g.constant_bits(word); }

  // x = min(x, bound) and max(x, bound); NaN stays
  void at_most(const Xbyak::Xmm& x, float bound);
  void at_least(const Xbyak::Xmm& x, float bound);
  // to = x rounded to the nearest integer, ties to even
  void round(const Xbyak::Xmm& to, const Xbyak::Xmm& x);
  // to = |x|
  void magnitude(const Xbyak::Xmm& to, const Xbyak::Xmm& x) { g.vandps(to, x, bits(0x7fffffff)); }

  // Jumps where no lane of x is below `bound`, which is negative; with a NaN it may not jump. AVX-512 only.
  void jump_if_none_below(const Xbyak::Xmm& x, float bound, Xbyak::Label& to);
  // to = words[index mod 32], lane by lane; AVX-512 only
  void look_up(const Xbyak::Xmm& to, const Xbyak::Xmm& index, const float (&words)[32]);

  // A vector register, until it is given back. Where none is left, `failed` is set, and it is -1.
  int acquire() {
    const int index = vectors_.acquire();
    failed |= index < 0;
    return index;
  }
  void give(int index) { vectors_.give(index); }
  bool has_free() const { return vectors_.free_count() > 0; }

  VectorGroup g;
  // no register was left somewhere: the code is not to be used
  bool failed = false;

 private:
  RegisterSet& vectors_;
  RegisterSet& masks_;
};

}  // namespace jit
}  // namespace ptlite
