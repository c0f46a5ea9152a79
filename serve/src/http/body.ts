import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import type { Blocks } from '../blocks.js'
import { RequestError } from '../protocol/error.js'
import { release } from './release.js'

/** A body as it came: JSON, and what binary data follow it. Nobody else has their memory. */
export interface Body {
  readonly json: Buffer
  /** null where no header says that there are any; they begin at a multiple of eight bytes. */
  readonly binary: Uint8Array | null
  readonly bytes: number
}

/** Memory that the bodies of all requests under way may take. */
export class BodyBudget {
  used = 0

  constructor(
    private readonly most: number,
    private readonly mostEach: number,
  ) {}

  /** Takes `bytes`. Throws what the request is answered with. */
  take(bytes: number): void {
    if (bytes > this.mostEach) throw new RequestError(413, `the body has ${bytes} bytes; at most ${this.mostEach}`)
    if (this.used + bytes > this.most)
      throw new RequestError(503, 'the bodies of the requests under way take as much memory as they may', 1)
    this.used += bytes
  }

  /** Takes more for a body that has taken `taken` so far. */
  more(taken: number, bytes: number): void {
    if (taken + bytes > this.mostEach) throw new RequestError(413, `the body has more than ${this.mostEach} bytes`)
    this.take(bytes)
  }

  giveBack(bytes: number): void {
    this.used -= bytes
  }
}

type Done = (error: Error | null, body: Body | null) => void

/** Reads a body. Where binary data are in it, into one block of memory, which no one else has, where they are aligned. `done` is called once. */
export function readBody(request: IncomingMessage, budget: BodyBudget, blocks: Blocks, done: Done): void {
  let taken = 0
  let isOver = false
  let source: Readable | null = null
  let block: AlignedBody | null = null
  const end = (error: Error | null, body: Body | null): void => {
    if (isOver) return
    isOver = true
    if (error !== null) {
      budget.giveBack(taken)
      block?.giveBack()
      block = null
      // what is still to come is of no use
      source?.removeAllListeners('data')
      if (source !== null && source !== request) {
        request.unpipe()
        source.destroy()
      }
      request.resume()
    }
    done(error, body)
  }
  try {
    const { headers } = request
    const body = decoded(request)
    source = body
    // the length is of what was sent, which says nothing of what it is decompressed to
    const length = body === request ? headers['content-length'] : undefined
    const header = headerLength(headers['inference-header-content-length'])
    const isKnown = length !== undefined
    if (isKnown) {
      budget.take(Number(length))
      taken = Number(length)
    }
    const chunks: Buffer[] = []
    let received = 0
    if (isKnown && header !== null) block = new AlignedBody(Number(length), header, blocks)
    body.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (block === null) chunks.push(chunk)
      else {
        block.add(chunk)
        // zlib goes on writing to the memory of its own
        if (body === request) release(chunk)
      }
      if (isKnown) return
      try {
        budget.more(taken, chunk.length)
        taken += chunk.length
      } catch (error) {
        end(error as Error, null)
      }
    })
    body.on('end', () => {
      if (isOver) return
      if (header === null)
        end(null, { json: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received), binary: null, bytes: taken })
      else if (header > received)
        end(new RequestError(400, `Inference-Header-Content-Length is ${header}, and the body has ${received} bytes`), null)
      else {
        const whole = block ?? AlignedBody.of(chunks, received, header, blocks)
        block = null
        end(null, { json: whole.json, binary: whole.binary, bytes: taken })
      }
      if (body === request && chunks.length > 1) chunks.forEach(release)
    })
    request.on('error', (error) => end(error, null))
    if (body !== request) body.on('error', () => end(new RequestError(400, 'the body is not what its Content-Encoding says'), null))
    request.on('close', () => {
      // what was received whole is perhaps not yet decompressed
      if (!isOver && (body === request || !request.complete)) end(new RequestError(499, 'the client has gone'), null)
    })
  } catch (error) {
    end(error as Error, null)
  }
}

/** The body without its compression. */
function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return request
  if (encoding === 'gzip') return request.pipe(createGunzip())
  if (encoding === 'deflate') return request.pipe(createInflate())
  throw new RequestError(415, 'expected a body without Content-Encoding, or with gzip or deflate')
}

/** JSON of `header` bytes and what follows it, which begins at a multiple of eight bytes, in one block of memory. */
class AlignedBody {
  private readonly memory: Uint8Array<ArrayBuffer>
  private readonly start: number
  private end: number

  constructor(
    bytes: number,
    private readonly header: number,
    private readonly blocks: Blocks,
  ) {
    this.start = this.end = (8 - (header % 8)) % 8
    this.memory = new Uint8Array(blocks.take(this.start + bytes))
  }

  static of(chunks: readonly Buffer[], bytes: number, header: number, blocks: Blocks): AlignedBody {
    const body = new AlignedBody(bytes, header, blocks)
    for (const chunk of chunks) body.add(chunk)
    return body
  }

  add(chunk: Buffer): void {
    this.memory.set(chunk, this.end)
    this.end += chunk.length
  }

  get json(): Buffer {
    return Buffer.from(this.memory.buffer, this.start, this.header)
  }

  get binary(): Uint8Array {
    return this.memory.subarray(this.start + this.header, this.end)
  }

  /** Of a body that has not come whole. */
  giveBack(): void {
    this.blocks.giveBack(this.memory.buffer)
  }
}

function headerLength(value: string | string[] | undefined): number | null {
  if (value === undefined) return null
  const length = Number(value)
  if (typeof value !== 'string' || !/^\d+$/.test(value) || !Number.isSafeInteger(length))
    throw new RequestError(400, 'expected Inference-Header-Content-Length to be a number of bytes')
  return length
}
