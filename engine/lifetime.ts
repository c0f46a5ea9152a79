import { PtliteError } from '../runtime/error.js'

/** How long a module is there, for what runs in the background. Its signal is made when it is asked for: Node loads AbortController then. */
export class Lifetime {
  private controller: AbortController | undefined
  private reason: PtliteError | undefined

  get isOver(): boolean {
    return this.reason !== undefined
  }

  /** Aborted with DISPOSED at its end. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.reason !== undefined) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  /** Aborted when `signal` is, too. */
  signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.signal : AbortSignal.any([signal, this.signal])
  }

  /** Throws DISPOSED behind its end. */
  check(): void {
    if (this.reason !== undefined) throw this.reason
  }

  end(): void {
    this.reason ??= new PtliteError('DISPOSED', 'the module was disposed')
    this.controller?.abort(this.reason)
  }
}
