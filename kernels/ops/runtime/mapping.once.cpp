#include <string.h>

#include "frames/mapping.h"
#include "dispatch/kernel.h"
#include "os/pages.h"

namespace {

// XXH64 (Yann Collet, the specification in xxHash's doc/xxhash_spec.md), seed 0.
constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                   kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

template <class T>
T read(const uint8_t* p) {
  T value;
  memcpy(&value, p, sizeof value);
  return value;
}

uint64_t round(uint64_t lane, uint64_t input) { return rotate(lane + input * kPrime2, 31) * kPrime1; }

uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

uint64_t xxh64(const uint8_t* p, size_t bytes) {
  const uint8_t* const end = p + bytes;
  uint64_t hash = kPrime5;
  if (bytes >= 32) {
    uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; end - p >= 32; p += 32) {
      for (int i = 0; i < 4; i++) lanes[i] = round(lanes[i], read<uint64_t>(p + 8 * i));
    }
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (const uint64_t lane : lanes) hash = merge(hash, lane);
  }
  hash += bytes;
  for (; end - p >= 8; p += 8) hash = rotate(hash ^ round(0, read<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (end - p >= 4) {
    hash = rotate(hash ^ read<uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    p += 4;
  }
  for (; p < end; p++) hash = rotate(hash ^ *p * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

int32_t hash(mem_hash_frame* f) {
  const uint64_t result = xxh64(reinterpret_cast<const uint8_t*>(f->address), static_cast<size_t>(f->bytes));
  f->low = static_cast<int32_t>(result);
  f->high = static_cast<int32_t>(result >> 32);
  return PTLITE_OK;
}

int32_t discard(mem_discard_frame* f) {
  ptlite::discard_clean_pages(f->address, static_cast<size_t>(f->bytes));
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(mem_hash, hash)
PTLITE_KERNEL(mem_discard, discard)
