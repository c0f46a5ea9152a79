import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cpu } from '../../src/index.js'
import { type Bound, CASES, EXEMPT } from './levels/cases.js'
import { numbersOf, type Report, type Result, runAt } from './levels/report.js'
import { runnable } from '../support/node.js'

/** Every kernel at every level that this machine has, each in a process of its own, against the kernels of DEFAULT. */

const ladder = cpu.report().levels
const reference = runAt('DEFAULT')

const EPSILON: Readonly<Record<string, number>> = { float64: 2 ** -52, float32: 2 ** -23, float16: 2 ** -10, bfloat16: 2 ** -7 }
/** Steps below the smallest normal number. */
const TINY: Readonly<Record<string, number>> = { float64: 0, float32: 2 ** -149, float16: 2 ** -24, bfloat16: 2 ** -133 }

function tolerance(want: number, dtype: string, { units, of = 0, steps = 0 }: Bound): number {
  const own = EPSILON[dtype]
  if (own === undefined) return steps
  if (units === 0) return 0
  const computed = Math.min(own, 2 ** -23)
  const rounding = own > computed ? own * Math.abs(want) : 0
  return units * computed * Math.max(Math.abs(want), of) + rounding + TINY[dtype]!
}

const kindOf = (r: Result): string => `${r.dtype}[${r.shape.join(', ')}]`

/** What is wrong with `got`; undefined where nothing is. */
function difference(got: Result | undefined, want: Result, bound: Bound): string | undefined {
  if (got === undefined || kindOf(got) !== kindOf(want)) return `not ${kindOf(want)}`
  const [numbers, wanted] = [numbersOf(got), numbersOf(want)]
  const at = wanted.findIndex((x, i) => !(Object.is(x, numbers[i]) || Math.abs(x - numbers[i]!) <= tolerance(x, want.dtype, bound)))
  return at < 0 ? undefined : `${numbers[at]} at ${at} of ${kindOf(want)}, DEFAULT has ${wanted[at]}`
}

function differences(report: Report): string[] {
  return Object.entries(CASES).flatMap(([kernel, cases]) =>
    cases.flatMap(({ name, bound }) => {
      const key = `${kernel}: ${name}`
      return reference.cases[key]!.rounds.flatMap((results, round) =>
        results.flatMap((want, i) => {
          const wrong = difference(report.cases[key]?.rounds[round]?.[i], want, bound)
          return wrong === undefined ? [] : [`${key}, round ${round}: ${wrong}`]
        }),
      )
    }),
  )
}

for (const { name, inUse, reason } of ladder.slice(1)) {
  t.test(`${name} gives what DEFAULT gives, within each case's bound`, { skip: inUse ? false : `not run: ${reason}` }, (t) => {
    const report = runAt(name.toLowerCase())
    t.equal(report.level, name)
    t.equal(report.vectorBytes, name.startsWith('AVX2') ? 32 : name.startsWith('A') ? 64 : 16)
    t.strictSame(differences(report), [])
    t.end()
  })
}

for (const { name, inUse, reason } of ladder) {
  t.test(`${name} touches nothing outside of operands and results`, { skip: inUse ? false : `not run: ${reason}` }, (t) => {
    for (const guard of ['end', 'start']) t.doesNotThrow(() => runAt(name, guard), guard)
    t.end()
  })
}

t.test('the table has every kernel that is compiled for several levels', (t) => {
  const names = Object.keys(CASES)
  const idle = Object.entries(CASES).flatMap(([kernel, cases]) =>
    cases.filter(({ name }) => !reference.cases[`${kernel}: ${name}`]!.launched.includes(kernel)).map(({ name }) => `${kernel}: ${name}`),
  )
  t.strictSame(idle, [], 'every case launches the kernel that it stands under')
  t.strictSame(
    Object.keys(EXEMPT).filter((name) => names.includes(name)),
    [],
    'nothing is both tried and exempt',
  )
  // what DEFAULT serves here as well is compiled once, and the same at all levels
  const several = Object.entries(cpu.kernels()).filter(([, level]) => level !== 'DEFAULT')
  const missing = several.map(([name]) => name).filter((name) => !names.includes(name) && EXEMPT[name] === undefined)
  t.strictSame(missing, [], 'a kernel without a case: add one to test/native/levels/cases.ts')
  t.end()
})

t.test('no kernel is without an implementation at DEFAULT', (t) => {
  t.equal(reference.vectorBytes, 16)
  t.ok(Object.keys(reference.kernels).length > 50)
  t.strictSame(
    Object.entries(reference.kernels).filter(([, level]) => level !== 'DEFAULT'),
    [],
  )
  t.end()
})

t.test('an unknown value of the variable is said once and changes nothing', (t) => {
  const cwd = fileURLToPath(new URL('../../', import.meta.url))
  const script = `import { cpu } from ${JSON.stringify(runnable(join(cwd, 'src/index.ts')))}; cpu.report(); cpu.kernels(); console.log(cpu.currentLevel())`
  const env = { ...process.env, ATEN_CPU_CAPABILITY: 'avx9' }
  const { stdout, stderr } = spawnSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], {
    env,
    cwd,
    encoding: 'utf8',
  })
  t.equal(stdout.trim(), ladder.findLast(({ inUse }) => inUse)?.name)
  const lines = stderr.split('\n').filter((line) => line.includes('ATEN_CPU_CAPABILITY'))
  t.equal(lines.length, 1)
  t.match(lines[0], 'avx9')
  for (const { name } of ladder) t.match(lines[0], name)
  t.end()
})
