// Aligned blocks of the C library's heap.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace ptlite {

/// `bytes` at a multiple of `alignment`, which `bytes` is a multiple of. nullptr where there is no memory. Ends with free_aligned.
inline void* allocate_aligned(size_t alignment, size_t bytes) {
#if defined(_WIN32)
  return _aligned_malloc(bytes, alignment);
#else
  return aligned_alloc(alignment, bytes);
#endif
}

inline void free_aligned(void* block) {
#if defined(_WIN32)
  _aligned_free(block);
#else
  free(block);
#endif
}

}  // namespace ptlite
