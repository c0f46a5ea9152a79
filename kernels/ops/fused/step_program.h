// Element-wise steps over float32, interpreted per block of elements whose values stay in the first-level cache. Each step is a dense loop
// over the block.
#pragma once

#include <stdint.h>

#include "frames/limits.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

/// Values 0 to inputs - 1 are the inputs, value inputs + i is the result of step i. Operands -1 and -2 of binary steps are p0[i] and p1[i].
struct StepProgram {
  static constexpr int64_t kBlock = 256;
  static constexpr int kMostInputs = PTLITE_CHAIN_INPUTS, kMostSteps = PTLITE_CHAIN_STEPS;

  int32_t inputs, steps;
  const int32_t *op, *a, *b;
  const float *p0, *p1;

  bool valid() const;
};

/// Where an input's elements of a row lie: `step` apart, 0 for one that stands for all.
struct StepInput {
  const float* at;
  int64_t step;
};

/// The memory that a run needs.
struct StepBuffers {
  alignas(64) float values[StepProgram::kMostInputs + StepProgram::kMostSteps][StepProgram::kBlock];
};

/// `count` results of the last step, which may take the place of an input.
void run_steps(const StepProgram& program, const StepInput* inputs, int64_t count, float* out, StepBuffers& buffers);

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
