const CPP = new Set(
  (
    'alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const const_cast constexpr ' +
    'continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long ' +
    'mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short ' +
    'signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union ' +
    'unsigned using virtual void volatile wchar_t while xor xor_eq'
  ).split(' '),
)

/** Words of TypeScript's modules, and what generated files import or declare themselves. */
const TYPESCRIPT = new Set(
  (
    'arguments await debugger eval extends finally function implements import in instanceof interface let null package super typeof var with ' +
    'yield KERNEL_ABI_HASH NoFields absentKernel custom f32 f64 getI64 i32 i64 launch library loadKernels ptr putDtype putF32s putF64s putI32s ' +
    'putI64 putI64s'
  ).split(' '),
)

/** A word of C++17: no member of a frame can have this name. */
export function isReservedMember(name: string): boolean {
  return CPP.has(name)
}

/** A word of C++17 or TypeScript: no kernel and no enumeration can have this name. */
export function isReserved(name: string): boolean {
  return CPP.has(name) || TYPESCRIPT.has(name)
}
