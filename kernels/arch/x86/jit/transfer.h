// Loads and stores of vectors of any dtype as fp32 or int32 lanes, whole or with a tail of rcx elements.
#pragma once

#include "jit/emitter.h"

namespace ptlite {
namespace jit {

int element_bytes(int32_t dtype);

class Transfer {
 public:
  // `tail_mask`: the mask register that prepare_tail has filled (AVX512). `streaming`: whole vectors of float32 are stored past the caches.
  Transfer(Emitter& e, bool tail, int tail_mask, bool streaming = false)
      : e_(e), g_(e.g.base()), tail_(tail), mask_(tail_mask), streaming_(streaming) {}

  // Room below the stack pointer where narrow tails are put together on AVX2.
  static void reserve_stack(Generator& g);
  static void release_stack(Generator& g);
  static int stack_bytes(const Generator& g);
  // Makes the mask of rcx elements, 0 <= rcx < lanes. Spends r10.
  static void prepare_tail(Generator& g, int tail_mask);

  // The vector at base + index + first elements; lanes beyond the tail are 0.
  void load(const Xbyak::Xmm& to, const Xbyak::Reg64& base, const Xbyak::Reg64& index, int32_t dtype, int first = 0) const;
  // One element in all lanes.
  void load_one(const Xbyak::Xmm& to, const Xbyak::Reg64& at, int32_t dtype) const;
  // Stores `from`: float32 as it is, 16-bit floats rounded to nearest even, bytes from int32 lanes in their range, bools from lanes of ones or zeros.
  // All but float32 spend its lanes. `rounded`: a bfloat16 that needs no rounding any more, and no register for it.
  void store(const Xbyak::Reg64& base, const Xbyak::Reg64& index, int32_t dtype, const Xbyak::Xmm& from, int first = 0, bool rounded = false) const;

 private:
  void widen(const Xbyak::Xmm& to, const Xbyak::Operand& from, int32_t dtype) const;
  // All ones where a lane, a byte, is not 0.
  void spread(const Xbyak::Xmm& x) const;
  void round_to_bfloat16(const Xbyak::Xmm& x) const;
  // AVX2: a vector whose first rcx lanes are all ones. Spends r10 and rdi.
  void lane_mask(const Xbyak::Xmm& to) const;
  // AVX2: copies rcx elements between memory and the stack buffer, one by one. Spends r10 and rdi.
  void copy_tail(const Xbyak::Address& to, const Xbyak::Address& from, int bytes) const;

  Emitter& e_;
  Generator& g_;
  const bool tail_;
  const int mask_;
  const bool streaming_;
};

}  // namespace jit
}  // namespace ptlite
