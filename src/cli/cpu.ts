import { readFileSync } from 'node:fs'
import { cpu as capability, PtliteError } from '../index.js'
import { formatBytes } from '../format-bytes.js'
import { table } from './format.js'
import type { OptionTable } from './options.js'
import { type Command, parse } from './usage.js'

type Report = ReturnType<typeof capability.report>
type Machine = Partial<ReturnType<typeof capability.info> & { vectorLengths: Readonly<Record<string, number>> }>

const VARIABLE = 'ATEN_CPU_CAPABILITY'

function dumpIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
}

const VECTOR_TYPES = ['float32', 'float64', 'int32', 'int8', 'bfloat16', 'float16'] as const

function thisMachine(): Machine {
  return { ...capability.info(), vectorLengths: Object.fromEntries(VECTOR_TYPES.map((dtype) => [dtype, capability.vectorLength(dtype)])) }
}

function print(report: Report, { cores, caches, vectorLengths = {} }: Machine): void {
  const rows = [
    ['level in use', report.currentLevel],
    ['highest of the CPU', report.highestCpuLevel],
    ['highest in the library', report.highestBinaryLevel],
    ['lowered by', process.env[VARIABLE] === undefined ? 'nothing' : `${VARIABLE}=${process.env[VARIABLE]}`],
  ]
  const lengths = Object.entries(vectorLengths).map(([dtype, length]) => `${length} ${dtype}`)
  if (lengths.length > 0) rows.push(['elements per vector', lengths.join(', ')])
  if (cores !== undefined) rows.push(['cores', String(cores)])
  if (caches !== undefined) {
    rows.push(['caches', `L1d ${formatBytes(caches.l1d)}, L2 ${formatBytes(caches.l2)}, L3 ${formatBytes(caches.l3)}`])
  }
  console.log(table(rows))
  console.log(`\n${table(report.levels.map((level) => [level.name, level.reason ?? 'in use']))}`)
  console.log()
  // of x86
  if ('xsave' in report.features) {
    console.log(`XCR0: ${report.xcr0.toString(16).padStart(16, '0')}`)
    for (const [name, has] of Object.entries(report.os)) console.log(`os --> ${name}: ${has}`)
  }
  console.log(table(Object.entries(report.features).map(([name, has]) => [`${name}:`, String(has)])))
}

const OPTIONS = {
  kernels: { type: 'boolean', default: false, help: 'also the level that each kernel comes from' },
  json: { type: 'boolean', default: false, help: 'as JSON' },
  dump: { type: 'boolean', default: false, help: "prints this CPU's registers that the choice depends on" },
  from: { type: 'string', value: 'FILE', help: 'says what would be used on the CPU whose --dump is in FILE' },
} as const satisfies OptionTable

export const cpu: Command = {
  synopsis: 'cpu',
  about: `Says which instruction sets the kernels use here, and why not others.`,
  options: OPTIONS,

  run(args) {
    const { values } = parse({ args, options: OPTIONS })
    if (values.from !== undefined && (values.kernels || values.dump)) {
      throw new PtliteError('INVALID_ARGUMENT', '--from tells of another CPU; it goes with --json alone')
    }
    if (values.dump) {
      console.log(values.json ? JSON.stringify({ dump: capability.dump() }) : capability.dump().trimEnd())
      return
    }
    const report = values.from === undefined ? capability.report() : capability.reportOf(dumpIn(values.from), process.env[VARIABLE])
    const machine: Machine = values.from === undefined ? thisMachine() : {}
    const kernels = values.kernels ? capability.kernels() : undefined
    if (values.json) {
      console.log(JSON.stringify({ ...report, ...machine, xcr0: report.xcr0, kernels }))
      return
    }
    print(report, machine)
    if (kernels !== undefined) console.log(`\n${table(Object.entries(kernels))}`)
  },
}
