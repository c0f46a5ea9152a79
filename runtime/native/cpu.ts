import { type CpuFacts, type CpuLevel, cpuLines, levelName, namesOfLevels, type OsSupport, osSupport } from './cpu-levels.js'
import { describeLevels, highestLevel } from './cpu-description.js'
import { detectCpu, hostDump, parseDump } from './cpu-dump.js'
import { env } from '../platform.js'
import * as kernels from './generated/kernels.js'

/** What kernels go by beside the levels. */
export interface CpuInfo {
  /** Bits of the XCR0 register: the state that the operating system has switched on. */
  readonly xcr0: number
  /** Cores the process may use. */
  readonly cores: number
  /** Cache sizes in bytes, per core for l1d and l2, of the instance that a core shares with its neighbours for l3; 0 where the system does not say. */
  readonly caches: { readonly l1d: number; readonly l2: number; readonly l3: number }
}

/** The levels of a machine: this one's, or those that this library would use on a recorded one. */
export interface CpuReport {
  readonly currentLevel: string
  readonly highestCpuLevel: string
  readonly highestBinaryLevel: string
  readonly xcr0: number
  readonly os: OsSupport
  readonly features: Readonly<Record<string, boolean>>
  readonly levels: readonly CpuLevel[]
}

function report(facts: CpuFacts): CpuReport {
  return {
    currentLevel: highestLevel(facts.levelsInUse),
    highestCpuLevel: highestLevel(facts.levelsOfCpu),
    highestBinaryLevel: cpu.highestBinaryLevel(),
    xcr0: facts.xcr0,
    os: osSupport(facts.xcr0),
    features: facts.features,
    levels: describeLevels(facts),
  }
}

/** The instruction set levels of the kernels. */
export const cpu = {
  /** In use: the highest level that the CPU has, the library holds and ATEN_CPU_CAPABILITY allows. */
  currentLevel(): string {
    return levelName(kernels.cpu_info().current_level)
  },

  /** Names of all levels in use, lowest first. */
  levelsInUse(): string[] {
    return namesOfLevels(kernels.cpu_info().levels_in_use)
  },

  /** By the CPU's features and the operating system's state alone. */
  highestCpuLevel(): string {
    return levelName(kernels.cpu_info().highest_cpu_level)
  },

  /** By the compiler that built the library alone. */
  highestBinaryLevel(): string {
    return levelName(kernels.cpu_info().highest_binary_level)
  },

  /** Instruction set extensions by CPUID, whether or not the operating system supports them. */
  features(): Record<string, boolean> {
    return Object.fromEntries(cpuLines(kernels.CpuText.features).map((line) => [line.split(' ')[0]!, line.endsWith(' 1')]))
  },

  /** Cores, caches and the state that the operating system saves. */
  info(): CpuInfo {
    const { xcr0, cores, l1d, l2, l3 } = kernels.cpu_info()
    return { xcr0, cores, caches: { l1d, l2, l3 } }
  },

  /** Which level each kernel's implementation comes from. */
  kernels(): Record<string, string> {
    return Object.fromEntries(cpuLines(kernels.CpuText.kernels).map((line) => line.split(' ') as [string, string]))
  },

  /**
   * How many elements of a dtype, a c10::ScalarType number, the kernels take in one step: what a register holds, of float32
   * for 16-bit floats, in which they compute. Throws UNSUPPORTED_DTYPE for a dtype without arithmetic of its own.
   */
  vectorLength(dtype: number): number {
    return kernels.vector_length({ dtype }).length
  },

  /** Everything about the levels of this machine; `levels` says why one is not in use. */
  report(): CpuReport {
    const { levels_in_use, xcr0 } = kernels.cpu_info()
    const { levelsOfCpu } = detectCpu(parseDump(hostDump()))
    const capability = env.ATEN_CPU_CAPABILITY ?? ''
    return report({ features: cpu.features(), xcr0, levelsOfCpu, levelsInUse: levels_in_use, capability })
  },

  /** The CPUID leaves and XCR0 that the levels follow from, as lines of hexadecimal numbers. */
  dump(): string {
    return hostDump()
  },

  /**
   * What this library would use on the machine that `dump` was recorded on, with `capability` as in ATEN_CPU_CAPABILITY.
   * Throws INVALID_ARGUMENT where either is malformed.
   */
  reportOf(dump: string, capability = ''): CpuReport {
    return report(detectCpu(parseDump(dump), { capability }))
  },
}
