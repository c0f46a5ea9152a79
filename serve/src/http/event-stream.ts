import type { ServerResponse } from 'node:http'

/** Bytes that a client may leave unread: whoever reads nothing is taken for gone. */
const MAX_UNREAD = 4 << 20

/** Server-sent events. */
export class EventStream {
  constructor(
    private readonly response: ServerResponse,
    headers: readonly string[],
  ) {
    response.writeHead(200, [
      'Content-Type',
      'text/event-stream; charset=utf-8',
      'Cache-Control',
      'no-cache',
      'X-Accel-Buffering',
      'no',
      ...headers,
    ])
  }

  /** A value as JSON. */
  send(value: object): void {
    this.write(JSON.stringify(value))
  }

  /** A text of one line. */
  write(text: string): void {
    const { response } = this
    if (response.destroyed) return
    response.write(`data: ${text}\n\n`)
    if (response.writableLength > MAX_UNREAD) response.destroy()
  }

  end(): void {
    this.response.end()
  }
}
