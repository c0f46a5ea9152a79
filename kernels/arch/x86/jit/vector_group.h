// The vector instructions of the emitters, on several vectors at a time: register i of an emitter stands for registers i * count to
// i * count + count - 1, and each instruction is emitted once for each of them. Long chains wait for their own results; the instructions
// of the others fill the time.
#pragma once

#include "jit/generator.h"

namespace ptlite {
namespace jit {

// A register by its own number, which serves all vectors of a group.
struct One {
  Xbyak::Xmm real;
};

class VectorGroup {
 public:
  VectorGroup(Generator& generator, int count) : g_(generator), count_(count) {}

  Generator& base() const { return g_; }
  int count() const { return count_; }
  bool wide() const { return g_.wide(); }
  Xbyak::Xmm vec(int index) const { return g_.vec(index); }
  Xbyak::Address constant(float value) { return g_.constant(value); }
  Xbyak::Address constant_bits(uint32_t bits) { return g_.constant_bits(bits); }
  void broadcast(const Xbyak::Xmm& to, float value) {
    for (int u = 0; u < count_; u++) g_.broadcast(at(to, u), value);
  }

  void broadcast_bits(const Xbyak::Xmm& to, uint32_t bits) {
    for (int u = 0; u < count_; u++) g_.broadcast_bits(at(to, u), bits);
  }

  // Masks that an emitter may take: 0 means none, 1 serves gathers, which are never grouped, and 2 tails.
  static int masks(int count) { return count == 1 ? 8 : 6 / count; }

#define PTLITE_BINARY_FORM(name)                                                             \
  void name(const Xbyak::Xmm& a, const Xbyak::Xmm& b, const Xbyak::Operand& c) {             \
    each(c, [&](int u, const auto& operand) { g_.name(at(a, u), at(b, u), operand); });      \
  }                                                                                          \
  void name(const Xbyak::Xmm& a, const Xbyak::Xmm& b, const One& c) {                        \
    for (int u = 0; u < count_; u++) g_.name(at(a, u), at(b, u), c.real);                    \
  }                                                                                          \
  void name(const Xbyak::Xmm& a, const One& b, const Xbyak::Xmm& c) {                        \
    for (int u = 0; u < count_; u++) g_.name(at(a, u), b.real, at(c, u));                    \
  }
  PTLITE_BINARY_FORM(vaddps)
  PTLITE_BINARY_FORM(vsubps)
  PTLITE_BINARY_FORM(vmulps)
  PTLITE_BINARY_FORM(vdivps)
  PTLITE_BINARY_FORM(vminps)
  PTLITE_BINARY_FORM(vmaxps)
  PTLITE_BINARY_FORM(vandps)
  PTLITE_BINARY_FORM(vandnps)
  PTLITE_BINARY_FORM(vorps)
  PTLITE_BINARY_FORM(vxorps)
  PTLITE_BINARY_FORM(vpaddd)
  PTLITE_BINARY_FORM(vpsubd)
  PTLITE_BINARY_FORM(vscalefps)
  PTLITE_BINARY_FORM(vfmadd213ps)
  PTLITE_BINARY_FORM(vfmadd231ps)
  PTLITE_BINARY_FORM(vfmsub213ps)
  PTLITE_BINARY_FORM(vfmsub231ps)
  PTLITE_BINARY_FORM(vfnmadd213ps)
  PTLITE_BINARY_FORM(vfnmadd231ps)
  PTLITE_BINARY_FORM(vblendmps)
  PTLITE_BINARY_FORM(vpermt2ps)
#undef PTLITE_BINARY_FORM

#define PTLITE_UNARY_FORM(name)                                                    \
  void name(const Xbyak::Xmm& a, const Xbyak::Operand& b) {                        \
    each(b, [&](int u, const auto& operand) { g_.name(at(a, u), operand); });      \
  }
  PTLITE_UNARY_FORM(vmovaps)
  PTLITE_UNARY_FORM(vsqrtps)
  PTLITE_UNARY_FORM(vcvtdq2ps)
  PTLITE_UNARY_FORM(vcvtps2dq)
#undef PTLITE_UNARY_FORM

#define PTLITE_IMMEDIATE_FORM(name)                                                          \
  void name(const Xbyak::Xmm& a, const Xbyak::Operand& b, uint8_t immediate) {               \
    each(b, [&](int u, const auto& operand) { g_.name(at(a, u), operand, immediate); });     \
  }
  PTLITE_IMMEDIATE_FORM(vrndscaleps)
  PTLITE_IMMEDIATE_FORM(vroundps)
#undef PTLITE_IMMEDIATE_FORM

