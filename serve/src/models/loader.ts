import { stat } from 'node:fs/promises'
import { MAX_INLINE_MS } from '../inline.js'
import type { Log } from '../log.js'
import type { Metrics } from '../metrics.js'
import type { FoundModel, FoundVersion, TokenizerPaths } from '../repository/scan.js'
import { TextHost } from '../text/text-host.js'
import { HostedModel } from '../workers/hosted-model.js'
import type { ArgumentKind, ModelStart } from '../workers/messages.js'
import type { Pool } from '../workers/pool.js'
import { batchingFor, withoutLarge } from './batching.js'
import { ServedModel } from './served-model.js'
import { inputsOf, outputsOf } from './signature.js'
import { knownInputs, warmUpFor } from './warm-up.js'

export interface LoaderOptions {
  readonly queueSize: number
  readonly timeoutMs: number
  /** Memory for tensors of one run. */
  readonly runBytes: number | null
  /** Milliseconds that a call may take to be answered on the server's own thread; 0: none is. */
  readonly inlineMs: number
  /** How much threads of models let other threads go first. */
  readonly workerNice: number
}

/** Bytes of the file of a model that is tried on the server's own thread, and of the tensors of its calls there. */
const MAX_INLINE_FILE = 8 << 20
const MAX_INLINE_BYTES = 64 << 20
/** Milliseconds of a call in a worker up to which a model is tried there, and that loading it there may take. */
const MAX_TRIED_MS = 50
const MAX_INLINE_LOAD_MS = 2000

/** Makes versions of models ready to be served. */
export class Loader {
  private nextSlot = 1
  private readonly opening = new Set<TextHost>()

  constructor(
    private readonly pool: Pool,
    private readonly options: LoaderOptions,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** Fulfils once its warm-up has been run. Rejects with what is wrong with the file, or with its config. */
  async load(found: FoundModel, { version, path, encoder, tokenizer }: FoundVersion): Promise<ServedModel> {
    const { name, config } = found
    const began = performance.now()
    const { queueSize, timeoutMs, runBytes } = this.options
    const metrics = this.metrics.of(name, version)
    const model = new ServedModel(
      name,
      version,
      this.nextSlot++,
      path,
      config,
      found.labels,
      config.queueSize ?? queueSize,
      config.timeoutMs ?? timeoutMs,
      metrics,
    )
    const bytes = config.bytes ?? runBytes
    if (tokenizer !== null) return this.openText(model, encoder, tokenizer, bytes, began)
    const plain: ModelStart = {
      slot: model.slot,
      path,
      method: config.method,
      compile: config.compile,
      warmUp: [],
      mayFail: false,
      batchSizes: [],
      mayLeaveOut: config.batching === null,
      kinds: null,
      bytes,
      milliseconds: model.timeoutMs,
      map: config.map,
      eval: config.eval,
      stateful: config.stateful !== null,
    }
    // what it takes is known from its file alone, which is looked at first
    model.start = plain
    const about = await this.pool.describe(model)
    const inputs = inputsOf(config, about.inputs)
    let batching = batchingFor(config, about)
    const warmUp = warmUpFor(config, inputs)
    const kinds = inputs?.map(({ kind }): ArgumentKind => kind) ?? null
    const start = { ...plain, kinds, warmUp, mayFail: config.warmUp === null }
    model.start = { ...start, batchSizes: batching?.preferred ?? [] }
    if (warmUp.length > 0) {
      const { rows } = await this.pool.describe(model)
      if (batching !== null && rows !== null) batching = withoutLarge(batching, rows)
      model.start = { ...start, batchSizes: batching?.preferred ?? [] }
    }
    const loaded = await this.pool.load(model)
    model.loaded = loaded
    model.facts = { inputs: knownInputs(inputs, warmUp[0]), outputs: outputsOf(config, loaded), batching }
    if (loaded.warning !== null) this.log.warn({ model: name, version }, loaded.warning)
    await this.openInline(model)
    this.log.info(
      { model: name, version, ms: Math.round(performance.now() - began), callMs: loaded.milliseconds, inline: model.inline !== null },
      'loaded',
    )
    return model
  }

  /** The server ends: language models that are being loaded are not waited for. */
  abandon(): void {
    for (const host of this.opening) void host.close()
  }

  /** A language model has a thread of its own, which generates many sequences at a time. */
  private async openText(
    model: ServedModel,
    encoder: string | null,
    tokenizer: TokenizerPaths,
    bytes: number | null,
    began: number,
  ): Promise<ServedModel> {
    const { name, version, path, config, timeoutMs: milliseconds } = model
    const { compile, map, eval: isOut } = config
    const host = new TextHost(
      new URL('./text-thread.js', import.meta.url),
      { path, encoder, tokenizer, config: config.text!, compile, map, eval: isOut, bytes, milliseconds, nice: this.options.workerNice },
      model.queueSize,
      model.metrics,
      {
        onWarning: (text) => this.log.warn({ model: name, version }, text),
        onDeath: (reason) => {
          this.metrics.restarts.inc()
          this.log.error({ model: name, version, reason }, 'the thread of a language model has ended; another takes its place')
        },
        onBegin: () => model.begin(),
        onEnd: () => model.end(),
      },
    )
    this.opening.add(host)
    try {
      await host.open()
    } finally {
      this.opening.delete(host)
    }
    model.text = host
    this.log.info({ model: name, version, ms: Math.round(performance.now() - began), task: host.task }, 'loaded')
    return model
  }

  /** A model whose calls are shorter than handing them over to a worker is worth is held by the server's own thread, too. */
  private async openInline(model: ServedModel): Promise<void> {
    const { config, start, path } = model
    const { inlineMs } = this.options
    const isWanted = config.inline === true
    // what takes long in a worker is not even tried here
    if ((model.loaded?.milliseconds ?? 0) > MAX_TRIED_MS) return
    if (inlineMs === 0 || config.inline === false || config.stateful !== null) return
    if (!isWanted && (start!.warmUp.length === 0 || config.batching || (await stat(path)).size > MAX_INLINE_FILE)) return
    const bytes = Math.min(start!.bytes ?? Infinity, MAX_INLINE_BYTES)
    const here = { ...start!, bytes, milliseconds: Math.min(start!.milliseconds, MAX_INLINE_LOAD_MS) }
    let hosted: HostedModel | null = null
    try {
      hosted = await HostedModel.load(here, (text) => this.log.warn({ model: model.name }, text))
      if (isWanted || ((await hosted.shortestCall(MAX_INLINE_MS)) <= inlineMs && !hosted.changesState())) model.inline = hosted
    } catch (error) {
      // workers have it, and answer its calls
      this.log.warn({ model: model.name, reason: (error as Error).message }, "the model is not held by the server's own thread")
    }
    if (model.inline === null) hosted?.dispose()
  }

  /** A call has taken too long for this thread. */
  endInline(model: ServedModel): void {
    model.inline?.dispose()
    model.inline = null
    this.log.warn(
      { model: model.name, version: model.version },
      "calls take too long for the server's own thread; workers answer them from now on",
    )
  }
}
