import * as kernels from './generated/kernels.js'

/** A level of the ladder, and whether kernels of it serve. */
export interface CpuLevel {
  readonly name: string
  /** This library holds it. */
  readonly inLibrary: boolean
  /** The CPU has its features and the operating system has switched on its state. */
  readonly inCpu: boolean
  /** Kernels compiled for it serve. */
  readonly inUse: boolean
  /** Why it is not in use; null where it is. */
  readonly reason: string | null
}

/** Register state that the operating system saves for each thread, without which a CPU's instructions do not count. */
export interface OsSupport {
  readonly avx: boolean
  readonly avx2: boolean
  readonly avx512: boolean
  readonly amx: boolean
}

/** What a CPU and operating system can do, here or recorded elsewhere. Levels are sets of bits by number. */
export interface CpuFacts {
  readonly features: Readonly<Record<string, boolean>>
  readonly xcr0: number
  readonly levelsOfCpu: number
  readonly levelsInUse: number
  /** As in ATEN_CPU_CAPABILITY; empty where nothing lowers the level. */
  readonly capability: string
}

/** What a level asks for: a row of the ladder (kernels/arch/<processor>/isa/ladder.txt), with what it builds upon. */
export interface LevelNeeds {
  readonly name: string
  readonly inLibrary: boolean
  readonly compiler: string
  readonly xcr0: number
  readonly features: readonly string[]
}

const YMM_STATE = 0x6
const ZMM_STATE = 0xe6
const TILE_STATE = 0x60000

let ladder: readonly LevelNeeds[] | undefined

/** Lines that the library writes about CPUs. */
export function cpuLines(which: number): string[] {
  const length = kernels.cpu_text({ which, capacity: 0 }, new Uint8Array(1))
  const bytes = new Uint8Array(length)
  kernels.cpu_text({ which, capacity: length }, bytes)
  return new TextDecoder().decode(bytes).split('\n').slice(0, -1)
}

export function levels(): readonly LevelNeeds[] {
  return (ladder ??= cpuLines(kernels.CpuText.levels).map((line) => {
    const [name = '', held, compiler = '', xcr0, features = ''] = line.split(' ')
    return { name, inLibrary: held === '1', compiler, xcr0: Number(xcr0), features: features.split(',') }
  }))
}

export function levelName(level: number): string {
  return levels()[level]?.name ?? 'DEFAULT'
}

/** The names of a set of levels, lowest first. */
export function namesOfLevels(set: number): string[] {
  return levels().flatMap(({ name }, i) => ((set & (1 << i)) === 0 ? [] : [name]))
}

/** The state of XCR0 by the instruction sets that need it. */
export function osSupport(xcr0: number): OsSupport {
  const has = (state: number): boolean => (xcr0 & state) === state
  return { avx: has(YMM_STATE), avx2: has(YMM_STATE), avx512: has(ZMM_STATE), amx: has(TILE_STATE) }
}
