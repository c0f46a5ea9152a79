import t from 'tap'
import { alignedSize, ALIGNMENT, type Lifetime, type MemoryPlan, planMemory } from '../../compiler/memory/plan-memory.js'
import { Random } from '../backends/support/random.js'

/** Two buffers that are alive at one step and overlap, if there are any. */
function overlap(buffers: readonly Lifetime[], { offsets, arenaBytes }: MemoryPlan): string | undefined {
  for (const [i, a] of buffers.entries()) {
    const end = offsets[i]! + a.bytes
    if (offsets[i]! % ALIGNMENT !== 0) return `buffer ${i} at ${offsets[i]} is not aligned`
    if (offsets[i]! < 0 || end > arenaBytes) return `buffer ${i} ends at ${end}, the arena at ${arenaBytes}`
    for (let j = 0; j < i; j++) {
      const b = buffers[j]!
      const together = a.first <= b.last && b.first <= a.last
      if (together && offsets[i]! < offsets[j]! + b.bytes && offsets[j]! < end) return `buffers ${j} and ${i} overlap`
    }
  }
  return undefined
}

t.test('buffers that are alive together never overlap, and an arena is no smaller than what is alive', (t) => {
  const source = new Random(11)
  const next = (): number => source.next()
  let worst = 0
  for (let round = 0; round < 400; round++) {
    const steps = 1 + Math.floor(next() * 60)
    const buffers = Array.from({ length: Math.floor(next() * 80) }, (): Lifetime => {
      const first = Math.floor(next() * steps)
      const last = Math.min(steps - 1, first + Math.floor(next() ** 3 * steps))
      const bytes = next() < 0.05 ? 0 : Math.floor(2 ** (next() * 16))
      return { bytes, first, last }
    })
    const plan = planMemory(buffers)
    const wrong = overlap(buffers, plan)
    if (wrong !== undefined) t.fail(`round ${round}: ${wrong}`)
    const live = Array.from({ length: steps }, (_, step) =>
      buffers.reduce((sum, b) => sum + (b.first <= step && step <= b.last ? alignedSize(b.bytes) : 0), 0),
    )
    const expected = Math.max(0, ...live)
    if (plan.lowerBound !== expected) t.fail(`round ${round}: lower bound ${plan.lowerBound}, expected ${expected}`)
    if (plan.arenaBytes < expected || plan.arenaBytes > plan.naiveBytes) t.fail(`round ${round}: an arena of ${plan.arenaBytes} bytes`)
    worst = Math.max(worst, plan.arenaBytes / Math.max(1, plan.lowerBound))
  }
  t.ok(worst < 1.5, `at worst ${worst.toFixed(2)} times the lower bound`)
  t.end()
})

t.test('no buffers need no memory', (t) => {
  t.match(planMemory([]), { arenaBytes: 0, lowerBound: 0, naiveBytes: 0, offsets: [] })
  t.end()
})

t.test('a chain needs two buffers', (t) => {
  const chain = Array.from({ length: 20 }, (_, i) => ({ bytes: 1000, first: i, last: i + 1 }))
  t.match(planMemory(chain), { arenaBytes: 2048, lowerBound: 2048, naiveBytes: 20_480 })
  t.end()
})

t.test('a buffer that must wait for room is placed where a better order puts it', (t) => {
  // largest first leaves a hole between 0 and 1 that 2 does not fit into
  const buffers = [
    { bytes: 640, first: 0, last: 1 },
    { bytes: 640, first: 1, last: 2 },
    { bytes: 320, first: 2, last: 3 },
    { bytes: 960, first: 3, last: 4 },
  ]
  const plan = planMemory(buffers)
  t.equal(overlap(buffers, plan), undefined)
  t.equal(plan.arenaBytes, plan.lowerBound)
  t.end()
})
