import type { Call } from './call.js'
import type { Guards } from './record/guards.js'
import type { Recording } from './record/recorder.js'
import type { Signature } from './record/signature.js'
import type { Kept } from './signature-list.js'

/** Times that a signature is recorded anew, because of caches being filled or attributes being set, before it is left to the interpreter. */
export const MAX_ATTEMPTS = 3

/** What became of one signature. */
export class Entry implements Kept {
  state:
    | { readonly kind: 'recorded'; readonly recording: Recording }
    | { readonly kind: 'compiled'; readonly call: Call; readonly guards: Guards }
    | { readonly kind: 'refused'; readonly reason: string } = { kind: 'refused', reason: 'not recorded' }
  recordedOperators = 0
  attempts = 0
  /** Another thread has found that its run cannot be captured. */
  withoutPlan = false
  replays = 0
  cost = 0

  constructor(
    readonly signature: Signature,
    readonly hash: number,
  ) {}

  dispose(): void {
    if (this.state.kind === 'compiled') this.state.call.dispose()
  }
}
