#include "jit/emitter.h"

#include <string.h>

#include "vec/generated/coefficients.h"

namespace ptlite {
namespace jit {

using Xbyak::Operand;
using Xbyak::Xmm;

Emitter::Condition::Condition(Emitter& e, const Xmm& a, const Operand& b, uint8_t predicate) : e_(e) {
  RegisterSet& set = e.g.wide() ? e.masks_ : e.vectors_;
  index_ = set.acquire();
  if (index_ < 0) {
    e.failed = true;
    return;
  }
  if (e.g.wide()) {
    e.g.vcmpps(Xbyak::Opmask(index_), a, b, predicate);
  } else {
    e.g.vcmpps(e.g.vec(index_), a, b, predicate);
  }
}

Emitter::Condition::~Condition() {
  if (index_ >= 0) (e_.g.wide() ? e_.masks_ : e_.vectors_).give(index_);
}

void Emitter::Condition::select(const Xmm& x, const Operand& value) const {
  if (index_ < 0) return;
  if (e_.g.wide()) {
    e_.g.vblendmps(x | Xbyak::Opmask(index_), x, value);
  } else {
    e_.g.vblendvps(x, x, value, e_.g.vec(index_));
  }
}

void Emitter::look_up(const Xmm& to, const Xmm& index, const float (&words)[32]) {
  std::vector<uint32_t> bits(32);
  memcpy(bits.data(), words, sizeof words);
  Xbyak::Label& table = g.base().table(bits);
  using namespace Xbyak::util;
  if (g.count() == 1) {
    g.vmovaps(to, g.base().ptr[rip + table]);
    g.vpermt2ps(to, index, g.base().ptr[rip + table + 64]);
    return;
  }
  const Scratch upper(*this);
  const One one = g.one(upper);
  g.base().vmovaps(one.real, g.base().ptr[rip + table + 64]);
  g.vmovaps(to, g.base().ptr[rip + table]);
  g.vpermt2ps(to, index, one);
}

void Emitter::at_most(const Xmm& x, float bound) {
  // of two operands with a NaN, the instruction gives the second
  const Scratch limit(*this);
  const One one = g.one(limit);
  g.base().broadcast(one.real, bound);
  g.vminps(x, one, x);
}

void Emitter::at_least(const Xmm& x, float bound) {
  const Scratch limit(*this);
  const One one = g.one(limit);
  g.base().broadcast(one.real, bound);
  g.vmaxps(x, one, x);
}

void Emitter::jump_if_none_below(const Xmm& x, float bound, Xbyak::Label& to) {
  // negative floats are greater than all others as unsigned integers, and the greater the lower they are
  constexpr uint8_t greater_integer = 6;
  uint32_t word;
  memcpy(&word, &bound, sizeof word);
  const Scratch lowest(*this);
  const One one = g.one(g.count() == 1 ? x : lowest);
  g.vpmaxud_all(one, x);
  const int index = masks_.acquire();
  if (index < 0) {
    failed = true;
    return;
  }
  const Xbyak::Opmask k(g.mask(index, 0));
  g.base().vpcmpud(k, one.real, bits(word), greater_integer);
  g.base().kortestw(k, k);
  g.base().jz(to, Xbyak::CodeGenerator::T_NEAR);
  masks_.give(index);
}

void Emitter::round(const Xmm& to, const Xmm& x) {
  constexpr uint8_t nearest_even = 8;
  if (g.wide()) {
    g.vrndscaleps(to, x, nearest_even);
  } else {
    g.vroundps(to, x, nearest_even);
  }
}

void Emitter::split_exp(const Xmm& x, const Xmm& n) {
  at_most(x, coefficients::EXP_HIGH);
  // low enough for e^x to vanish even beside a factor of 128
  at_least(x, coefficients::EXP_LOWEST);
  g.vmulps(n, x, c(coefficients::LOG2_E));
  round(n, n);
  g.vfnmadd231ps(x, n, c(coefficients::LN2_HIGH));
  g.vfnmadd231ps(x, n, c(coefficients::LN2_LOW));
  const Scratch p(*this);
  const Scratch square(*this);
  polynomial(p, x, coefficients::EXP);
  g.vmulps(square, x, x);
  g.vfmadd231ps(x, p, square);
}

void Emitter::split_exp_minus(const Xmm& w, const Xmm& n, const Xmm* low, bool half) {
  const float unit = half ? 0.5f : 1.f;
  g.broadcast(n, coefficients::ROUNDER);
  g.vfnmadd231ps(n, w, c(coefficients::LOG2_E * unit));
  g.vsubps(n, n, c(coefficients::ROUNDER));
  g.vfmadd231ps(w, n, c(coefficients::LN2 / unit));
  g.vfmadd231ps(w, n, c(-coefficients::LN2_EXCESS / unit));
  if (low != nullptr) g.vaddps(w, w, *low);
  const Scratch p(*this);
  float factor = 1;
  float scaled[sizeof coefficients::EXP_MINUS / sizeof(float)];
  for (size_t i = 0; i < sizeof scaled / sizeof(float); i++, factor *= unit) scaled[i] = coefficients::EXP_MINUS[i] * factor;
  polynomial(p, w, scaled);
  copy(w, p);
}

void Emitter::scale_keeping(const Xmm& x, const Xmm& n) {
  if (g.wide()) {
    scale(x, n);
    return;
  }
  const Scratch spent(*this);
  copy(spent, n);
  scale(x, spent);
}

void Emitter::scale(const Xmm& x, const Xmm& n) {
  if (g.wide()) {
    g.vscalefps(x, x, n);
    return;
  }
  // in two steps, so that neither power leaves the range; n is spent
  const Scratch half(*this);
  g.vcvtps2dq(n, n);
  g.vpsrad(half, n, 1);
  g.vpsubd(n, n, half);
  g.vpaddd(half, half, bits(127));
  g.vpslld(half, half, 23);
  g.vmulps(x, x, half);
  g.vpaddd(n, n, bits(127));
  g.vpslld(n, n, 23);
  g.vmulps(x, x, n);
}

void Emitter::exp(const Xmm& x) {
  const Scratch n(*this);
  split_exp(x, n);
  g.vaddps(x, x, c(1.f));
  scale(x, n);
}

void Emitter::log(const Xmm& x) {
  const Scratch original(*this);
  const Scratch k(*this);
  copy(original, x);
  // denormals are scaled up first; 25 is taken off the exponent again
  g.vmulps(k, x, c(0x1p25f));
  Condition(*this, original, c(coefficients::SMALLEST_NORMAL), less).select(x, k);
  // the exponent counts from sqrt(1/2), so that the mantissa lies around 1
  g.vpsubd(k, x, bits(0x3f3504f3));
  g.vpsrad(k, k, 23);
  {
    const Scratch exponent(*this);
    g.vpslld(exponent, k, 23);
    g.vpsubd(x, x, exponent);
  }
  g.vcvtdq2ps(k, k);
  {
    const Scratch lower(*this);
    g.vsubps(lower, k, c(25.f));
    Condition(*this, original, c(coefficients::SMALLEST_NORMAL), less).select(k, lower);
  }
  g.vsubps(x, x, c(1.f));
  const Scratch tail(*this);
  const Scratch square(*this);
  // the order of operations is that of the compiled function in vec/math.h
  polynomial(tail, x, coefficients::LOG);
  g.vmulps(square, x, x);
  {
    const Scratch cube(*this);
    g.vmulps(cube, square, x);
    g.vmulps(tail, tail, cube);
  }
  g.vfmadd231ps(tail, k, c(coefficients::LN2_LOW));
  g.vfnmadd231ps(tail, square, c(0.5f));
  g.vaddps(x, x, tail);
  g.vfmadd231ps(x, k, c(coefficients::LN2_HIGH));
  Condition(*this, original, c(__builtin_inff()), equal).select(x, original);
  Condition(*this, original, c(0.f), equal).select(x, c(-__builtin_inff()));
  Condition(*this, original, c(0.f), less).select(x, c(__builtin_nanf("")));
  Condition(*this, original, original, is_nan).select(x, original);
}

}  // namespace jit
}  // namespace ptlite
