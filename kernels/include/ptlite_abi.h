// The C interface of the kernel library. A kernel takes one argument, a pointer to its frame: a plain struct that
// starts with ptlite_frame_header and is declared in codegen/kernels/*.yaml. Frames belong to the caller.
#pragma once

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define PTLITE_EXPORT __attribute__((visibility("default")))

typedef struct ptlite_frame_header {
  uint32_t kernel;  // id from the generated kernel list
  int32_t detail;   // free for the kernel: which operand or index a status is about
  uint64_t host;    // caller's memory for data in or out during this call; 0 where there is none
} ptlite_frame_header;

// What a kernel returns.
enum {
  PTLITE_OK = 0,
  PTLITE_NO_MEMORY = 1,
  PTLITE_INDEX_RANGE = 2,  // an index value in the data is out of range; detail holds the operand
  PTLITE_NO_DTYPE = 3,     // this library was built without the dtype
  PTLITE_FILE = 4,         // a file cannot be opened or mapped; detail holds errno
  PTLITE_SINGULAR = 5,     // a matrix is singular or not positive definite
  PTLITE_NO_KERNEL = 6,    // the library holds no kernel of this id
  PTLITE_ZERO_DIVISION = 7,  // an integer was divided by zero
  PTLITE_CANCELLED = 8,      // another thread ended the work
  PTLITE_NOT_SELECTED = 9,   // a selective build left this operation or dtype of the kernel out
  PTLITE_NOT_FINITE = 10,    // data whose range is needed hold an infinity or NaN
  PTLITE_NOT_OWNED = 11,     // the thread has no block, mapping or handle at this address
  PTLITE_TIME_LIMIT = 12,    // the thread's deadline has passed
};

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
