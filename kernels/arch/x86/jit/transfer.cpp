#include "jit/transfer.h"

#include "ptlite_abi.h"

namespace ptlite {
namespace jit {

using Xbyak::Address;
using Xbyak::Opmask;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;
using namespace Xbyak::util;

namespace {

constexpr int kStackBytes = 64;

bool is_signed(int32_t dtype) { return dtype == PTLITE_INT8 || dtype == PTLITE_QINT8; }

}  // namespace

int element_bytes(int32_t dtype) { return dtype == PTLITE_FLOAT32 ? 4 : dtype == PTLITE_BFLOAT16 || dtype == PTLITE_FLOAT16 ? 2 : 1; }

int Transfer::stack_bytes(const Generator& g) { return g.wide() ? 0 : kStackBytes; }

void Transfer::reserve_stack(Generator& g) {
  if (!g.wide()) g.sub(rsp, kStackBytes);
}

void Transfer::release_stack(Generator& g) {
  if (!g.wide()) g.add(rsp, kStackBytes);
}

void Transfer::lane_mask(const Xmm& to) const {
  g_.mov(r10d, g_.lanes());
  g_.sub(r10, rcx);
  g_.lea(rdi, g_.ptr[rip + g_.lane_masks()]);
  g_.vmovups(to, g_.ptr[rdi + r10 * 4]);
}

void Transfer::prepare_tail(Generator& g, int tail_mask) {
  if (!g.wide()) return;
  g.mov(r10d, 1);
  g.shl(r10d, cl);
  g.dec(r10d);
  g.kmovw(Opmask(tail_mask), r10d);
}

void Transfer::copy_tail(const Address& to, const Address& from, int bytes) const {
  // addresses are base + r10 * bytes
  Xbyak::Label next;
  g_.xor_(r10d, r10d);
  g_.push(rax);
  g_.push(rdi);
  g_.L(next);
  if (bytes == 4) {
    g_.mov(eax, from);
    g_.mov(to, eax);
  } else if (bytes == 2) {
    g_.mov(ax, from);
    g_.mov(to, ax);
  } else {
    g_.mov(al, from);
    g_.mov(to, al);
  }
  g_.inc(r10);
  g_.cmp(r10, rcx);
  g_.jl(next, Xbyak::CodeGenerator::T_NEAR);
  g_.pop(rdi);
  g_.pop(rax);
}

void Transfer::widen(const Xmm& to, const Xbyak::Operand& from, int32_t dtype) const {
  switch (dtype) {
    case PTLITE_FLOAT32: g_.vmovups(to, from); break;
    case PTLITE_BFLOAT16:
      g_.vpmovzxwd(to, from);
      g_.vpslld(to, Xmm(to.getKind(), to.getIdx()), 16);
      break;
    case PTLITE_FLOAT16: g_.vcvtph2ps(to, from); break;
    case PTLITE_BOOL:
      g_.vpmovzxbd(to, from);
      spread(to);
      break;
    default:
      if (is_signed(dtype)) {
        g_.vpmovsxbd(to, from);
      } else {
        g_.vpmovzxbd(to, from);
      }
  }
}

void Transfer::spread(const Xmm& x) const {
  // the sign bit is that of a sum which is not 0x7fffffff
  g_.vpaddd(x, x, g_.constant_bits(0x7fffffff));
  g_.vpsrad(x, x, 31);
}

void Transfer::load(const Xmm& to, const Reg64& base, const Reg64& index, int32_t dtype, int first) const {
  const int bytes = element_bytes(dtype);
  const Address whole = g_.ptr[base + index * bytes + first * bytes];
  if (!tail_) {
    widen(to, whole, dtype);
  } else if (g_.wide()) {
    const Xmm masked = to | Opmask(mask_) | Xbyak::util::T_z;
    if (dtype == PTLITE_FLOAT32) {
      g_.vmovups(masked, whole);
    } else if (dtype == PTLITE_BFLOAT16) {
      g_.vpmovzxwd(masked, whole);
      g_.vpslld(to, to, 16);
    } else if (dtype == PTLITE_FLOAT16) {
      g_.vcvtph2ps(masked, whole);
    } else if (is_signed(dtype)) {
      g_.vpmovsxbd(masked, whole);
    } else {
      g_.vpmovzxbd(masked, whole);
      if (dtype == PTLITE_BOOL) spread(to);
    }
  } else if (dtype == PTLITE_FLOAT32) {
    const Emitter::Scratch mask(e_);
    lane_mask(mask);
    g_.vmaskmovps(to, mask, whole);
  } else {
    // two words were pushed by the copy; the buffer lies behind them
    g_.vpxor(Ymm(to.getIdx()), Ymm(to.getIdx()), Ymm(to.getIdx()));
    g_.vmovups(g_.ptr[rsp], Ymm(to.getIdx()));
    g_.lea(rdi, whole);
    copy_tail(g_.ptr[rsp + r10 * bytes + 16], g_.ptr[rdi + r10 * bytes], bytes);
    widen(to, g_.ptr[rsp], dtype);
  }
}

void Transfer::load_one(const Xmm& to, const Reg64& at, int32_t dtype) const {
  if (dtype == PTLITE_FLOAT32) {
    g_.vbroadcastss(to, g_.dword[at]);
    return;
  }
  const Xmm low(to.getIdx());
  if (dtype == PTLITE_BFLOAT16) {
    g_.movzx(r10d, g_.word[at]);
    g_.shl(r10d, 16);
  } else if (dtype == PTLITE_FLOAT16) {
    g_.movzx(r10d, g_.word[at]);
    g_.vmovd(low, r10d);
    g_.vcvtph2ps(low, low);
    g_.vbroadcastss(to, low);
    return;
  } else if (dtype == PTLITE_BOOL) {
    g_.movzx(r10d, g_.byte[at]);
    g_.neg(r10d);
    g_.sbb(r10d, r10d);
  } else if (is_signed(dtype)) {
    g_.movsx(r10d, g_.byte[at]);
  } else {
    g_.movzx(r10d, g_.byte[at]);
  }
  g_.vmovd(low, r10d);
  g_.vpbroadcastd(to, low);
}

void Transfer::round_to_bfloat16(const Xmm& x) const {
  // x + 0x7fff + lowest bit kept, then the upper half; NaN becomes the quiet one
  const Emitter::Scratch nan(e_);
  const Emitter::Scratch odd(e_);
  g_.broadcast_bits(nan, 0x7fc00000);
  const Emitter::Condition is_nan(e_, x, x, Emitter::is_nan);
  g_.vpsrld(odd, x, 16);
  g_.vandps(odd, odd, g_.constant_bits(1));
  g_.vpaddd(odd, odd, g_.constant_bits(0x7fff));
  g_.vpaddd(odd, odd, x);
  is_nan.select(odd, nan);
  g_.vpsrld(x, odd, 16);
}

void Transfer::store(const Reg64& base, const Reg64& index, int32_t dtype, const Xmm& from, int first, bool rounded) const {
  const int bytes = element_bytes(dtype);
  const Address whole = g_.ptr[base + index * bytes + first * bytes];
  if (dtype == PTLITE_BFLOAT16 && rounded) {
    g_.vpsrld(from, from, 16);
  } else if (dtype == PTLITE_BFLOAT16) {
    round_to_bfloat16(from);
  } else if (dtype == PTLITE_BOOL) {
    g_.vpsrld(from, from, 31);
  }
  if (g_.wide()) {
    const Zmm z(from.getIdx());
    const Address to = tail_ ? whole | Opmask(mask_) : whole;
    if (dtype == PTLITE_FLOAT16) {
      g_.vcvtps2ph(to, z, 0);
      return;
    }
    if (dtype == PTLITE_FLOAT32) {
      if (streaming_ && !tail_) {
        g_.vmovntps(whole, z);
      } else {
        g_.vmovups(to, z);
      }
    } else if (dtype == PTLITE_BFLOAT16) {
      g_.vpmovdw(to, z);
    } else {
      g_.vpmovdb(to, z);
    }
    return;
  }
  const Ymm y(from.getIdx());
  const Xmm x(from.getIdx());
  if (dtype == PTLITE_FLOAT16) {
    g_.vcvtps2ph(x, y, 0);
  } else if (dtype != PTLITE_FLOAT32) {
    const Emitter::Scratch scratch(e_);
    const Xmm upper(static_cast<const Xmm&>(Xmm(scratch)).getIdx());
    g_.vextracti128(upper, y, 1);
    if (dtype == PTLITE_BFLOAT16) {
      g_.vpackusdw(x, x, upper);
    } else {
      // values are in the byte's range: signed words keep them, and their low bytes are the result
      g_.vpackssdw(x, x, upper);
      if (is_signed(dtype)) {
        g_.vpacksswb(x, x, x);
      } else {
        g_.vpackuswb(x, x, x);
      }
    }
  }
  const auto put = [&](const Address& to) {
    if (dtype == PTLITE_FLOAT32) {
      if (streaming_) {
        g_.vmovntps(to, y);
      } else {
        g_.vmovups(to, y);
      }
    } else if (bytes == 2) {
      g_.vmovups(to, x);
    } else {
      g_.vmovq(to, x);
    }
  };
  if (!tail_) {
    put(whole);
    return;
  }
  if (dtype == PTLITE_FLOAT32) {
    const Emitter::Scratch mask(e_);
    lane_mask(mask);
    g_.vmaskmovps(whole, mask, y);
    return;
  }
  put(g_.ptr[rsp]);
  g_.lea(rdi, whole);
  copy_tail(g_.ptr[rdi + r10 * bytes], g_.ptr[rsp + r10 * bytes + 16], bytes);
}

}  // namespace jit
}  // namespace ptlite
