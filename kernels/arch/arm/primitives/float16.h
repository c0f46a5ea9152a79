// The float16 of the compiler, for code on single elements: what it computes, it computes in float32.
#pragma once

namespace ptlite {

using compiler_float16 = __fp16;

}  // namespace ptlite
