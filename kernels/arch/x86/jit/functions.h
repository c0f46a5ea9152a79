// The functions of codegen/functions.yaml in generated code.
#pragma once

#include "jit/algorithms.h"
#include "vec/generated/function_steps.h"

namespace ptlite {
namespace jit {

// to = f(x). Where they are two registers, x stays.
void apply(Emitter& e, const steps::Function& f, const Xbyak::Xmm& to, const Xbyak::Xmm& x, const Parameters& p);

}  // namespace jit
}  // namespace ptlite
