#include "jit/functions.h"

#include <string.h>

#include <optional>
#include <utility>

namespace ptlite {
namespace jit {
namespace {

using steps::Op;
using Xbyak::Xmm;

constexpr uint32_t kSign = 0x80000000, kMagnitude = 0x7fffffff;

int operands_of(Op op) {
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::sqrt:
    case Op::series:
    case Op::round:
    case Op::is_nan:
    case Op::shift_left:
    case Op::shift_right:
    case Op::to_float: return 1;
    case Op::fma:
    case Op::fms:
    case Op::fnma:
    case Op::minus_product:
    case Op::select: return 3;
    default: return 2;
  }
}

constexpr int kNone = -1;

// An operand: a value and its register, or a number where `value` is negative.
struct In {
  int value = kNone;
  int place = kNone;
  bool is_number() const { return value < 0; }
};

// Goes along the steps with a register for each value, from its step to the last one that reads it.
class Walk {
 public:
  Walk(Emitter& e, const steps::Function& f, const Xmm& to, const Xmm& x, const Parameters& p)
      : e_(e), g_(e.g), f_(f), p_(p), to_(to.getIdx()), is_to_free_(to.getIdx() != x.getIdx()) {
    place_[0] = x.getIdx();
    for (int i = 0; i < f.count; i++) {
      const steps::Step& s = f.steps[i];
      const int operands[] = {s.a, s.b, s.c};
      for (int k = 0; k < operands_of(s.op); k++) {
        if (operands[k] >= 0) last_[operands[k]] = i;
      }
    }
    if (is_to_free_) last_[0] = f.count;
  }

  void run() {
    for (; i_ < f_.count && !e_.failed; i_++) {
      const steps::Step& s = f_.steps[i_];
      const int operands[] = {s.a, s.b, s.c};
      In in[3];
      for (int k = 0; k < operands_of(s.op); k++) in[k] = {operands[k], operands[k] >= 0 ? place_[operands[k]] : kNone};
      place_[i_ + 1] = step(s, in[0], in[1], in[2]);
      for (const In& operand : in) {
        if (dies(operand)) end(operand.value);
      }
    }
    if (e_.failed) return;
    const int result = place_[f_.count];
    if (result == to_) return;
    e_.copy(vec(to_), vec(result));
    e_.give(result);
  }

 private:
  static constexpr int kMostValues = 96;

  Xmm vec(int place) const { return g_.vec(place); }
  Xmm vec(const In& in) const { return g_.vec(in.place); }
  bool dies(const In& in) const { return !in.is_number() && last_[in.value] == i_; }

  uint32_t word(const In& in) const {
    const float number = in.value == -1 ? p_.alpha : in.value == -2 ? p_.beta : steps::numbers[-3 - in.value];
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
  }

  // Calls f with an operand that may be in memory.
  template <class F>
  void with(const In& in, F f) {
    if (in.is_number()) {
      f(e_.bits(word(in)));
    } else {
      f(vec(in));
    }
  }

  void end(int value) {
    conditions_[value].reset();
    const int place = std::exchange(place_[value], kNone);
    if (place == to_) {
      is_to_free_ = true;
    } else if (place != kNone) {
      e_.give(place);
    }
  }

  bool is_last() const { return i_ == f_.count - 1; }

  // A register that holds nothing that is still read: the result's for the last step, and for others where it is the only one.
  int fresh() {
    if (is_to_free_ && (is_last() || !e_.has_free())) {
      is_to_free_ = false;
      return to_;
    }
    return e_.acquire();
  }

  // For the step's value, that of an operand which is read for the last time.
  int taken_over(const In& in) {
    place_[in.value] = kNone;
    return in.place;
  }

  int reused(const In& a, const In& b = {}) {
    if (is_last() && is_to_free_) return fresh();
    if (dies(a) && !(is_last() && dies(b) && b.place == to_)) return taken_over(a);
    return dies(b) ? taken_over(b) : fresh();
  }

  int with_number(const In& number) {
    const int to = fresh();
    g_.broadcast_bits(vec(to), word(number));
    return to;
  }

  int compare(int value, const In& a, const In& b, uint8_t predicate) {
    with(b, [&](const auto& operand) { conditions_[value].emplace(e_, vec(a), operand, predicate); });
    return kNone;
  }

  // The register of the step's value.
  int step(const steps::Step& s, const In& a, const In& b, const In& c) {
    switch (s.op) {
      case Op::add:
      case Op::mul: return a.is_number() ? arithmetic(s.op, b, a) : arithmetic(s.op, a, b);
      case Op::sub:
      case Op::div:
      case Op::int_sub: return arithmetic(s.op, a, b);
      case Op::neg:
      case Op::abs:
      case Op::sqrt:
      case Op::round:
      case Op::to_float:
      case Op::shift_left:
      case Op::shift_right: return unary(s.op, a, static_cast<uint8_t>(s.b));
      case Op::fma:
      case Op::fms:
      case Op::fnma: return multiply_add(s.op, a, b, c);
      case Op::minus_product: return multiply_add(Op::fnma, b, c, a);
      case Op::square_rest: return multiply_add(Op::fms, a, a, b);
      case Op::series: {
        const float* coefficients = steps::series + s.b;
        const int to = fresh();
        g_.broadcast(vec(to), coefficients[s.c - 1]);
        for (int i = s.c - 2; i >= 0; i--) g_.vfmadd213ps(vec(to), vec(a), e_.c(coefficients[i]));
        return to;
      }
      case Op::scale: return scale(a, b);
      case Op::at_least:
      case Op::at_most: {
        // of two operands with a NaN, the instructions give the second; the bound is in the last vector of the group, which is written last
        const int to = fresh();
        const One bound = g_.one(vec(to), g_.count() - 1);
        g_.base().broadcast_bits(bound.real, word(b));
        if (s.op == Op::at_least) {
          g_.vmaxps(vec(to), bound, vec(a));
        } else {
          g_.vminps(vec(to), bound, vec(a));
        }
        return to;
      }
      case Op::less: return compare(i_ + 1, a, b, Emitter::less);
      case Op::greater: return compare(i_ + 1, a, b, Emitter::greater);
      case Op::equal: return compare(i_ + 1, a, b, Emitter::equal);
      case Op::is_nan: return compare(i_ + 1, a, a, Emitter::is_nan);
      case Op::select: {
        if (c.is_number() && word(c) == 0) {
          const int to = fresh();
          with(b, [&](const auto& operand) { conditions_[a.value]->keep(vec(to), operand); });
          return to;
        }
        const int to = c.is_number() ? with_number(c) : reused(c, b);
        with(b, [&](const auto& operand) { conditions_[a.value]->select(vec(to), c.is_number() ? vec(to) : vec(c), operand); });
        return to;
      }
      case Op::copysign: {
        const int to = dies(b) ? taken_over(b) : fresh();
        g_.vandps(vec(to), vec(b), e_.bits(kSign));
        g_.vorps(vec(to), vec(to), vec(a));
        return to;
      }
    }
    return kNone;
  }

