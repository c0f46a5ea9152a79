import { webAssembly } from './web-assembly.js'

/** The levels of kernels/arch/wasm/isa/ladder.txt, each a file, lowest first. */
export type WasmLevel = 'DEFAULT' | 'RELAXED'

/** A module of one function without arguments, whose result is a vector. */
function moduleOf(...body: number[]): Uint8Array {
  const code = [0, ...body, 0x0b]
  return Uint8Array.of(
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // types: () -> v128
    ...[1, 5, 1, 0x60, 0, 1, 0x7b],
    ...[3, 2, 1, 0],
    ...[10, code.length + 2, 1, code.length],
    ...code,
  )
}

/** i32.const 0, i8x16.splat */
const ZERO = [0x41, 0, 0xfd, 0x0f]

/** Smallest modules with an instruction of each level. */
const PROBES: readonly (readonly [WasmLevel, Uint8Array])[] = [
  ['DEFAULT', moduleOf(...ZERO)],
  // f32x4.relaxed_madd, and i32x4.relaxed_dot_i8x16_i7x16_add_s
  ['RELAXED', moduleOf(...ZERO, ...ZERO, ...ZERO, 0xfd, 0x85, 2, ...ZERO, ...ZERO, 0xfd, 0x93, 2)],
]

/** The highest level whose instructions this engine knows; undefined where it has no vectors, or no WebAssembly. */
export function highestWasmLevel(): WasmLevel | undefined {
  let highest: WasmLevel | undefined
  for (const [level, probe] of PROBES) {
    if (webAssembly?.validate(probe) !== true) break
    highest = level
  }
  return highest
}
