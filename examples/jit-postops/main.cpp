// A generator of its own with post-ops injected: y = gelu(2 x) + residual, in one loop, without a call and without a second pass.
#include <math.h>
#include <stdio.h>

#include <vector>

#include "jit/injector.h"
#include "ptlite_abi.h"

using namespace ptlite::jit;
using namespace Xbyak::util;

struct Call {
  const float* x;
  const float* residual;
  float* y;
  int64_t vectors;
};

class Scaled : public Generator, private OperandSource {
 public:
  Scaled(Isa isa, const std::vector<PostOpAttributes>& chain) : Generator(isa, 1 << 14) { injector_.init(this, chain, this); }

  Generated generate() {
    enter();
    mov(rax, ptr[rdi + offsetof(Call, x)]);
    mov(r11, ptr[rdi + offsetof(Call, residual)]);
    mov(r12, ptr[rdi + offsetof(Call, y)]);
    mov(rcx, ptr[rdi + offsetof(Call, vectors)]);

    Xbyak::Label next, done;
    L(next);
    test(rcx, rcx);
    jz(done, T_NEAR);
    // the injector takes its scratch registers from those that are not named here
    injector_.escape_regs(RegisterKind::vector, 0);
    vmovups(vec(0), ptr[rax]);
    vmulps(vec(0), vec(0), constant(2.f));
    injector_.vector_compute(vec(0));
    vmovups(ptr[r12], vec(0));
    for (const Xbyak::Reg64& pointer : {rax, r11, r12}) add(pointer, vector_bytes());
    dec(rcx);
    jmp(next, T_NEAR);
    L(done);
    leave();
    injector_.prepare_table();
    return injector_.failed() ? Generated{} : finish(*this);
  }

 private:
  // the second operand of `add` is the residual at the same place as x
  void load_operand(const Xbyak::Xmm& to, int) override { vmovups(to, ptr[r11]); }

  EltwiseInjector injector_;
};

int main() {
  const Isa isa = current_isa();
  const std::vector<PostOpAttributes> chain = {{PTLITE_FLOAT32, PostOpKind::eltwise, JitAlgorithm_gelu_erf},
                                               {PTLITE_FLOAT32, PostOpKind::binary, JitAlgorithm_add}};
  if (!memory_available() || !EltwiseInjector::supported(isa, chain, 1)) {
    puts("no code can be generated here");
    return 0;
  }
  const Generated generated = Scaled(isa, chain).generate();
  const Code code = seal(generated.code.data(), generated.code.size());
  if (code.entry == nullptr) return 1;

  constexpr int count = 1 << 12;
  std::vector<float> x(count), residual(count), y(count);
  for (int i = 0; i < count; i++) {
    x[i] = static_cast<float>(i - count / 2) / 512;
    residual[i] = static_cast<float>(i % 7);
  }
  const Call call{x.data(), residual.data(), y.data(), count / (isa == Isa::avx512 ? 16 : 8)};
  reinterpret_cast<void (*)(const Call*)>(code.entry)(&call);

  double worst = 0;
  for (int i = 0; i < count; i++) {
    const double z = 2.0 * x[i];
    worst = fmax(worst, fabs(y[i] - (z * 0.5 * (1 + erf(z / sqrt(2.0))) + residual[i])));
  }
  printf("%d values, %zu bytes of code, largest error %.1e\n", count, generated.code.size(), worst);
  unmap(code);
  return worst < 1e-5 ? 0 : 1;
}
