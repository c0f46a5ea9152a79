// What another machine's recorded CPUID and XCR0 would give, as a kernel.
#include "dispatch/kernel.h"
#include "frames/cpu.h"
#include "isa/cpuid.h"

namespace {

struct Recorded {
  const uint32_t (*leaves)[6];
  int32_t count;
};

ptlite::CpuidRegisters recorded_cpuid(uint32_t leaf, uint32_t subleaf, const void* context) {
  const auto* recorded = static_cast<const Recorded*>(context);
  for (int32_t i = 0; i < recorded->count; i++) {
    const uint32_t* r = recorded->leaves[i];
    if (r[0] == leaf && r[1] == subleaf) return {{r[2], r[3], r[4], r[5]}};
  }
  return {};
}

int32_t detect(cpu_detect_frame* f) {
  const Recorded recorded{reinterpret_cast<const uint32_t(*)[6]>(f->header.host), f->leaves};
  const ptlite::CpuState cpu = ptlite::decode_cpu(recorded_cpuid, &recorded, static_cast<uint64_t>(f->xcr0));
  const char* capability = reinterpret_cast<const char*>(recorded.leaves + f->leaves);
  uint32_t allowed;
  f->capability_known = ptlite::levels_up_to(capability, static_cast<size_t>(f->capability_length), &allowed);
  f->features = static_cast<int64_t>(cpu.features);
  f->state = static_cast<int64_t>(cpu.xcr0);
  const uint32_t levels = ptlite::levels_of(cpu);
  f->levels_of_cpu = static_cast<int32_t>(levels);
  const uint32_t usable = levels & static_cast<uint32_t>(f->levels_held) & allowed;
  f->levels_in_use = static_cast<int32_t>(ptlite::permitted(usable, f->tiles != 0 ? [] { return true; } : [] { return false; }));
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(cpu_detect, detect)
