import { type CpuFacts, type CpuLevel, levelName, type LevelNeeds, levels } from './cpu-levels.js'

export function highestLevel(set: number): string {
  return levelName(31 - Math.clz32(set))
}

/** The set of the levels that have these names; other names count for nothing. */
export function levelsNamed(names: readonly string[]): number {
  return levels().reduce((set, { name }, i) => (names.includes(name) ? set | (1 << i) : set), 0)
}

/** The levels that the library holds. */
export function levelsInLibrary(): number {
  return levels().reduce((set, { inLibrary }, i) => (inLibrary ? set | (1 << i) : set), 0)
}

/** The whole ladder, with why a level does not serve. */
export function describeLevels(cpu: CpuFacts): CpuLevel[] {
  return levels().map((level, i) => {
    const [inCpu, inUse] = [cpu.levelsOfCpu, cpu.levelsInUse].map((set) => (set & (1 << i)) !== 0) as [boolean, boolean]
    return { name: level.name, inLibrary: level.inLibrary, inCpu, inUse, reason: inUse ? null : reason(level, i, inCpu, cpu) }
  })
}

function reason(level: LevelNeeds, index: number, inCpu: boolean, cpu: CpuFacts): string {
  if (!inCpu) {
    const missing = level.features.filter((name) => cpu.features[name] !== true)
    if (missing.length > 0) return `the CPU has no ${missing.join(', ')}`
    return `the operating system has not switched on ${hex(level.xcr0)} of XCR0, which is ${hex(cpu.xcr0)}`
  }
  if (!level.inLibrary) return `left out of this library: it needs g++ ${level.compiler}`
  const limit = levels().findIndex(({ name }) => name === cpu.capability.toUpperCase())
  if (limit >= 0 && index > limit) return `ATEN_CPU_CAPABILITY=${cpu.capability}`
  return 'the operating system does not permit this process to use tiles'
}

const hex = (n: number): string => `0x${n.toString(16)}`
