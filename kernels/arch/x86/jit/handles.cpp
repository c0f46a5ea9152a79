// Makes handles of generated element-wise code.
#include "dispatch/kernel.h"
#include "memory/owner.h"

#include <string.h>

#include "jit/elementwise.h"

namespace {

using ptlite::jit::StepGraph;
using ptlite::jit::kMostInputs;
using ptlite::jit::kMostSteps;

std::string name_of(const StepGraph& graph) {
  std::string name = "elementwise";
  for (int i = 0; i < graph.steps; i++) {
    const ptlite::jit::Algorithm* row = ptlite::jit::algorithm(graph.step[i].algorithm);
    if (row != nullptr && name.size() < 120) name = name + "-" + row->name;
  }
  return name;
}

int32_t create(jit_elementwise_create_frame* f) {
  f->handle = 0;
  f->bytes = 0;
  StepGraph graph;
  memset(&graph, 0, sizeof graph);
  graph.isa = static_cast<int32_t>(ptlite::jit::current_isa());
  graph.inputs = f->inputs;
  graph.steps = f->steps;
  graph.out_dtype = f->out_dtype;
  graph.streaming = f->streaming;
  if (f->inputs < 1 || f->inputs > kMostInputs || f->steps < 1 || f->steps > kMostSteps) return PTLITE_OK;
  for (int i = 0; i < f->inputs; i++) graph.input[i] = {f->access[i] == JitAccess_scalar || f->access[i] == JitAccess_channel, f->dtypes[i]};
  for (int i = 0; i < f->steps; i++) {
    const ptlite::jit::Algorithm* row = ptlite::jit::algorithm(f->ops[i]);
    const bool binary = row != nullptr && row->binary != nullptr;
    graph.step[i] = {f->ops[i], f->a[i], binary ? f->b[i] : 0, f->p0[i], f->p1[i], f->p2[i]};
    if (f->ops[i] == JitAlgorithm_int8_lut) {
      if (f->lut == 0) return PTLITE_OK;
      memcpy(graph.lut, reinterpret_cast<const void*>(f->lut), sizeof graph.lut);
    }
  }
  if (f->more < 0 || f->more > ptlite::jit::kMostMore) return PTLITE_OK;
  graph.more = f->more;
  for (int i = 0; i < f->more; i++) graph.kept[i] = {f->kept[i], f->more_dtypes[i]};
  const std::string key = "elementwise" + std::string(reinterpret_cast<const char*>(&graph), sizeof graph);
  const auto generate = [](const void* description) {
    return ptlite::jit::generate_elementwise(*static_cast<const StepGraph*>(description));
  };
  ptlite::jit::Kernel* kernel = ptlite::jit::obtain(key, name_of(graph), generate, &graph);
  if (kernel == nullptr) return PTLITE_OK;
  if (!ptlite::own(kernel, 0, [](void* made, size_t) { ptlite::jit::release(static_cast<ptlite::jit::Kernel*>(made)); })) {
    ptlite::jit::release(kernel);
    return PTLITE_NO_MEMORY;
  }
  f->handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(kernel));
  f->bytes = static_cast<int64_t>(kernel->code.bytes);
  return PTLITE_OK;
}

int32_t info(jit_info_frame* f) {
  using namespace ptlite::jit;
  f->state = !enabled() ? JitState_off : current_isa() == Isa::none ? JitState_no_instructions : memory_available() ? JitState_ready : JitState_no_memory;
  const Totals sum = totals();
  f->kernels = sum.kernels;
  f->bytes = sum.bytes;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(jit_elementwise_create, create)
PTLITE_KERNEL(jit_info, info)
