/** gRPC over HTTP/2 without encryption, by Node alone. */
import { connect } from 'node:http2'
import { METHODS } from './messages.mjs'
import { decode, encode } from './wire.mjs'

/** Codes of google.rpc.Status that rules name. */
export const CODES = { OK: 0, CANCELLED: 1, INVALID_ARGUMENT: 3, DEADLINE_EXCEEDED: 4, NOT_FOUND: 5, UNIMPLEMENTED: 12, UNAVAILABLE: 14 }

function framed(message) {
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, 5)
  return frame
}

function* messagesIn(bytes) {
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1)
    if (bytes[at] !== 0) throw new Error('a compressed message, which was not asked for')
    if (end > bytes.length) throw new Error('a message that ends before its length')
    yield bytes.subarray(at + 5, end)
    at = end
  }
}

export class GrpcConnection {
  #session
  #headers

  /** `address` is host:port. */
  constructor(address, headers = {}) {
    this.#session = connect(`http://${address}`)
    // each call reports what happened to it
    this.#session.on('error', () => undefined)
    this.#headers = headers
  }

  close() {
    this.#session.close()
  }

  /** The status, the message of a status that is not OK, and the answer; `answers` has all of a stream. */
  async call(method, ...requests) {
    const [from] = METHODS[method] ?? [{}]
    return this.raw(method, Buffer.concat(requests.map((request) => framed(encode(from, request)))))
  }

  /** The same with bytes that need not be messages. */
  async raw(method, bytes, timeoutMs = 30_000) {
    const stream = this.#session.request({
      ...this.#headers,
      ':method': 'POST',
      ':path': `/inference.GRPCInferenceService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.setTimeout(timeoutMs, () => stream.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    const parts = []
    let trailers = {}
    const seen = (headers) => (trailers = { ...trailers, ...headers })
    stream.on('response', seen)
    stream.on('trailers', seen)
    stream.on('data', (part) => parts.push(part))
    stream.end(bytes)
    await new Promise((resolve, reject) => stream.on('close', resolve).on('error', reject))
    const answers = Array.from(messagesIn(Buffer.concat(parts)), (message) => decode(METHODS[method]?.[1] ?? {}, message))
    return {
      code: Number(trailers['grpc-status'] ?? NaN),
      message: decodeURIComponent(trailers['grpc-message'] ?? ''),
      answer: answers[0],
      answers,
    }
  }
}
