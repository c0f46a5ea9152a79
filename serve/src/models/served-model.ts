import type { Batching, ModelConfig } from '../repository/config.js'
import type { HostedModel } from '../workers/hosted-model.js'
import type { Traced } from '../tracing.js'
import type { Loaded, ModelStart, NamedResult, SentArgument } from '../workers/messages.js'
import type { ModelMetrics } from '../metrics.js'
import type { Learned } from './learned.js'
import { Queue, type Queued } from './queue.js'
import type { InputInfo, TensorInfo } from './signature.js'
import { Statistics } from './statistics.js'
import type { TextHost } from '../text/text-host.js'

/** What is known of a model once it has been loaded. */
export interface ModelFacts {
  readonly inputs: readonly InputInfo[] | null
  readonly outputs: readonly TensorInfo[] | null
  readonly batching: Batching | null
}

/** One version of a model, with the requests that wait for it. */
export class ServedModel {
  readonly queue = new Queue<Job>()
  readonly statistics = new Statistics()
  facts: ModelFacts = { inputs: null, outputs: null, batching: null }
  /** null until a request has been answered. */
  learned: Learned | null = null
  /** Sequences by name, and where the model of each is. */
  readonly sequences = new Map<string, { readonly worker: number; lastUse: number }>()
  /** On the server's own thread, where its calls are short. */
  inline: HostedModel | null = null
  /** Of a language model, which has a thread of its own. */
  text: TextHost | null = null
  inlineCalls = 0
  /** Of these, calls that took longer than others can wait for. */
  longCalls = 0
  /** It answers what has come, and takes nothing more. */
  isDraining = false
  /** Jobs that have no answer yet. */
  pending = 0
  onIdle: (() => void) | null = null
  /** Runs on what a batch waits for. */
  batchTimer: NodeJS.Timeout | null = null

  constructor(
    readonly name: string,
    readonly version: string,
    readonly slot: number,
    readonly path: string,
    readonly config: ModelConfig,
    readonly labels: readonly string[] | null,
    readonly queueSize: number,
    readonly timeoutMs: number,
    readonly metrics: ModelMetrics,
  ) {}

  /** What starts it in a worker. */
  start: ModelStart | null = null
  loaded: Loaded | null = null

  begin(): void {
    this.pending++
  }

  end(): void {
    this.pending--
    if (this.pending === 0) this.onIdle?.()
  }

  /** Fulfils once everything that came has an answer. */
  drained(): Promise<void> {
    this.isDraining = true
    if (this.pending === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.onIdle = resolve
    })
  }
}

export interface Sequence {
  readonly id: string
  readonly start: boolean
  readonly end: boolean
}

export type Settle = (error: Error | null, outputs: readonly NamedResult[]) => void

/** A request on its way through a queue and a worker. */
export interface Job extends Queued {
  readonly model: ServedModel
  readonly args: readonly SentArgument[]
  /** Times of `performance.now()`. */
  readonly since: number
  readonly deadline: number
  readonly sequence: Sequence | null
  readonly settle: Settle
  timer: NodeJS.Timeout | null
  /** Its span, if there are any. */
  readonly traced: Traced | null
}
