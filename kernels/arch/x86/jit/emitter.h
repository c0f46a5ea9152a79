// Building blocks of vector code that are the same for both widths: scratch registers, comparisons and selections, exponentials.
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
    explicit Scratch(Emitter& e) : e_(e), index_(e.vectors_.acquire()) {
      if (index_ < 0) e.failed = true;
    }
    ~Scratch() {
      if (index_ >= 0) e_.vectors_.give(index_);
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

    // x = condition ? value : x
    void select(const Xbyak::Xmm& x, const Xbyak::Operand& value) const;

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
  // to = sum of coefficients[i] x^i
  template <int n>
  void polynomial(const Xbyak::Xmm& to, const Xbyak::Xmm& x, const float (&coefficients)[n]) {
    g.broadcast(to, coefficients[n - 1]);
    for (int i = n - 2; i >= 0; i--) g.vfmadd213ps(to, x, c(coefficients[i]));
  }

  // Jumps where no lane of x is below `bound`, which is negative; with a NaN it may not jump. AVX-512 only.
  void jump_if_none_below(const Xbyak::Xmm& x, float bound, Xbyak::Label& to);
  // to = words[index mod 32], lane by lane; AVX-512 only
  void look_up(const Xbyak::Xmm& to, const Xbyak::Xmm& index, const float (&words)[32]);

  // x -> p and n with e^x = (1 + p) 2^n and |p| < 0.42; n an integer, kept as float. x beyond the range of results is cut to it.
  void split_exp(const Xbyak::Xmm& x, const Xbyak::Xmm& n);
  // w >= 0 -> w and n with e^-(w + low) = w 2^n; n is an integer, kept as float, and w in 0.7..1.42. With `half`, e^-((w + low) / 2).
  // w + low must not exceed 150.
  void split_exp_minus(const Xbyak::Xmm& w, const Xbyak::Xmm& n, const Xbyak::Xmm* low = nullptr, bool half = false);
  // x = x * 2^n, rounded once even where the result is denormal; n is spent
  void scale(const Xbyak::Xmm& x, const Xbyak::Xmm& n);
  // the same; n stays
  void scale_keeping(const Xbyak::Xmm& x, const Xbyak::Xmm& n);
  // x = e^x, at most 1 ULP of rounding beside the polynomial's 0.5
  void exp(const Xbyak::Xmm& x);
  // x = log(x), natural; -infinity at 0, NaN below
  void log(const Xbyak::Xmm& x);

  VectorGroup g;
  // no register was left somewhere: the code is not to be used
  bool failed = false;

 private:
  RegisterSet& vectors_;
  RegisterSet& masks_;
};

}  // namespace jit
}  // namespace ptlite
