import t from 'tap'
import { Blocks } from '../src/blocks.js'
import type { SentTensor } from '../src/workers/messages.js'
import { buffersOf } from '../src/workers/transfer.js'
import { type Body, fixture, repository, start, type Started } from './support/server.js'

const UNIT = 1 << 16

t.test('a block that was handed back is taken again, in place of fresh memory', (t) => {
  const blocks = new Blocks()
  const first = blocks.take(UNIT + 1)
  t.equal(first.byteLength, 2 * UNIT)
  t.not(blocks.take(UNIT + 1), first, 'not before it is back')
  blocks.giveBack(first)
  t.equal(blocks.take(2 * UNIT), first)
  t.not(blocks.take(2 * UNIT), first, 'once')
  t.equal(blocks.take(10).byteLength, 10, 'small ones are as large as asked for')
  t.end()
})

t.test('what is kept has an end, and is of sizes that are asked for', (t) => {
  const blocks = new Blocks()
  const large = new ArrayBuffer(65 << 20)
  blocks.giveBack(large)
  t.not(blocks.take(large.byteLength), large)
  for (const odd of [new ArrayBuffer(0), new ArrayBuffer(UNIT + 8)]) {
    blocks.giveBack(odd)
    t.not(blocks.take(odd.byteLength || 1), odd)
  }
  const half = [new ArrayBuffer(32 << 20), new ArrayBuffer(32 << 20), new ArrayBuffer(32 << 20)]
  for (const each of half) blocks.giveBack(each)
  const taken = half.map((each) => blocks.take(each.byteLength))
  t.equal(taken.filter((each) => half.includes(each)).length, 2)
  t.end()
})

t.test('each buffer is handed over once, and small ones are copied', (t) => {
  const tensor = (buffer: ArrayBuffer): SentTensor => ({ datatype: 'FP32', shape: [1], data: new Float32Array(buffer) })
  const [input, other, small] = [new ArrayBuffer(UNIT), new ArrayBuffer(UNIT), new ArrayBuffer(16)]
  t.strictSame(buffersOf([tensor(input), null, tensor(other), tensor(other), tensor(small)]), [input, other])
  t.end()
})

const ROWS = 8192

/** Sends a column of numbers as binary data, and gives what came back, output by output. */
async function columns(server: Started, model: string, value: number): Promise<{ status: number; outputs: Float32Array[] }> {
  const shape = model === 'mirror' ? [4 * ROWS] : [ROWS, 4]
  const data = new Float32Array(4 * ROWS).fill(value)
  const tensor = { name: 'x', datatype: 'FP32', shape, parameters: { binary_data_size: data.byteLength } }
  const header = Buffer.from(JSON.stringify({ inputs: [tensor], parameters: { binary_data_output: true } }))
  const answer = await fetch(`${server.url}/v2/models/${model}/infer`, {
    method: 'POST',
    headers: { 'Inference-Header-Content-Length': String(header.length) },
    body: Buffer.concat([header, new Uint8Array(data.buffer)]) as Body,
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (answer.status !== 200) return { status: answer.status, outputs: [] }
  let at = Number(answer.headers.get('inference-header-content-length'))
  const { outputs } = JSON.parse(bytes.toString('utf8', 0, at)) as { outputs: { parameters: { binary_data_size: number } }[] }
  return {
    status: 200,
    outputs: outputs.map(({ parameters: { binary_data_size: size } }) => {
      at += size
      return new Float32Array(Uint8Array.from(bytes.subarray(at - size, at)).buffer)
    }),
  }
}

/** Where calls are made: `inline` of a model's config. */
const INLINE = { 'by workers': false, "on the server's own thread": true }

const serving = (name: string, inline: boolean): Record<string, string | object> => ({
  [`${name}/1/model.ptl`]: fixture(`${name}.ptl`),
  [`${name}/config.json`]: { inline },
})

for (const [where, inline] of Object.entries(INLINE))
  t.test(`requests at once, whose bodies are in memory of earlier ones, have their own numbers ${where}`, async (t) => {
    const server = await start(t, repository(t, serving('affine', inline)))
    for (let round = 0; round < 3; round++) {
      const values = Array.from({ length: 12 }, (_, i) => 100 * round + i)
      const answers = await Promise.all(values.map((value) => columns(server, 'affine', value)))
      answers.forEach(({ outputs: [y] }, i) => t.ok(y?.length === 4 * ROWS && y.every((each) => each === 2 * values[i]! + 1)))
    }
  })

for (const [where, inline] of Object.entries(INLINE))
  t.test(`results that are their input, and what a model keeps of it, are no memory of another request ${where}`, async (t) => {
    const server = await start(t, repository(t, serving('mirror', inline)), { workers: 1 })
    const times = new Map<number, number>()
    let last = 0
    for (let round = 0; round < 8; round++) {
      const values = Array.from({ length: 4 }, (_, i) => 1 + 4 * round + i)
      const answers = await Promise.all(values.map((value) => columns(server, 'mirror', value)))
      const kept = answers.map(({ outputs: [, , before] }) => before![0]!)
      answers.forEach(({ outputs: [same, part, before] }, i) => {
        t.ok(same?.length === 4 * ROWS && same.every((each) => each === values[i]))
        t.ok(part?.length === 4 && part.every((each) => each === values[i]))
        t.ok(before?.length === 4 && before.every((each) => each === kept[i]))
      })
      for (const each of kept) {
        t.ok(Number.isInteger(each) && each >= 0 && each <= values.at(-1)!, `${each} was kept`)
        times.set(each, (times.get(each) ?? 0) + 1)
      }
      // of one model, in whatever order they came
      if (!inline) t.strictSame(new Set([...kept, values.find((each) => !kept.includes(each))]), new Set([last, ...values]))
      last = values.find((each) => !kept.includes(each)) ?? last
    }
    // a call that takes long on the server's own thread is made again by a worker, whose model has a state of its own
    t.ok(Math.max(...times.values()) <= 2, 'what is kept is replaced')
  })
