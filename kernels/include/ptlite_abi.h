// The C interface of the kernel library. A kernel takes one argument, a pointer to its frame: a plain struct that
// starts with ptlite_frame_header and is declared in codegen/kernels/*.yaml. Frames belong to the caller.
#pragma once

#include <stdint.h>

#include "ptlite_status.h"

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(_WIN32)
#define PTLITE_EXPORT __declspec(dllexport)
#else
#define PTLITE_EXPORT __attribute__((visibility("default")))
#endif

typedef struct ptlite_frame_header {
  uint32_t kernel;  // id from the generated kernel list
  int32_t detail;   // free for the kernel: which operand or index a status is about
  uint64_t host;    // caller's memory for data in or out during this call; 0 where there is none
} ptlite_frame_header;

// Element types, numbered as c10::ScalarType.
enum ptlite_dtype {
  PTLITE_UINT8 = 0,
  PTLITE_INT8 = 1,
  PTLITE_INT16 = 2,
  PTLITE_INT32 = 3,
  PTLITE_INT64 = 4,
  PTLITE_FLOAT16 = 5,
  PTLITE_FLOAT32 = 6,
  PTLITE_FLOAT64 = 7,
  PTLITE_COMPLEX64 = 9,
  PTLITE_COMPLEX128 = 10,
  PTLITE_BOOL = 11,
  PTLITE_QINT8 = 12,
  PTLITE_QUINT8 = 13,
  PTLITE_QINT32 = 14,
  PTLITE_BFLOAT16 = 15,
};

// Runs the kernel that the frame names. `host` is stored in the frame's header. Returns a status.
PTLITE_EXPORT int32_t ptlite_launch(void* frame, void* host);

// Fingerprint of the kernel declarations this library was built from.
PTLITE_EXPORT uint32_t ptlite_abi_hash(void);

// Levels of the ISA ladder, by number from 0 (DEFAULT); -1 where `name` is unknown.
PTLITE_EXPORT int32_t ptlite_level_count(void);
PTLITE_EXPORT const char* ptlite_level_name(int32_t level);
// In use: the minimum of what the CPU has, what the library holds and ATEN_CPU_CAPABILITY.
PTLITE_EXPORT int32_t ptlite_current_level(void);
PTLITE_EXPORT int32_t ptlite_highest_cpu_level(void);
PTLITE_EXPORT int32_t ptlite_highest_binary_level(void);
// The level a kernel's implementation comes from; -1 for an id the library does not hold.
PTLITE_EXPORT int32_t ptlite_kernel_level(uint32_t kernel);
PTLITE_EXPORT uint32_t ptlite_kernel_count(void);
PTLITE_EXPORT const char* ptlite_kernel_name(uint32_t kernel);

#if defined(__cplusplus)
}
#endif
