import { IncomingMessage } from 'node:http'

/** What takes a body as Node's parser finds its parts. None of these throw. */
export interface BodySink {
  add(chunk: Buffer): void
  finish(): void
  /** The client has gone before the end. */
  gone(): void
}

/**
 * A request whose body can be had without the stream: the turns that a stream takes through the event loop, and its events, take as long as a small
 * model. `push` and `_destroy` are what Node calls of any stream.
 */
export class DirectMessage extends IncomingMessage {
  private sink: BodySink | null = null

  /** False where the stream has got a part already, or has been read from. */
  sendTo(sink: BodySink): boolean {
    if (this.complete || this.destroyed || this.readableLength > 0 || this.readableFlowing !== null) return false
    this.sink = sink
    return true
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.sink === null) return super.push(chunk, encoding)
    if (chunk === null) this.sink.finish()
    else this.sink.add(chunk)
    return true
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.sink?.gone()
    super._destroy(error, done)
  }
}
