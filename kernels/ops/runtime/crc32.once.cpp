#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <array>

#include "frames/crc32.h"
#include "dispatch/kernel.h"

namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // of zip and zlib, its bits reversed
constexpr size_t kGroup = 8;

using Tables = std::array<std::array<uint32_t, 256>, kGroup>;

/// Remainders of bytes that stand 0 to 7 bytes before the end of a group.
constexpr Tables make_tables() {
  Tables made{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    made[0][byte] = crc;
  }
  for (size_t before = 1; before < kGroup; before++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const uint32_t crc = made[before - 1][byte];
      made[before][byte] = crc >> 8 ^ made[0][crc & 255];
    }
  }
  return made;
}

constexpr Tables kTables = make_tables();

int32_t crc32(mem_crc32_frame* f) {
  const uint8_t* p = reinterpret_cast<const uint8_t*>(f->header.host);
  uint32_t crc = ~static_cast<uint32_t>(f->before);
  auto left = static_cast<size_t>(f->bytes);
  for (; left >= kGroup; left -= kGroup, p += kGroup) {
    uint64_t group;
    memcpy(&group, p, kGroup);
    group ^= crc;
    crc = 0;
    for (size_t i = 0; i < kGroup; i++) crc ^= kTables[kGroup - 1 - i][group >> 8 * i & 255];
  }
  for (; left > 0; left--, p++) crc = crc >> 8 ^ kTables[0][(crc ^ *p) & 255];
  f->crc = static_cast<int32_t>(~crc);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(mem_crc32, crc32)
