import { observeLaunches } from '../../../runtime/native/frame.js'
import { callOperator, cpu, type Output, Tensor } from '../../../src/index.js'
import { CASES } from './cases.js'
import { Draw } from './draw.js'
import type { Report, Result } from './report.js'

/** Prints what every case gives at this process's level, and the kernels that it launched. */

const ROUNDS = 3

function tensorsOf(value: Output): Tensor[] {
  if (value instanceof Tensor) return [value]
  if (Array.isArray(value)) return (value as Output[]).flatMap(tensorsOf)
  throw new Error(`a case gave ${typeof value}`)
}

function result(value: Tensor): Result {
  const plain = value.quant === null ? value : (callOperator('aten::int_repr', [value]) as Tensor)
  const wide = plain.dtype.includes('float') ? (callOperator('aten::to.dtype', [plain, 'float64']) as Tensor) : plain
  const numbers = Float64Array.from(wide.data() as Float64Array, Number)
  return { dtype: plain.dtype, shape: plain.shape, numbers: Buffer.from(numbers.buffer).toString('base64') }
}

const report: Report = { level: cpu.currentLevel(), kernels: cpu.kernels(), vectorBytes: 4 * cpu.vectorLength('float32'), cases: {} }
for (const [kernel, cases] of Object.entries(CASES)) {
  cases.forEach(({ name, run }, index) => {
    const launched = new Set<string>()
    const rounds: Result[][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const d = new Draw(1000 * round + 10 * index + kernel.length)
      observeLaunches((_, launch) => void launched.add(launch))
      try {
        rounds.push(tensorsOf(run(d)).map(result))
      } catch (cause) {
        throw new Error(`${kernel}: ${name}`, { cause })
      } finally {
        observeLaunches(null)
      }
    }
    report.cases[`${kernel}: ${name}`] = { launched: [...launched], rounds }
  })
}
console.log(JSON.stringify(report))
