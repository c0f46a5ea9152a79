#include "jit/emitter.h"

#include <string.h>

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

void Emitter::Condition::select(const Xmm& to, const Xmm& other, const Operand& value) const {
  if (index_ < 0) return;
  if (e_.g.wide()) {
    e_.g.vblendmps(to | Xbyak::Opmask(index_), other, value);
  } else {
    e_.g.vblendvps(to, other, value, e_.g.vec(index_));
  }
}

void Emitter::Condition::keep(const Xmm& to, const Operand& value) const {
  if (index_ < 0) return;
  if (e_.g.wide()) {
    e_.g.vxorps(to, to, to);
    select(to, value);
  } else {
    e_.g.vandps(to, e_.g.vec(index_), value);
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

}  // namespace jit
}  // namespace ptlite
