// The C library's heap is of one thread: calls of it go by way of these (--wrap of the linker).
#include <stddef.h>
#include <stdlib.h>

#include "os/lock.h"
#include "os/wasi/imports.h"

namespace {

ptlite::Mutex heap;

}  // namespace

extern "C" {

void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_realloc(void*, size_t);
void* __real_aligned_alloc(size_t, size_t);
void __real_free(void*);

void* __wrap_malloc(size_t bytes) {
  const ptlite::Lock lock(heap);
  return __real_malloc(bytes);
}

void* __wrap_calloc(size_t count, size_t bytes) {
  const ptlite::Lock lock(heap);
  return __real_calloc(count, bytes);
}

void* __wrap_realloc(void* block, size_t bytes) {
  const ptlite::Lock lock(heap);
  return __real_realloc(block, bytes);
}

PTLITE_EXPORTED("aligned_alloc") void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  const ptlite::Lock lock(heap);
  return __real_aligned_alloc(alignment, bytes);
}

PTLITE_EXPORTED("free") void __wrap_free(void* block) {
  const ptlite::Lock lock(heap);
  __real_free(block);
}

}  // extern "C"