  void vrangeps(const Xbyak::Xmm& a, const Xbyak::Xmm& b, const Xbyak::Operand& c, uint8_t immediate) {
    each(c, [&](int u, const auto& operand) { g_.vrangeps(at(a, u), at(b, u), operand, immediate); });
  }
  void vrangeps(const Xbyak::Xmm& a, const Xbyak::Xmm& b, const One& c, uint8_t immediate) {
    for (int u = 0; u < count_; u++) g_.vrangeps(at(a, u), at(b, u), c.real, immediate);
  }
  // The greatest of the vectors of a, as unsigned integers.
  void vpmaxud_all(const One& to, const Xbyak::Xmm& a) {
    for (int u = 1; u < count_; u++) g_.vpmaxud(to.real, u == 1 ? at(a, 0) : to.real, at(a, u));
  }

  void vpsrad(const Xbyak::Xmm& a, const Xbyak::Xmm& b, uint8_t bits) {
    for (int u = 0; u < count_; u++) g_.vpsrad(at(a, u), at(b, u), bits);
  }
  void vpslld(const Xbyak::Xmm& a, const Xbyak::Xmm& b, uint8_t bits) {
    for (int u = 0; u < count_; u++) g_.vpslld(at(a, u), at(b, u), bits);
  }
  void vpsrld(const Xbyak::Xmm& a, const Xbyak::Xmm& b, uint8_t bits) {
    for (int u = 0; u < count_; u++) g_.vpsrld(at(a, u), at(b, u), bits);
  }
  void vcmpps(const Xbyak::Opmask& k, const Xbyak::Xmm& a, const Xbyak::Operand& b, uint8_t predicate) {
    each(b, [&](int u, const auto& operand) { g_.vcmpps(Xbyak::Opmask(mask(k.getIdx(), u)), at(a, u), operand, predicate); });
  }
  void vcmpps(const Xbyak::Xmm& to, const Xbyak::Xmm& a, const Xbyak::Operand& b, uint8_t predicate) {
    each(b, [&](int u, const auto& operand) { g_.vcmpps(at(to, u), at(a, u), operand, predicate); });
  }
  void vblendvps(const Xbyak::Xmm& a, const Xbyak::Xmm& b, const Xbyak::Operand& c, const Xbyak::Xmm& where) {
    each(c, [&](int u, const auto& operand) { g_.vblendvps(at(a, u), at(b, u), operand, at(where, u)); });
  }

  // Register `u` of a group.
  Xbyak::Xmm at(const Xbyak::Xmm& x, int u) const {
    const Xbyak::Xmm real = g_.vec(x.getIdx() * count_ + u);
    return x.getOpmaskIdx() == 0 ? real : real | Xbyak::Opmask(mask(x.getOpmaskIdx(), u));
  }

  One one(const Xbyak::Xmm& x, int u = 0) const { return {at(x, u)}; }
  // Mask register `u` of a group.
  int mask(int index, int u) const {
    static constexpr int free_masks[] = {1, 3, 4, 5, 6, 7};
    // an emitter of groups counts its masks from 1
    return count_ == 1 ? index : free_masks[(index - 1) * count_ + u];
  }

 private:
  template <class F>
  void each(const Xbyak::Operand& operand, F f) {
    for (int u = 0; u < count_; u++) {
      if (operand.isMEM()) {
        f(u, static_cast<const Xbyak::Address&>(operand));
      } else {
        f(u, at(static_cast<const Xbyak::Xmm&>(operand), u));
      }
    }
  }

  Generator& g_;
  const int count_;
};

}  // namespace jit
}  // namespace ptlite