  int unary(Op op, const In& a, uint8_t bits) {
    const int place = reused(a);
    const Xmm to = vec(place), x = vec(a);
    switch (op) {
      case Op::neg: g_.vxorps(to, x, e_.bits(kSign)); break;
      case Op::abs: g_.vandps(to, x, e_.bits(kMagnitude)); break;
      case Op::sqrt: g_.vsqrtps(to, x); break;
      case Op::round: e_.round(to, x); break;
      case Op::to_float: g_.vcvtdq2ps(to, x); break;
      case Op::shift_left: g_.vpslld(to, x, bits); break;
      default: g_.vpsrad(to, x, bits); break;
    }
    return place;
  }

  int arithmetic(Op op, const In& a, const In& b) {
    const int to = a.is_number() ? with_number(a) : reused(a, b);
    const Xmm first = a.is_number() ? vec(to) : vec(a);
    with(b, [&](const auto& operand) {
      switch (op) {
        case Op::add: return g_.vaddps(vec(to), first, operand);
        case Op::sub: return g_.vsubps(vec(to), first, operand);
        case Op::mul: return g_.vmulps(vec(to), first, operand);
        case Op::div: return g_.vdivps(vec(to), first, operand);
        default: return g_.vpsubd(vec(to), first, operand);
      }
    });
    return to;
  }

  // a b + c, a b - c or c - a b; instructions write over one of their operands
  int multiply_add(Op op, const In& a, const In& b, const In& c) {
    if (a.is_number()) return multiply_add(op, b, a, c);
    if (!b.is_number() && !dies(a) && dies(b) && !dies(c)) return multiply_add(op, b, a, c);
    if (!b.is_number() && !dies(c) && (dies(a) || c.is_number())) {
      const int to = dies(a) ? taken_over(a) : fresh();
      if (to != a.place) e_.copy(vec(to), vec(a));
      with(c, [&](const auto& operand) {
        switch (op) {
          case Op::fma: return g_.vfmadd213ps(vec(to), vec(b), operand);
          case Op::fms: return g_.vfmsub213ps(vec(to), vec(b), operand);
          default: return g_.vfnmadd213ps(vec(to), vec(b), operand);
        }
      });
      return to;
    }
    const int to = c.is_number() ? with_number(c) : dies(c) ? taken_over(c) : fresh();
    if (!c.is_number() && to != c.place) e_.copy(vec(to), vec(c));
    with(b, [&](const auto& operand) {
      switch (op) {
        case Op::fma: return g_.vfmadd231ps(vec(to), vec(a), operand);
        case Op::fms: return g_.vfmsub231ps(vec(to), vec(a), operand);
        default: return g_.vfnmadd231ps(vec(to), vec(a), operand);
      }
    });
    return to;
  }

  // a 2^n, rounded once even where the result is denormal
  int scale(const In& a, const In& n) {
    if (g_.wide()) {
      const int to = a.is_number() ? with_number(a) : reused(a, n);
      g_.vscalefps(vec(to), a.is_number() ? vec(to) : vec(a), vec(n));
      return to;
    }
    // in two steps, so that neither power leaves the range
    const int to = fresh();
    const int k = dies(n) ? n.place : e_.acquire();
    if (to < 0 || k < 0) return kNone;
    g_.vcvtps2dq(vec(k), vec(n));
    g_.vpsrad(vec(to), vec(k), 1);
    g_.vpsubd(vec(k), vec(k), vec(to));
    for (const int power : {to, k}) {
      g_.vpaddd(vec(power), vec(power), e_.bits(127));
      g_.vpslld(vec(power), vec(power), 23);
    }
    with(a, [&](const auto& operand) { g_.vmulps(vec(to), vec(to), operand); });
    g_.vmulps(vec(to), vec(to), vec(k));
    if (!dies(n)) e_.give(k);
    return to;
  }

  Emitter& e_;
  VectorGroup& g_;
  const steps::Function& f_;
  const Parameters& p_;
  const int to_;
  bool is_to_free_;
  int i_ = 0;
  int place_[kMostValues];
  int last_[kMostValues] = {};
  std::optional<Emitter::Condition> conditions_[kMostValues];
};

}  // namespace

void apply(Emitter& e, const steps::Function& f, const Xmm& to, const Xmm& x, const Parameters& p) { Walk(e, f, to, x, p).run(); }

}  // namespace jit
}  // namespace ptlite
