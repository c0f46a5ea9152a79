import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import type { Blocks } from '../blocks.js'
import { invalid, RequestError } from '../protocol/error.js'
import { type BodySink, DirectMessage } from './message.js'
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
  const reader = new BodyReader(request, budget, blocks, done)
  try {
    reader.start()
  } catch (error) {
    reader.fail(error as Error)
  }
}

/** Collects the parts of a body. */
class BodyReader implements BodySink {
  /** Of the budget. */
  private taken = 0
  private received = 0
  private isOver = false
  /** It is of as many bytes as its headers say. */
  private isKnown = false
  /** Bytes of JSON, where others follow. */
  private header: number | null = null
  /** Where the body comes from, without its compression. */
  private source: Readable | null = null
  /** Where all of it goes, once that is known; otherwise its parts. */
  private block: AlignedBody | null = null
  private readonly chunks: Buffer[] = []

  constructor(
    private readonly request: IncomingMessage,
    private readonly budget: BodyBudget,
    private readonly blocks: Blocks,
    private readonly done: Done,
  ) {}

  /** Throws what is wrong with its headers. */
  start(): void {
    const { request } = this
    const { headers } = request
    const source = (this.source = decoded(request))
    // the length is of what was sent, which says nothing of what it is decompressed to
    const length = source === request ? headers['content-length'] : undefined
    this.header = headerLength(headers['inference-header-content-length'])
    if (length !== undefined) {
      const bytes = Number(length)
      this.budget.take(bytes)
      this.taken = bytes
      this.isKnown = true
      if (this.header !== null) this.block = new AlignedBody(bytes, this.header, this.blocks)
    }
    if (source === request && request instanceof DirectMessage && request.sendTo(this)) return
    source.on('data', (chunk: Buffer) => this.add(chunk))
    source.on('end', () => this.finish())
    request.on('error', (error) => this.fail(error))
    if (source !== request) source.on('error', () => this.fail(new RequestError(400, 'the body is not what its Content-Encoding says')))
    // what was received whole is perhaps not yet decompressed
    request.on('close', () => (source === request || !request.complete) && this.gone())
  }

  add(chunk: Buffer): void {
    if (this.isOver) return
    this.received += chunk.length
    if (this.block === null) this.chunks.push(chunk)
    else {
      this.block.add(chunk)
      // zlib goes on writing to the memory of its own
      if (this.source === this.request) release(chunk)
    }
    if (this.isKnown) return
    try {
      this.budget.more(this.taken, chunk.length)
      this.taken += chunk.length
    } catch (error) {
      this.fail(error as Error)
    }
  }

  finish(): void {
    if (this.isOver) return
    const { header, received, taken: bytes, chunks } = this
    if (header !== null && header > received)
      return this.fail(new RequestError(400, `Inference-Header-Content-Length is ${header}, and the body has ${received} bytes`))
    this.isOver = true
    if (header === null) this.done(null, { json: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received), binary: null, bytes })
    else {
      const { json, binary } = this.block ?? AlignedBody.of(chunks, received, header, this.blocks)
      this.done(null, { json, binary, bytes })
    }
    if (this.source === this.request && chunks.length > 1) chunks.forEach(release)
  }

  gone(): void {
    this.fail(new RequestError(499, 'the client has gone'))
  }

  fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.budget.giveBack(this.taken)
    this.block?.giveBack()
    this.block = null
    const { request, source } = this
    // what is still to come is of no use
    source?.removeAllListeners('data')
    if (source !== null && source !== request) {
      request.unpipe()
      source.destroy()
    }
    request.resume()
    this.done(error, null)
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

/** What the JSON of a body says; its memory is given back. Throws where it is none. */
export function parsedJson(json: Buffer): unknown {
  try {
    const text = json.toString('utf8')
    release(json)
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`the body is no JSON: ${(error as Error).message}`)
  }
}
