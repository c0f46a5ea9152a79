#include <atomic>

#include "kernel.h"
#include "kernel_list.h"
#include "pool/budget.h"
#include "run_frame.h"
#include "memory/scratch.h"
#include "stub.h"

namespace ptlite {

// Filled by static initialisers before the first launch; zero before them, whatever their order.
#define PTLITE_IMPLEMENTATIONS(name)                \
  extern Kernel implementations_of_##name[];        \
  Kernel implementations_of_##name[PTLITE_LEVEL_COUNT];
PTLITE_FOR_EACH_KERNEL(PTLITE_IMPLEMENTATIONS)
#undef PTLITE_IMPLEMENTATIONS

namespace {

Kernel* const implementations[] = {
#define PTLITE_IMPLEMENTATIONS(name) implementations_of_##name,
    PTLITE_FOR_EACH_KERNEL(PTLITE_IMPLEMENTATIONS)
#undef PTLITE_IMPLEMENTATIONS
};
constexpr uint32_t kKernels = sizeof(implementations) / sizeof(implementations[0]);

int32_t resolve(void* frame);

// What serves each kernel. A slot starts at resolve, which looks the kernel up, puts it in the slot and runs it;
// threads that race find the same answer.
struct Slot {
  std::atomic<Kernel> kernel{&resolve};
};
Slot slots[kKernels];

int32_t level_of(uint32_t id) { return serving_level(implementations[id]); }

int32_t resolve(void* frame) {
  const uint32_t id = static_cast<const ptlite_frame_header*>(frame)->kernel;
  const int32_t level = level_of(id);
  if (level < 0) return PTLITE_NO_KERNEL;
  const Kernel kernel = implementations[id][level];
  slots[id].kernel.store(kernel, std::memory_order_relaxed);
  return kernel(frame);
}

constexpr const char* kNames[] = {
#define PTLITE_KERNEL_NAME(name) #name,
    PTLITE_FOR_EACH_KERNEL(PTLITE_KERNEL_NAME)
#undef PTLITE_KERNEL_NAME
};

thread_local Scratch scratch;

}  // namespace

void* ptlite_scratch(size_t bytes) { return scratch.at_least(bytes); }

int32_t ptlite_run_frame(void* frame) {
  const uint32_t id = static_cast<const ptlite_frame_header*>(frame)->kernel;
  if (id >= kKernels) return PTLITE_NO_KERNEL;
  return slots[id].kernel.load(std::memory_order_relaxed)(frame);
}

int32_t ptlite_run_frame_at(void* frame, uint32_t levels) {
  const uint32_t id = static_cast<const ptlite_frame_header*>(frame)->kernel;
  if (id >= kKernels) return PTLITE_NO_KERNEL;
  const int32_t level = serving_level(implementations[id], with_lowest(levels) & levels_in_use());
  return level < 0 ? PTLITE_NO_KERNEL : implementations[id][level](frame);
}

namespace {

inline int32_t launch_at_level(void* frame) {
  const uint32_t limit = level_limit();
  return limit == 0 ? ptlite_run_frame(frame) : ptlite_run_frame_at(frame, limit);
}

}  // namespace
}  // namespace ptlite

extern "C" {

int32_t ptlite_launch(void* frame, void* host) {
  static_cast<ptlite_frame_header*>(frame)->host = reinterpret_cast<uint64_t>(host);
  if (__builtin_expect(ptlite::limited(), 0)) return ptlite::within_budget(ptlite::launch_at_level, frame);
  return ptlite::launch_at_level(frame);
}

uint32_t ptlite_abi_hash(void) { return PTLITE_KERNEL_ABI_HASH; }

uint32_t ptlite_kernel_count(void) { return ptlite::kKernels; }

int32_t ptlite_kernel_level(uint32_t kernel) { return kernel < ptlite::kKernels ? ptlite::level_of(kernel) : -1; }

const char* ptlite_kernel_name(uint32_t kernel) { return kernel < ptlite::kKernels ? ptlite::kNames[kernel] : ""; }

}  // extern "C"
