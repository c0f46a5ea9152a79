#include "check.h"
#include "lanes.h"

int main() {
  check_lanes();
  check_halves();
  check_functions();
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
