import * as kernels from './generated/kernels.js'

export interface CpuInfo {
  /** Bits of the XCR0 register: the state that the operating system has switched on. */
  readonly xcr0: number
  /** Cores the process may use. */
  readonly cores: number
  /** Cache sizes in bytes, per core for l1d and l2; 0 where the system does not say. */
  readonly caches: { readonly l1d: number; readonly l2: number; readonly l3: number }
}

let levelNames: readonly string[] | undefined

function lines(which: number): string[] {
  const length = kernels.cpu_text({ which, capacity: 0 }, new Uint8Array(1))
  const bytes = new Uint8Array(length)
  kernels.cpu_text({ which, capacity: length }, bytes)
  return new TextDecoder().decode(bytes).split('\n').slice(0, -1)
}

function levelName(level: number): string {
  levelNames ??= lines(kernels.CpuText.levels)
  return levelNames[level] ?? 'DEFAULT'
}

/** The instruction set levels of the kernels. */
export const cpu = {
  /** In use: the minimum of what the CPU has, what the library holds and ATEN_CPU_CAPABILITY. */
  currentLevel(): string {
    return levelName(kernels.cpu_info().current_level)
  },

  highestCpuLevel(): string {
    return levelName(kernels.cpu_info().highest_cpu_level)
  },

  highestBinaryLevel(): string {
    return levelName(kernels.cpu_info().highest_binary_level)
  },

  /** Instruction set extensions by CPUID, whether or not the operating system supports them. */
  features(): Record<string, boolean> {
    return Object.fromEntries(lines(kernels.CpuText.features).map((line) => [line.split(' ')[0]!, line.endsWith(' 1')]))
  },

  info(): CpuInfo {
    const { xcr0, cores, l1d, l2, l3 } = kernels.cpu_info()
    return { xcr0, cores, caches: { l1d, l2, l3 } }
  },

  /** Which level each kernel's implementation comes from. */
  kernels(): Record<string, string> {
    return Object.fromEntries(lines(kernels.CpuText.kernels).map((line) => line.split(' ') as [string, string]))
  },
}
