// Names the levels of 64-bit Arm that CPUs have which report these features: detect HWCAP,HWCAP2 ... in hexadecimal. A line for each.
#include <stdio.h>

#include "dispatch/processor.h"

int main(int count, char** arguments) {
  for (int i = 1; i < count; i++) {
    unsigned first, second;
    if (sscanf(arguments[i], "%x,%x", &first, &second) != 2) return 1;
    const uint32_t rows[2][6] = {{16, 0, first, 0, 0, 0}, {26, 0, second, 0, 0, 0}};
    const uint32_t levels = ptlite::levels_of(ptlite::recorded_cpu(rows, 2, 0));
    for (int32_t level = 0; level < PTLITE_LEVEL_COUNT; level++) {
      if ((levels >> level & 1) != 0) printf("%s ", ptlite::level_info(level).name);
    }
    printf("\n");
  }
  return 0;
}
