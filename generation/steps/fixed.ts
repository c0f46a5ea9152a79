import { PtliteError } from '../../runtime/error.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { ModuleState } from '../../engine/saved-state.js'
import type { LanguageModel } from '../language-model.js'
import { zerosFor } from '../numbers.js'
import { LogitsBuffer } from '../results.js'
import type { Caller } from './caller.js'
import type { PlannedSizes } from './planned-sizes.js'
import type { Steps } from './steps.js'

/** Who uses a model whose calls change it: whose state it has, and who waits for whom. */
interface Use {
  owner: FixedSteps | null
  turn: Promise<unknown>
}
const uses = new WeakMap<LanguageModel, Use>()

/**
 * Of a model with a cache of fixed size, which is told where in it its tokens go: in its buffers, or in tensors that it takes and gives. What is behind a
 * token's place is masked for it, so that going back is to begin at an earlier place. Layers with a window may keep fewer tokens than the model sees: their caches are rings, whose
 * oldest tokens make room for new ones, and going back further than they allow for is to begin anew.
 *
 * Several may have one model with buffers: each puts its own state into it when it is its turn.
 */
export class FixedSteps implements Steps {
  length = 0
  readonly keeps = true
  readonly capacity: number
  private readonly logits = new LogitsBuffer()
  readonly chunk: number
  readonly sizes: PlannedSizes | null
  private readonly use: Use
  /** The tokens that the smallest ring keeps; Infinity where all caches keep all. */
  private readonly ring: number
  /** Places before this one were written to. */
  private reached = 0
  /** What the model's buffers held when another one put its state there. */
  private saved: ModuleState | null = null
  private past: readonly Tensor[]

  constructor(private readonly caller: Caller) {
    const { model, slots } = caller
    let use = uses.get(model)
    if (use === undefined) uses.set(model, (use = { owner: null, turn: Promise.resolve() }))
    this.use = use
    this.past = slots.filter(({ role }) => role === 'past').map(({ info }) => zerosFor(info))
    const caches = cachesOf(caller, this.past)
    this.capacity = capacityOf(caller, caches)
    this.ring = ringOf(caches, this.capacity)
    const free = Math.min(caller.most, Math.max(1, Math.floor(this.ring * RING_SHARE)))
    this.chunk = Math.min(caller.width ?? free, this.capacity)
    this.sizes = caller.width === null ? caller.sizes : null
  }

  async advance(tokens: readonly number[], rows: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return this.inTurn(async () => {
      const { caller, past } = this
      this.enter()
      const width = caller.width ?? tokens.length
      if (this.length + width > this.capacity && width > tokens.length)
        throw new PtliteError(
          'LIMIT_EXCEEDED',
          `generate(): the program takes ${width} tokens at a time, and its cache has room for ${this.capacity - this.length} more`,
        )
      this.reached = Math.max(this.reached, this.length + width)
      const { logits, others } = await caller.call(tokens, this.length, past, rows, signal)
      if (past.length > 0) this.past = others.slice(0, past.length)
      this.length += tokens.length
      const found = this.logits.rowsOf(logits, tokens.length, rows)
      logits.dispose()
      const kept = new Set(this.past.map(({ storage }) => storage))
      for (const t of past) if (!kept.has(t.storage)) t.dispose()
      return found
    })
  }

  rewind(length: number): void {
    if (length >= this.length) return
    // the first token of a call finds all that it looks back at, though `chunk` tokens are written by then: so it does where fewer than that were written behind its place
    const isKept = this.reached <= this.ring || this.reached - length < this.chunk
    this.length = isKept ? length : 0
    if (this.length === 0) this.reached = 0
  }

  fork(): Promise<Steps> {
    return this.inTurn(() => {
      const other = new FixedSteps(this.caller)
      other.length = this.length
      other.reached = this.reached
      other.past = this.past.map((t) => t.clone())
      if (this.inBuffers && this.length > 0) other.saved = this.use.owner === this ? this.caller.model.saveState() : this.saved
      return Promise.resolve(other)
    })
  }

  dispose(): void {
    if (this.use.owner === this) this.use.owner = null
    this.saved = null
    for (const t of this.past) t.dispose()
    this.past = []
    this.length = 0
  }

  private get inBuffers(): boolean {
    return this.past.length === 0
  }

  /** Waits until nobody else calls the model. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { use } = this
    if (!this.inBuffers) return work()
    const mine = use.turn.then(work)
    use.turn = mine.catch(() => undefined)
    return mine
  }

  /** Puts its state into the model, where another one had the last turn. */
  private enter(): void {
    const { use, caller } = this
    if (!this.inBuffers || use.owner === this) return
    if (use.owner !== null && use.owner.length > 0) use.owner.saved = caller.model.saveState()
    use.owner = this
    if (this.saved !== null) caller.model.loadState(this.saved)
    this.saved = null
  }
}

/** Methods of ExecuTorch's programs that say how many tokens the cache has room for. */
const SAY_CAPACITY = ['get_max_context_len', 'get_max_seq_len'] as const

/**
 * What a call may overwrite of a ring. Those of ExecuTorch keep twice the window of their layer, besides tokens at the beginning that are always seen: of the half that is for
 * tokens of the call a half is safe.
 */
const RING_SHARE = 1 / 4

/** Keys and values: what the program takes, or buffers that are called caches, or, of files that were compiled ahead and of ExecuTorch's programs without names of buffers, all that calls write to. */
function cachesOf({ model }: Caller, past: readonly Tensor[]): readonly Cache[] {
  const ofRank = (caches: readonly Cache[]): readonly Cache[] => caches.filter(({ shape }) => shape.length === 4)
  if (past.length > 0) return ofRank(past)
  // a file that was compiled ahead has what calls write to, and nothing else
  const forms = model.forms?.() ?? null
  if (forms !== null && forms.state.size > 0) return ofRank([...forms.state.values()])
  const called = (name: RegExp): readonly Cache[] => ofRank([...model.parameters()].flatMap(([key, t]) => (name.test(key) ? [t] : [])))
  const named = called(/cache/)
  return named.length > 0 ? named : called(WITHOUT_NAME)
}

interface Cache {
  readonly shape: readonly number[]
}

/** What readers of ExecuTorch's programs call memory that calls write to: by its place. */
const WITHOUT_NAME = /(^|\.)buffer_[a-z]?\d/

/** The tokens that a cache has room for: the larger of both middle sizes, of which the other is the number of heads. */
const roomOf = ({ shape }: Cache): number => Math.max(shape[1]!, shape[2]!)

/** The tokens that the model has room for: what the program says, or the room of the largest cache. Infinity where nothing says. */
function capacityOf({ model }: Caller, caches: readonly Cache[]): number {
  for (const method of SAY_CAPACITY) {
    const said = model.methods.includes(method) ? Number(model.call(method)) : NaN
    if (Number.isSafeInteger(said) && said > 0) return said
  }
  return caches.length === 0 ? Infinity : Math.max(...caches.map(roomOf))
}

/** The tokens that the smallest cache keeps which has less room than the model; Infinity where all have as much. Keys that are turned have their tokens last. */
function ringOf(caches: readonly Cache[], capacity: number): number {
  const rings = caches.filter((cache) => Math.max(roomOf(cache), cache.shape[3]!) < capacity)
  return Math.min(Infinity, ...rings.map(roomOf))
}
