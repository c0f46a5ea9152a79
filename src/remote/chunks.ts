import { checkAnswer, type ModelSource } from '../sources.js'

/** Bytes that come one piece after the other. */
export interface Chunks {
  /** undefined behind the last one. `spare` is memory that the next piece may be put into. */
  next(spare?: ArrayBuffer): Promise<unknown>
  /** No more of them are wanted. */
  cancel(reason: unknown): void
  /** Bytes of all, as somebody says; 0 where nobody does. */
  readonly announced: number
  /** Whether it is a fault of who sends them where fewer come. */
  readonly isPromised: boolean
}

const PIECE_BYTES = 1 << 18

interface Answer {
  readonly body?: unknown
  readonly type?: unknown
  readonly headers?: { get?(name: string): unknown }
  readonly size?: unknown
  stream?(): ReadableStream<Uint8Array>
}

/** The pieces of what fetch() answered, a Blob or File, or a stream; undefined for sources that have none. Throws INVALID_FILE for the answer of an error. */
export function chunksOf(source: ModelSource): Chunks | undefined {
  if (typeof source !== 'object' || (source as unknown) === null) return undefined
  const answer = source as Answer
  if ('arrayBuffer' in source && typeof source.arrayBuffer === 'function') {
    checkAnswer(source)
    if (isStream(answer.body)) return ofStream(answer.body, announcedBy(answer), answer.type !== 'cors')
    if (typeof answer.stream !== 'function' || typeof answer.size !== 'number') return undefined
    return ofStream(answer.stream(), answer.size, true)
  }
  if (isStream(source)) return ofStream(source)
  if (Symbol.asyncIterator in source) return ofIterator(source[Symbol.asyncIterator]())
  return undefined
}

function isStream(value: unknown): value is ReadableStream<Uint8Array> {
  return typeof (value as Partial<ReadableStream> | null | undefined)?.getReader === 'function'
}

/** Not by iteration, which streams of Safari have not, and which waits for the next piece before it ends. */
function ofStream(stream: ReadableStream<Uint8Array>, announced = 0, isPromised = false): Chunks {
  const reader = readerOf(stream)
  return {
    announced,
    isPromised: isPromised && announced > 0,
    async next(spare) {
      const { done, value } = await reader.read(spare)
      return done ? undefined : value
    },
    cancel(reason) {
      // one that has failed cannot be cancelled
      reader.cancel(reason).catch(() => undefined)
    },
  }
}

/** The pieces of an answer; all of it in one where the host has no streams. */
export function piecesOf(answer: Response): Chunks {
  if (isStream(answer.body)) return ofStream(answer.body)
  let isOver = false
  return {
    announced: 0,
    isPromised: false,
    async next() {
      if (isOver) return undefined
      isOver = true
      return new Uint8Array(await answer.arrayBuffer())
    },
    cancel: () => undefined,
  }
}

interface Reader {
  read(spare: ArrayBuffer | undefined): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(reason: unknown): Promise<void>
}

/** Of a network's stream, which can write into memory that it is given, time and again; others give pieces of their own. */
function readerOf(stream: ReadableStream<Uint8Array>): Reader {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    return {
      read: (spare) => reader.read(new Uint8Array(spare ?? new ArrayBuffer(PIECE_BYTES))),
      cancel: (reason) => reader.cancel(reason),
    }
  } catch {
    const reader = stream.getReader()
    return { read: () => reader.read(), cancel: (reason) => reader.cancel(reason) }
  }
}

function ofIterator(iterator: AsyncIterator<unknown, unknown>): Chunks {
  return {
    announced: 0,
    isPromised: false,
    async next() {
      const { done, value } = await iterator.next()
      return done === true ? undefined : value
    },
    cancel() {
      Promise.resolve(iterator.return?.()).catch(() => undefined)
    },
  }
}

type Headed = Pick<Answer, 'headers'>

/** Whether what comes is not what was sent. */
export function isPacked({ headers }: Headed): boolean {
  return typeof headers?.get === 'function' && (headers.get('content-encoding') ?? 'identity') !== 'identity'
}

/** Bytes of what is packed on its way say nothing of what comes out. */
export function announcedBy(answer: Headed): number {
  const { headers } = answer
  if (typeof headers?.get !== 'function') return 0
  const length = headers.get('content-length')
  return !isPacked(answer) && typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : 0
}
