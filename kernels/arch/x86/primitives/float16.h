// The float16 of the compiler, for code on single elements.
#pragma once

namespace ptlite {

using compiler_float16 = _Float16;

}  // namespace ptlite
