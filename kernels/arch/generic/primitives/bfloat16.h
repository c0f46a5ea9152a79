// No dot products of bfloat16 pairs in one instruction.
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

// A block has as many rows as registers are left for.
constexpr int kRows = 4;

}  // namespace bf16
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
