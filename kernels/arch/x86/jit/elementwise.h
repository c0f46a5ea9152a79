// A graph of element-wise steps as one loop: each input is read once, the output written once.
#pragma once

#include "jit/step_graph.h"

namespace ptlite {
namespace jit {

// Empty where the graph is not one that can be compiled: unknown algorithms or dtypes, values used before they exist, too many alive at once.
Generated generate_elementwise(const StepGraph& graph);

}  // namespace jit
}  // namespace ptlite
