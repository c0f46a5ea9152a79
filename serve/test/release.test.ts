import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { Blocks } from '../src/blocks.js'
import { type Body, BodyBudget, readBody } from '../src/http/body.js'
import { release } from '../src/http/release.js'

const SIZE = 1 << 16
const own = (bytes: number, value = 0): Buffer => Buffer.from(new ArrayBuffer(bytes)).fill(value)

t.test('the memory of a buffer is given back where it is all of it', (t) => {
  const whole = own(SIZE)
  release(whole)
  t.equal(whole.length, 0)
  const rest = own(SIZE)
  release(rest.subarray(1))
  release(rest.subarray(0, SIZE - 1))
  t.equal(rest.length, SIZE, 'not where others may lie beside it')
  const shared = Buffer.from(new SharedArrayBuffer(SIZE))
  release(shared)
  t.equal(shared.length, SIZE, 'nor where other threads may have it')
  const small = own(100)
  release(small)
  t.equal(small.length, 100)
  release(whole)
  t.end()
})

function read(chunks: readonly Buffer[], headers: Record<string, string>): Promise<Body> {
  const request = Object.assign(Readable.from(chunks, { objectMode: false }), { headers }) as unknown as IncomingMessage
  return new Promise((resolve, reject) => {
    readBody(request, new BodyBudget(1 << 30, 1 << 30), new Blocks(), (error, body) => (error === null ? resolve(body!) : reject(error)))
  })
}

t.test('what a body came in is given back, and the body has its bytes', async (t) => {
  const bytes = [1, 2, 3].flatMap((value) => new Array<number>(SIZE).fill(value))
  for (const [name, headers] of Object.entries({
    'binary data': { 'inference-header-content-length': '8', 'content-length': String(3 * SIZE) },
    'binary data of unknown length': { 'inference-header-content-length': '8' },
    JSON: { 'content-length': String(3 * SIZE) },
  })) {
    const chunks = [1, 2, 3].map((value) => own(SIZE, value))
    const { json, binary } = await read(chunks, headers)
    t.ok(Buffer.concat([json, binary ?? Buffer.alloc(0)]).equals(Uint8Array.from(bytes)), name)
    await new Promise(setImmediate)
    t.strictSame(
      chunks.map(({ length }) => length),
      [0, 0, 0],
      name,
    )
  }
  const only = own(SIZE, 7)
  const { json } = await read([only], {})
  t.ok(json.equals(Buffer.alloc(SIZE, 7)), 'the only chunk is the body')
})
