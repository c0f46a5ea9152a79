// The functions of enumeration Gate. Include inside per-level translation units only.
#pragma once

#include "frames/blocked.h"
#include "ops/elementwise/activation_functions.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

/// Calls run(f) with the function of a gate, which takes and gives a Vec<float>.
template <class Run>
PTLITE_INLINE void with_gate(int32_t gate, const Run& run) {
  using F = Vec<float>;
  switch (gate) {
    case Gate_relu: return run([](F x) { return at_least(x, F::zero()); });
    case Gate_relu6: return run([](F x) { return at_most(at_least(x, F::zero()), F(6.f)); });
    case Gate_silu: return run([](F x) { return silu(x); });
    case Gate_hardswish: return run([](F x) { return hardswish(x); });
    case Gate_sigmoid: return run([](F x) { return logistic(x); });
    case Gate_hardsigmoid: return run([](F x) { return hardsigmoid(x); });
  }
  run([](F x) { return x; });
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
