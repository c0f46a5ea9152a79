import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { repairChecksums } from '../../src/cli/zip-checksums.js'
import { PtliteError } from '../../runtime/error.js'
import { loadModule } from '../../src/index.js'
import { loadModelFile } from '../../formats/read.js'
import { loadProgram } from '../../engine/load-program.js'
import { fixtureBytes, fixturePath, type Golden, inputOf } from './fixtures.js'

const SEED = Number(process.env['PTLITE_SEED'] ?? 20240607)
const PER_FILE = Number(process.env['PTLITE_MUTATIONS'] ?? 100)

/** mulberry32: integers below `n`, the same ones for a seed. */
function randomFrom(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

type Random = (n: number) => number
type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  truncate: (bytes, random) => bytes.slice(0, random(bytes.length)),
  flip: (bytes, random) => {
    for (let i = 1 + random(8); i > 0; i--) bytes[random(bytes.length)]! ^= 1 << random(8)
    return bytes
  },
  scribble: (bytes, random) => {
    const start = random(bytes.length)
    const end = Math.min(bytes.length, start + 1 + random(32))
    for (let i = start; i < end; i++) bytes[i] = random(256)
    return bytes
  },
  extreme: (bytes, random) => {
    const at = random(Math.max(bytes.length - 4, 1))
    new DataView(bytes.buffer).setUint32(at, EXTREMES[random(EXTREMES.length)]!, true)
    return bytes
  },
  repeat: (bytes, random) => {
    const length = 1 + random(64)
    const from = random(bytes.length)
    bytes.copyWithin(random(bytes.length), from, from + length)
    return bytes
  },
  remove: (bytes, random) => {
    const at = random(bytes.length)
    const length = 1 + random(16)
    bytes.copyWithin(at, at + length)
    return bytes.slice(0, Math.max(bytes.length - length, 0))
  },
}

function outcomeOf(bytes: Uint8Array): string {
  try {
    loadProgram(bytes, { maxIterations: 10_000, onWarning: () => undefined }).dispose()
    return 'loaded'
  } catch (error) {
    if (error instanceof PtliteError && error.code !== 'INTERNAL') return error.code
    throw error
  }
}

for (const name of readdirSync(dirname(fixturePath('linear.ptl'))).filter((file) => /\.(ptl|ff|pt)$/.test(file))) {
  t.test(`${name}: every mutation loads or ends in a PtliteError`, (t) => {
    const original = fixtureBytes(name)
    const random = randomFrom(SEED)
    const kinds = Object.entries(MUTATIONS)
    const outcomes = new Map<string, number>()
    for (let i = 0; i < PER_FILE; i++) {
      const [kind, mutate] = kinds[i % kinds.length]!
      try {
        const bytes = mutate(original.slice(), random)
        // some with checksums that fit: damage that a writer has made
        const outcome = outcomeOf(i % 4 === 0 ? bytes : withChecksums(bytes))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      } catch (error) {
        t.fail(`mutation ${i} (${kind}, seed ${SEED}): ${String((error as Error).stack)}`, { cause: (error as Error).cause })
      }
    }
    t.comment(JSON.stringify(Object.fromEntries(outcomes)))
    t.end()
  })
}

/** The same bytes, with checksums of stored records that fit what is there, if they are still a zip. */
function withChecksums(bytes: Uint8Array): Uint8Array {
  try {
    repairChecksums(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } catch {
    // it is none any more
  }
  return bytes
}

/** Ints of one byte in a pickle: operands, constants, sizes. Changing them leaves most files whole, and their programs odd. */
function smallInts(bytes: Uint8Array): number[] {
  const found: number[] = []
  for (let at = Buffer.from(bytes.buffer).indexOf('instructions'); at < bytes.length - 1; at++) if (bytes[at] === 0x4b) found.push(at + 1)
  return found
}

for (const name of ['tagger', 'encoder', 'vit', 'squeezenet', 'shufflenet_v2']) {
  t.test(`${name}: programs with other numbers run or end in a PtliteError`, async (t) => {
    const golden = JSON.parse(readFileSync(fixturePath(`models/${name}.json`), 'utf8')) as Golden
    const original = fixtureBytes(`models/${name}.ptl`)
    const places = smallInts(original)
    const random = randomFrom(SEED)
    const outcomes = new Map<string, number>()
    for (let i = 0; i < PER_FILE / 5; i++) {
      const bytes = original.slice()
      for (let n = 1 + random(2); n > 0; n--) bytes[places[random(places.length)]!] = [0, 1, 2, 3, 4, 5, 7, 8, 16, 127, 255][random(11)]!
      withChecksums(bytes)
      let outcome = 'ran'
      try {
        const module = await loadModule(bytes, { maxIterations: 1000, onWarning: () => undefined })
        try {
          module.forward(...golden.inputs.map(inputOf))
        } finally {
          module.dispose()
        }
      } catch (error) {
        outcome = error instanceof PtliteError ? error.code : 'other'
        if (outcome === 'other' || outcome === 'INTERNAL')
          t.fail(`mutation ${i} (seed ${SEED}): ${String((error as Error).stack)}`, { cause: (error as Error).cause })
      }
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    t.comment(JSON.stringify(Object.fromEntries(outcomes)))
  })
}

t.test('debug records that are damaged explain nothing, and do no harm', (t) => {
  const original = fixtureBytes('debugged.ptl')
  const random = randomFrom(SEED)
  const kinds = Object.values(MUTATIONS)
  for (let i = 0; i < PER_FILE; i++) {
    try {
      const file = loadModelFile(withChecksums(kinds[i % kinds.length]!(original.slice(), random)))
      for (const fn of file.functions) for (let pc = 0; pc < fn.code.length / 3; pc++) file.debug?.stackTraceAt(fn.name, pc)
      file.close()
    } catch (error) {
      if (!(error instanceof PtliteError)) t.fail(`mutation ${i}: ${String((error as Error).stack)}`)
    }
  }
  t.end()
})

t.test('random bytes', (t) => {
  const random = randomFrom(SEED)
  for (const head of [[], [0x50, 0x4b, 3, 4], [0, 0, 0, 0, 0x50, 0x54, 0x4d, 0x46], [24, 0, 0, 0, 0x50, 0x54, 0x4d, 0x46]]) {
    for (let i = 0; i < PER_FILE; i++) {
      const bytes = Uint8Array.from({ length: 16 + random(400) }, (_, at) => head[at] ?? random(random(4) === 0 ? 256 : 8))
      const outcome = outcomeOf(bytes)
      if (outcome !== 'INVALID_FILE' && outcome !== 'UNSUPPORTED_FILE') t.fail(`random file ${i}: ${outcome}`)
    }
  }
  t.end()
})
