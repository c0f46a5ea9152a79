import { check } from '../error.js'
import { type CpuFacts, cpuLines } from './cpu-levels.js'
import { levelsInLibrary } from './cpu-description.js'
import * as kernels from './generated/kernels.js'

/** The registers of a CPU that the choice of its level depends on. */
export interface CpuDump {
  /** CPUID answers: leaf, subleaf, eax, ebx, ecx, edx. */
  readonly leaves: readonly (readonly number[])[]
  readonly xcr0: number
}

export interface DetectOptions {
  /** As in ATEN_CPU_CAPABILITY. */
  readonly capability?: string
  /** Whether the operating system lets the process use tiles; true if left out. */
  readonly tiles?: boolean
  /** Levels of the library as bits by number; those of this library if left out. */
  readonly levelsHeld?: number
}

const MAX_LEAVES = 4096
const MAX_REGISTER = 2 ** 32 - 1

/** This machine's registers in the text form that parseDump reads. */
export function hostDump(): string {
  return [...cpuLines(kernels.CpuText.cpuid), `xcr0 ${kernels.cpu_info().xcr0.toString(16)}`, ''].join('\n')
}

/**
 * Reads lines of hexadecimal numbers, `leaf subleaf eax ebx ecx edx` and one `xcr0 value`; `#` starts a comment. Throws
 * INVALID_ARGUMENT with the line's number where one is something else.
 */
export function parseDump(text: string): CpuDump {
  const leaves: number[][] = []
  let xcr0 = 0
  text.split('\n').forEach((line, i) => {
    const words = line.replace(/#.*/, '').trim().split(/\s+/)
    if (words[0] === '') return
    const isState = words[0] === 'xcr0'
    const numbers = words.slice(isState ? 1 : 0).map((word) => (/^[0-9a-f]{1,13}$/i.test(word) ? parseInt(word, 16) : NaN))
    check(
      numbers.length === (isState ? 1 : 6) && numbers.every((n) => n <= (isState ? Number.MAX_SAFE_INTEGER : MAX_REGISTER)),
      () => `line ${i + 1}: expected 'leaf subleaf eax ebx ecx edx' or 'xcr0 value' in hexadecimal, found '${line.trim().slice(0, 80)}'`,
    )
    if (isState) xcr0 = numbers[0]!
    else leaves.push(numbers)
  })
  check(leaves.length > 0 && leaves.length <= MAX_LEAVES, () => `expected 1 to ${MAX_LEAVES} lines of CPUID leaves, found ${leaves.length}`)
  return { leaves, xcr0 }
}

/** What this library would do on the CPU of `dump`. Throws INVALID_ARGUMENT where `capability` names no level. */
export function detectCpu(dump: CpuDump, { capability = '', tiles = true, levelsHeld = levelsInLibrary() }: DetectOptions = {}): CpuFacts {
  const letters = new TextEncoder().encode(capability)
  const host = new Uint8Array(dump.leaves.length * 24 + letters.length)
  new Uint32Array(host.buffer, 0, dump.leaves.length * 6).set(dump.leaves.flat())
  host.set(letters, dump.leaves.length * 24)
  const args = {
    leaves: dump.leaves.length,
    capability_length: letters.length,
    levels_held: levelsHeld,
    tiles: tiles ? 1 : 0,
    xcr0: dump.xcr0,
  }
  const found = kernels.cpu_detect(args, host)
  check(found.capability_known === 1, () => `'${capability}' is no level of the ladder`)
  const bits = BigInt(found.features)
  const names = cpuLines(kernels.CpuText.features).map((line) => line.split(' ')[0]!)
  return {
    features: Object.fromEntries(names.map((name, i) => [name, ((bits >> BigInt(i)) & 1n) === 1n])),
    xcr0: found.state,
    levelsOfCpu: found.levels_of_cpu,
    levelsInUse: found.levels_in_use,
    capability,
  }
}
