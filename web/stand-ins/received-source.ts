import { ByteSource } from '../../formats/containers/bytes.js'
import type { Mapping } from '../../formats/containers/map-file.js'
import * as kernels from '../../runtime/native/generated/kernels.js'

const abandoned = new FinalizationRegistry<Mapping>((mapping) => kernels.mem_unmap(mapping))

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

  constructor(private readonly received: Mapping) {
    super('the model', received)
    // weights that lie in it hold it
    abandoned.register(received, { ...received }, received)
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
    if (this.isHeld) return
    abandoned.unregister(this.received)
    super.close()
  }
}

/** The memory is the source's from now on. */
export function receivedSource(memory: Mapping): ByteSource & Held {
  return new ReceivedSource(memory)
}
