import { ByteSource, watch } from '../../formats/containers/bytes.js'
import type { Mapping } from '../../formats/containers/map-file.js'

/** What can be read again while it is held. */
export interface Held {
  /** Puts `close` off until `release`. */
  hold(): void
  /** Takes an earlier `close` back. */
  begin(): void
  release(): void
}

/** A model that came in pieces, in the kernels' memory: it comes once, and can be read again all the same while it is held. */
class ReceivedSource extends ByteSource implements Held {
  private isHeld = false
  private isClosed = false

  constructor(memory: Mapping) {
    super('the model', memory)
    watch(memory)
  }

  hold(): void {
    this.isHeld = true
  }

  begin(): void {
    this.isClosed = false
  }

  release(): void {
    this.isHeld = false
    if (this.isClosed) this.close()
  }

  override close(): void {
    this.isClosed = true
    if (!this.isHeld) super.close()
  }
}

/** The memory is the source's from now on. */
export function receivedSource(memory: Mapping): ByteSource & Held {
  return new ReceivedSource(memory)
}
