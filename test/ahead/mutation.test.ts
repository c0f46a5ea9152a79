import { readFileSync } from 'node:fs'
import t from 'tap'
import { PREAMBLE_BYTES } from '../../formats/ptlc/preamble.js'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, PtliteError, type Tensor } from '../../src/index.js'
import { fixturePath, type Golden, inputOf } from '../module/fixtures.js'
import { generator, headerBytes, sealed } from './support.js'

/** Changes of a file per model; each is loaded and, if it can be, run. */
const ROUNDS = 30

interface Subject {
  readonly bytes: Uint8Array
  readonly inputs: readonly Tensor[]
}

function subject(name: string): Subject {
  const golden = JSON.parse(readFileSync(fixturePath(`models/${name}.json`), 'utf8')) as Golden
  const inputs = golden.inputs.map((input) => inputOf(input) as Tensor)
  return { bytes: compileAhead(fixturePath(`models/${name}.ptl`), () => [{ method: 'forward', args: inputs }]), inputs }
}

/** The outcome of a file: 'ran', or the code of a PtliteError. Anything else is thrown, or ends the process. */
async function outcome(bytes: Uint8Array, inputs: readonly Tensor[]): Promise<string> {
  try {
    const module = await loadModule(bytes)
    try {
      module.forward(...inputs)
      return 'ran'
    } finally {
      module.dispose()
    }
  } catch (error) {
    if (error instanceof PtliteError) return error.code
    throw error
  }
}

/** A few bytes within the first `range` changed: one of their bits, all of them, or small and large numbers in their place. */
function mutate(bytes: Uint8Array, from: number, range: number, random: () => number): Uint8Array {
  const copy = bytes.slice()
  const pick = (n: number): number => Math.floor(random() * n)
  for (let i = 1 + pick(3); i > 0; i--) {
    const at = from + pick(range)
    switch (pick(4)) {
      case 0:
        copy[at]! ^= 1 << pick(8)
        break
      case 1:
        copy[at] = pick(256)
        break
      case 2:
        copy[at] = [0, 1, 255, 127, 128][pick(5)]!
        break
      default:
        copy.copyWithin(at, from + pick(range), from + pick(range))
    }
  }
  return copy
}

for (const name of ['mobilenet_v2', 'tagger', 'encoder', 'shufflenet_v2']) {
  t.test(`${name}: damaged files are refused`, async (t) => {
    const { bytes, inputs } = subject(name)
    const random = generator(1)
    t.equal(await outcome(bytes, inputs), 'ran')
    for (let i = 0; i < ROUNDS; i++) {
      const damaged = mutate(bytes, 0, bytes.length, random)
      const found = await outcome(damaged, inputs)
      if (Buffer.from(damaged).equals(Buffer.from(bytes))) continue
      if (found !== 'INVALID_FILE' && found !== 'UNSUPPORTED_FILE') t.fail(`round ${i}: ${found}`)
      const cut = bytes.subarray(0, Math.floor(random() * bytes.length))
      if ((await outcome(cut, inputs)) !== 'INVALID_FILE') t.fail(`${cut.length} bytes of the file are taken for whole`)
    }
    t.equal(await outcome(Buffer.concat([bytes, bytes.subarray(0, 64)]), inputs), 'INVALID_FILE')
  })

  t.test(`${name}: files that were edited, checksums and all, run or are refused`, async (t) => {
    const { bytes, inputs } = subject(name)
    t.equal(await outcome(sealed(bytes), inputs), 'ran')
    const random = generator(2)
    const counts = new Map<string, number>()
    for (let i = 0; i < 4 * ROUNDS; i++) {
      const found = await outcome(sealed(mutate(bytes, PREAMBLE_BYTES, headerBytes(bytes), random)), inputs)
      counts.set(found, (counts.get(found) ?? 0) + 1)
    }
    t.ok(counts.get('ran')! > 0 && counts.get('INVALID_FILE')! > 0, JSON.stringify([...counts]))
  })
}
