// What a processor under arch/ tells of itself, once per process.
#pragma once

#include "dispatch/levels.h"

namespace ptlite {

/// This machine's features and state.
CpuState read_cpu();

/// The same of a machine whose answers (processor_answers) and state were recorded.
CpuState recorded_cpu(const uint32_t (*rows)[6], int32_t count, uint64_t xcr0);

/// `levels` without those whose registers the system does not let this process use; it is asked only if that matters.
uint32_t permitted_levels(uint32_t levels);

/// The same for a system that does, or does not, let processes use tiles.
uint32_t levels_permitted(uint32_t levels, bool tiles);

/// Bytes of a third-level cache by the processor's own account; 0 where it gives none.
int64_t third_level_cache();

/// Whether dot products of pairs of bfloat16, where there is an instruction for them, take less time than the multiply-adds of float32 that they stand for.
bool has_fast_pairs();

/// Answers of the processor about itself, for reports: question (two words) and answer (four words) of each. How many there are of at most
/// `most`.
int32_t processor_answers(uint32_t (*rows)[6], int32_t most);

}  // namespace ptlite
