import t from 'tap'
import { loadModule, PtliteError } from '../../src/index.js'
import { inputOf, PROGRAMS, readCalls } from './fixtures.js'
import { archiveOf, recordsIn } from './writer.js'

const SEED = Number(process.env['PTLITE_SEED'] ?? 20261123)
const PER_FILE = Number(process.env['PTLITE_MUTATIONS'] ?? 250)
const LIMITS = { instructions: 1e6, bytes: 2 ** 28, milliseconds: 5000, elements: 1e7 }

type Random = (n: number) => number

/** xorshift32: integers below `n`, the same ones for a seed. */
function randomFrom(seed: number): Random {
  let state = seed | 1
  return (n) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % n
  }
}

type Place = readonly [container: unknown[] | Record<string, unknown>, key: string]

/** Every item and field of a JSON value, metadata apart. */
function placesIn(json: unknown, found: Place[] = []): Place[] {
  if (typeof json !== 'object' || json === null) return found
  for (const key of Object.keys(json)) {
    if (key === 'metadata') continue
    found.push([json as Record<string, unknown>, key])
    placesIn((json as Record<string, unknown>)[key], found)
  }
  return found
}

const VALUES: readonly unknown[] = [
  null, true, false, 0, 1, -1, 2, 3, 64, 65, 1e9, -(2 ** 31), 2 ** 53, 1.5, 1e300, '', 'x', 'add', 'Infinity', 'self', '__proto__', '{}', [], [[]], {}, [null], { as_int: 0 }, { as_int: 7 },
  { as_none: true }, { as_tensor: { name: 'x' } }, { as_sym_int: { as_name: 'x' } }, { as_ints: [1, 2] }, { as_tensors: [{ name: 'x' }] }, { as_float: 'NaN' }, { as_string: 's' },
  { as_expr: { expr_str: "Symbol('s0', integer=True)" } }, 'torch.ops.aten.relu.default', 'torch.ops.aten.cat.default', '_operator.mul', 'torch.ops.higher_order.cond', "Symbol('s0')",
] // prettier-ignore

/** Changes one to four values: to another of the pool, to one from elsewhere in the text, to none. */
function mutate(json: unknown, random: Random): unknown {
  const copy: unknown = structuredClone(json)
  for (let n = 1 + random(4); n > 0; n--) {
    const places = placesIn(copy)
    if (places.length === 0) return copy
    const [container, key] = places[random(places.length)]!
    const [source, other] = places[random(places.length)]!
    const items = container as Record<string, unknown>
    switch (random(4)) {
      case 0:
        items[key] = VALUES[random(VALUES.length)]
        break
      case 1:
        items[key] = structuredClone((source as Record<string, unknown>)[other])
        break
      case 2:
        if (Array.isArray(container)) container.splice(Number(key), 1)
        else delete container[key]
        break
      default:
        if (Array.isArray(container)) container.splice(random(container.length + 1), 0, structuredClone(container[Number(key)]))
        else items[key] = VALUES[random(VALUES.length)]
    }
  }
  return copy
}

for (const name of PROGRAMS) {
  t.test(`${name}: programs with other values load and run, or end in a PtliteError`, async (t) => {
    const records = recordsIn(`${name}.pt2`)
    const texts = Object.keys(records).filter((record) => record.endsWith('.json'))
    const random = randomFrom(SEED)
    const outcomes = new Map<string, number>()
    const [call] = readCalls(name).calls
    for (let i = 0; i < PER_FILE; i++) {
      // the program most of the time
      const record = i % 8 === 0 ? texts[random(texts.length)]! : 'models/model.json'
      // numbers of 64 bits are not what JSON.parse reads
      const text = Buffer.from(records[record]!)
        .toString()
        .replaceAll(/\b922337203685477580[67]\b/g, '1000000')
      const json = mutate(JSON.parse(text), random)
      let outcome = 'loaded'
      try {
        const module = await loadModule(archiveOf({ ...records, [record]: JSON.stringify(json) }), {
          limits: LIMITS,
          onWarning: () => undefined,
        })
        outcome = 'ran'
        try {
          for (let turn = 0; turn < 2; turn++) module.forward(...call!.args.map(inputOf))
        } finally {
          module.dispose()
        }
      } catch (error) {
        if (!(error instanceof PtliteError) || error.code === 'INTERNAL')
          t.fail(`mutation ${i} of ${record} (seed ${SEED}): ${String((error as Error).stack)}`, {
            text: JSON.stringify(json).slice(0, 100_000),
          })
        outcome = error instanceof PtliteError ? error.code : 'failed'
      }
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    t.ok((outcomes.get('INVALID_FILE') ?? 0) > 0, JSON.stringify(Object.fromEntries(outcomes)))
  })
}

t.test('archives with other bytes load, or end in a PtliteError', async (t) => {
  const random = randomFrom(SEED)
  for (const name of ['linear.pt2', 'control.core.pt2']) {
    const original = archiveOf(recordsIn(name))
    for (let i = 0; i < PER_FILE; i++) {
      const bytes = original.slice()
      for (let n = 1 + random(8); n > 0; n--) bytes[random(bytes.length)] = random(256)
      try {
        const module = await loadModule(i % 4 === 0 ? bytes.slice(0, random(bytes.length)) : bytes)
        module.dispose()
      } catch (error) {
        t.ok(error instanceof PtliteError && error.code !== 'INTERNAL', `${name}, ${i}: ${String((error as Error).stack)}`)
      }
    }
  }
})
