// Blocks with guard pages, for finding what reads or writes outside of its memory: PTLITE_GUARD in the environment, for debugging only.
// `1` or `end`: a block ends where a page begins that nobody may touch, at the address of least alignment that its size allows.
// `end:N`: the same, at a multiple of N. `start`: it begins right behind such a page. A block that was given back is such pages itself,
// and its addresses are not used again.
#pragma once

#include <stddef.h>

namespace ptlite {

#if defined(PTLITE_GUARDS)

/// Whether PTLITE_GUARD is set.
bool guarded();

/// A block between guard pages at a multiple of `alignment`, filled with 0xff: NaN, or -1. nullptr where the system has no more memory or
/// mappings.
void* take_guarded(size_t bytes, size_t alignment = 1);

/// Gives back what `take_guarded` gave. The address faults from now on.
void return_guarded(void* block, size_t bytes);

#else

constexpr bool guarded() { return false; }
inline void* take_guarded(size_t, size_t = 1) { return nullptr; }
inline void return_guarded(void*, size_t) {}

#endif

}  // namespace ptlite
