import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { type Test } from 'tap'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** Milliseconds since the server was started. */
  readonly at: number
}

export type Handler = (request: Received, response: ServerResponse) => void

/** A server on a free port that answers by `handler` and keeps what it received, until the test is over. */
export async function answering(t: Test, handler: Handler): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const start = performance.now()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const all = { method, url, headers, body: Buffer.concat(parts), at: performance.now() - start }
      received.push(all)
      handler(all, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export function json(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}

/** JSON with the bytes of tensors behind it. */
export function binary(response: ServerResponse, head: unknown, parts: readonly Uint8Array[], length?: string): void {
  const text = Buffer.from(JSON.stringify(head))
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'inference-header-content-length': length ?? String(text.length) })
  response.end(Buffer.concat([text, ...parts]))
}

/** The JSON and the bytes behind it of a request. */
export function partsOf({ headers, body }: Received): { head: unknown; raw: Buffer } {
  const length = Number(headers['inference-header-content-length'] ?? body.length)
  return { head: JSON.parse(body.subarray(0, length).toString()), raw: body.subarray(length) }
}
