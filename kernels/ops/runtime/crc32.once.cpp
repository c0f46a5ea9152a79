#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <array>

#include "frames/crc32.h"
#include "dispatch/kernel.h"

namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // of zip and zlib, its bits reversed
constexpr size_t kGroup = 8, kNibbles = 2 * kGroup;

using Tables = std::array<std::array<uint32_t, 16>, kNibbles>;

/// Remainders of four bits that stand 0 to 15 times four bits before the end of a group: of bytes they would take 8 kB of the library.
constexpr Tables make_tables() {
  Tables made{};
  for (uint32_t bits = 0; bits < 16; bits++) {
    uint32_t crc = bits;
    for (size_t before = 0; before < kNibbles; before++) {
      for (int bit = 0; bit < 4; bit++) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
      made[before][bits] = crc;
    }
  }
  return made;
}

constexpr Tables kTables = make_tables();

/// Of a model. Engines of WebAssembly have better code for a function after some calls of it, but not in the middle of one.
constexpr size_t kPiece = 1 << 16;

[[gnu::noinline]] uint32_t continued(uint32_t crc, const uint8_t* p, size_t left) {
  for (; left >= kGroup; left -= kGroup, p += kGroup) {
    uint64_t group;
    memcpy(&group, p, kGroup);
    group ^= crc;
    crc = 0;
    for (size_t i = 0; i < kNibbles; i++) crc ^= kTables[kNibbles - 1 - i][group >> 4 * i & 15];
  }
  for (; left > 0; left--, p++) {
    crc ^= *p;
    crc = crc >> 8 ^ kTables[1][crc & 15] ^ kTables[0][crc >> 4 & 15];
  }
  return crc;
}

int32_t crc32(mem_crc32_frame* f) {
  const uint8_t* p = reinterpret_cast<const uint8_t*>(f->header.host);
  uint32_t crc = ~static_cast<uint32_t>(f->before);
  auto left = static_cast<size_t>(f->bytes);
  while (left > 0) {
    const size_t bytes = left < kPiece ? left : kPiece;
    crc = continued(crc, p, bytes);
    p += bytes;
    left -= bytes;
  }
  f->crc = static_cast<int32_t>(~crc);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(mem_crc32, crc32)
