import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { cpu } from '../../src/index.js'
import { type Comparison, comparePlan, fixtureSamples, sharedSamples } from './plans/compare.js'
import { nodeArguments } from '../support/node.js'

/**
 * Of the largest value of an output, between plan and interpreter: sums in another order, and roundings that fusing leaves out. What a sigmoid
 * makes of -35 is off by as much of itself as the sum before is in all.
 */
const MAX_ERROR = 2e-5
/** How far an arena may be above what is alive at one time. */
const MAX_ARENA = 1.15

function check(t: Test, { name, state, reason, error, sameBits, memory }: Comparison): void {
  t.ok(error <= MAX_ERROR, `${name} (${state}): off by ${error.toExponential(1)}`)
  t.ok(sameBits, `${name}: the same bits from one thread and from two`)
  if (memory === null) return
  const { arenaBytes, lowerBound, naiveBytes } = memory
  t.ok(arenaBytes >= lowerBound && arenaBytes <= MAX_ARENA * lowerBound, `${name}: an arena of ${arenaBytes} bytes for ${lowerBound}`)
  t.ok(arenaBytes <= naiveBytes, `${name}: no more than ${naiveBytes} without sharing`)
  t.equal(reason, null)
}

t.test('networks: plan and interpreter agree', async (t) => {
  for (const sample of fixtureSamples()) {
    const comparison = await comparePlan(sample)
    check(t, comparison)
    t.equal(comparison.state, 'plan', `${sample.name}: ${comparison.reason ?? ''}`)
  }
})

const shared = sharedSamples()
t.test('models of other projects: plan and interpreter agree', { skip: shared.length === 0 && 'there are none here' }, async (t) => {
  for (const sample of shared) check(t, await comparePlan(sample))
})

const levels = cpu.report().levels.filter(({ name, inUse }) => inUse && name !== cpu.currentLevel())
t.test('networks at the other levels of this machine', async (t) => {
  const script = fileURLToPath(new URL('plans/child.ts', import.meta.url))
  for (const { name } of levels) {
    const env = { ...process.env, ATEN_CPU_CAPABILITY: name }
    const { stdout } = await promisify(execFile)(process.execPath, nodeArguments(script), { env, maxBuffer: 1 << 24 })
    const { level, comparisons } = JSON.parse(stdout) as { level: string; comparisons: Comparison[] }
    t.equal(level, name)
    for (const comparison of comparisons) {
      check(t, { ...comparison, name: `${name}, ${comparison.name}` })
      t.equal(comparison.state, 'plan', comparison.reason ?? '')
    }
  }
})
