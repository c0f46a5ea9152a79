// What another machine's recorded answers would give, as a kernel.
#include "dispatch/kernel.h"
#include "dispatch/processor.h"
#include "frames/cpu.h"

namespace {

int32_t detect(cpu_detect_frame* f) {
  const auto* rows = reinterpret_cast<const uint32_t(*)[6]>(f->header.host);
  const ptlite::CpuState cpu = ptlite::recorded_cpu(rows, f->leaves, static_cast<uint64_t>(f->xcr0));
  const char* capability = reinterpret_cast<const char*>(rows + f->leaves);
  uint32_t allowed;
  f->capability_known = ptlite::levels_up_to(capability, static_cast<size_t>(f->capability_length), &allowed);
  f->features = static_cast<int64_t>(cpu.features);
  f->state = static_cast<int64_t>(cpu.xcr0);
  const uint32_t levels = ptlite::levels_of(cpu);
  f->levels_of_cpu = static_cast<int32_t>(levels);
  const uint32_t usable = levels & static_cast<uint32_t>(f->levels_held) & allowed;
  f->levels_in_use = static_cast<int32_t>(ptlite::levels_permitted(usable, f->tiles != 0));
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(cpu_detect, detect)
