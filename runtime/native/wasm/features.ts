import { webAssembly } from './web-assembly.js'

/** The levels of kernels/arch/wasm/isa/ladder.txt, each a file, lowest first. */
export type WasmLevel = 'DEFAULT' | 'RELAXED'

const VECTOR = 0x7b
const INT32 = 0x7f

/** A module that exports `f`, a function without arguments. */
function moduleOf(result: number, ...body: number[]): Uint8Array {
  const code = [0, ...body, 0x0b]
  return Uint8Array.of(
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 5, 1, 0x60, 0, 1, result],
    ...[3, 2, 1, 0],
    ...[7, 5, 1, 1, 0x66, 0, 0],
    ...[10, code.length + 2, 1, code.length],
    ...code,
  )
}

/** i32.const of less than 64, i8x16.splat */
const bytes = (value: number): number[] => [0x41, value, 0xfd, 0x0f]
/** The same of int32. */
const numbers = (value: number): number[] => [0x41, value, 0xfd, 0x11]

const VECTORS = moduleOf(VECTOR, ...bytes(0))
/** f32x4.relaxed_madd */
const SUMS = moduleOf(VECTOR, ...bytes(0), ...bytes(0), ...bytes(0), 0xfd, 0x85, 2)
/** A lane of i32x4.relaxed_dot_i8x16_i7x16_add_s: 4 * 3 * 50 + 7 */
const PRODUCTS = moduleOf(INT32, ...bytes(3), ...bytes(50), ...numbers(7), 0xfd, 0x93, 2, 0xfd, 0x1b, 0)

/** The highest level whose instructions this engine knows; undefined where it has no vectors, or no WebAssembly. */
export function highestWasmLevel(): WasmLevel | undefined {
  if (webAssembly?.validate(VECTORS) !== true) return undefined
  return [SUMS, PRODUCTS].every((module) => webAssembly!.validate(module)) && areProductsRight() ? 'RELAXED' : 'DEFAULT'
}

/** V8 11.3, of Node 20, which has relaxed SIMD behind an option, compiles them wrong at first. */
function areProductsRight(): boolean {
  try {
    const { f } = new webAssembly!.Instance(new webAssembly!.Module(PRODUCTS), {}).exports as { readonly f: () => number }
    return f() === 607
  } catch {
    // a policy forbids to compile meanwhile
    return true
  }
}
