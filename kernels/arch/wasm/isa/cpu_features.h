// Proposals of WebAssembly that levels depend on, by the names of engines.
#pragma once

#define PTLITE_FOR_EACH_FEATURE(X) \
  X(simd128)                       \
  X(relaxed_simd)
