#include "os/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dispatch/processor.h"
#include "os/lock.h"

namespace ptlite {
namespace {

/// What a file of /sys holds, up to its end of line; empty where there is none.
void read_line(const char* path, char (&line)[32]) {
  line[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t length = read(file, line, sizeof(line) - 1);
  close(file);
  line[length > 0 ? length : 0] = '\0';
}

/// Of the first core, by Linux's list of caches; of the first level the one of data.
int64_t by_system(int level) {
  for (int index = 0; index < 8; index++) {
    char path[80], line[32];
    const auto read_of = [&](const char* what) {
      snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
      read_line(path, line);
    };
    read_of("level");
    if (line[0] == '\0') return 0;
    if (atoi(line) != level) continue;
    read_of("type");
    if (line[0] == 'I') continue;
    read_of("size");
    char* unit;
    const long long size = strtoll(line, &unit, 10);
    const int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;
    return size > 0 && size < (1LL << 30) ? size << shift : 0;
  }
  return 0;
}

int64_t by_library(int name) {
  const long size = sysconf(name);
  return size > 0 ? size : 0;
}

/// The C library knows the caches of some processors alone.
int64_t size_of(int level, int name) {
  const int64_t size = by_library(name);
  return size > 0 ? size : by_system(level);
}

/// What a core can count on of a third-level cache whose sharing is unknown: an instance of most server CPUs, which others use as well.
constexpr int64_t kShareOfL3 = int64_t{32} << 20;

/// The C library adds up the instances of a package on some CPUs, so that it is asked last, and not believed: virtual machines that hide their caches have
/// half a gigabyte by it.
int64_t l3() {
  if (const int64_t size = by_system(3); size > 0) return size;
  if (const int64_t size = third_level_cache(); size > 0) return size;
  const int64_t size = by_library(_SC_LEVEL3_CACHE_SIZE);
  return size < kShareOfL3 ? size : kShareOfL3;
}

Once once;
CacheSizes sizes;

void look_up() { sizes = {size_of(1, _SC_LEVEL1_DCACHE_SIZE), size_of(2, _SC_LEVEL2_CACHE_SIZE), l3()}; }

}  // namespace

int32_t core_count() {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? static_cast<int32_t>(cores) : 1;
}

const CacheSizes& cache_sizes() {
  once.run(look_up);
  return sizes;
}

uint64_t processor_features(uint32_t vector) { return getauxval(vector); }

#if defined(__x86_64__)
// 8 KiB for each thread that uses them
bool request_tiles() {
  constexpr long arch_req_xcomp_perm = 0x1023;
  constexpr long tile_data = 18;
  return syscall(SYS_arch_prctl, arch_req_xcomp_perm, tile_data) == 0;
}
#endif

}  // namespace ptlite
