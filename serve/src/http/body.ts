import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import { RequestError } from '../protocol/error.js'

/** A body as it came: JSON, and what binary data follow it. */
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

  giveBack(bytes: number): void {
    this.used -= bytes
  }

  get limit(): number {
    return this.mostEach
  }
}

type Done = (error: Error | null, body: Body | null) => void

/** What is read at a time where the length is not known. */
const FIRST = 16 << 10

/** Reads a body into one block of memory, which no one else has, where binary data are aligned. `done` is called once. */
export function readBody(request: IncomingMessage, budget: BodyBudget, done: Done): void {
  let taken = 0
  let isOver = false
  let source: Readable | null = null
  const end = (error: Error | null, body: Body | null): void => {
    if (isOver) return
    isOver = true
    if (error !== null) {
      budget.giveBack(taken)
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
    const body = decoded(request)
    source = body
    const length = request.headers['content-length']
    // the length is of what was sent, which says nothing of what it is decompressed to
    const known = length === undefined || body !== request ? null : Number(length)
    const header = headerLength(request.headers['inference-header-content-length'])
    const padding = header === null ? 0 : (8 - (header % 8)) % 8
    const size = known ?? FIRST
    budget.take(size)
    taken = size
    let memory = new Uint8Array(size + padding)
    let at = 0
    body.on('data', (chunk: Buffer) => {
      try {
        if (at + chunk.length > memory.length - padding)
          memory = grown(memory, at, chunk.length, padding, budget, (more) => (taken += more))
        memory.set(chunk, at + padding)
        at += chunk.length
      } catch (error) {
        end(error as Error, null)
      }
    })
    body.on('end', () => {
      if (header !== null && header > at)
        return end(new RequestError(400, `Inference-Header-Content-Length is ${header}, and the body has ${at} bytes`), null)
      const { buffer } = memory
      const json = Buffer.from(buffer, padding, header ?? at)
      end(null, { json, binary: header === null ? null : new Uint8Array(buffer, padding + header, at - header), bytes: taken })
    })
    request.on('error', (error) => end(error, null))
    if (body !== request) body.on('error', () => end(new RequestError(400, 'the body is not what its Content-Encoding says'), null))
    request.on('close', () => {
      // what was received whole is perhaps not yet decompressed
      if (body === request || !request.complete) end(new RequestError(499, 'the client has gone'), null)
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

function grown(
  memory: Uint8Array,
  used: number,
  more: number,
  padding: number,
  budget: BodyBudget,
  note: (bytes: number) => void,
): Uint8Array<ArrayBuffer> {
  const size = memory.length - padding
  const wanted = Math.min(Math.max(2 * size, used + more), Math.max(budget.limit, used + more))
  budget.take(wanted)
  // the old one goes
  budget.giveBack(size)
  note(wanted - size)
  const next = new Uint8Array(wanted + padding)
  next.set(memory)
  return next
}

function headerLength(value: string | string[] | undefined): number | null {
  if (value === undefined) return null
  const length = Number(value)
  if (typeof value !== 'string' || !/^\d+$/.test(value) || !Number.isSafeInteger(length))
    throw new RequestError(400, 'expected Inference-Header-Content-Length to be a number of bytes')
  return length
}
