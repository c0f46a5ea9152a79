// An element of 16 bytes, which is moved and never computed with: a number of complex128.
#pragma once

#include <cstdint>

namespace {

struct Pair {
  uint64_t low, high;
};

}  // namespace
