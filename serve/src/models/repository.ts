import { realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { availableParallelism } from 'node:os'
import { DATATYPES } from '../protocol/datatypes.js'
import { elementsOf, fromJson } from '../protocol/elements.js'
import { invalid, quoted, RequestError } from '../protocol/error.js'
import type { Blocks } from '../blocks.js'
import type { Metrics } from '../metrics.js'
import { batchingOf, ConfigError, type ModelConfig, type WarmUpInput } from '../repository/config.js'
import { compareVersions, isModelName } from '../repository/names.js'
import { type FaultyModel, type FoundModel, type FoundVersion, scanFolder, scanModel, scanRepository } from '../repository/scan.js'
import { MOST_INLINE_MS } from '../inline.js'
import { HostedModel } from '../workers/hosted-model.js'
import type { ArgumentKind, Loaded, ModelStart, SentTensor } from '../workers/messages.js'
import { Pool } from '../workers/pool.js'
import { toSent } from '../workers/transfer.js'
import { ServedModel } from './served-model.js'
import { bind, hasFreeRows, inputsOf, mostRows, outputsOf, zerosFor } from './signature.js'

export interface RepositoryOptions {
  readonly folder: string
  /** The folder holds one model of this name. */
  readonly modelName: string | null
  readonly workers: number | null
  readonly threads: number | null
  readonly heapMegabytes: number | null
  readonly queueSize: number
  readonly timeoutMs: number
  /** Memory for tensors of one run. */
  readonly runBytes: number | null
  /** Milliseconds that a call may take to be answered on the server's own thread; 0: none is. */
  readonly inlineMs: number
  /** Where workers hand memory of inputs back. */
  readonly blocks: Blocks
}

export interface Log {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

export type State = 'READY' | 'LOADING' | 'UNAVAILABLE'

export interface IndexEntry {
  readonly name: string
  readonly version: string
  readonly state: State
  readonly reason: string
}

/** A model of the repository, and what of it is served. */
interface Entry {
  /** By version. */
  readonly versions: Map<string, ServedModel>
  /** The latest that is served. */
  latest: ServedModel | null
  /** Why the rest is not. */
  readonly faults: Map<string, string>
  loading: number
}

/** Milliseconds between two looks at sequences that nobody goes on with. */
const SWEEP = 500

/** Bytes of the file of a model that is tried on the server's own thread, and of the tensors of its calls there. */
const MOST_INLINE_FILE = 8 << 20
const MOST_INLINE_BYTES = 64 << 20

/** The models of a repository, and the workers that run them. */
export class Repository {
  readonly pool: Pool
  private readonly entries = new Map<string, Entry>()
  /** Loads and unloads of one model follow each other. */
  private readonly turns = new Map<string, Promise<unknown>>()
  private nextSlot = 1
  private isStarted = false
  private readonly sweep: NodeJS.Timeout

  private constructor(
    private readonly root: string,
    private readonly options: RepositoryOptions,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {
    const processors = availableParallelism()
    this.pool = new Pool({
      workers: options.workers ?? processors,
      threads: options.threads,
      processors,
      heapMegabytes: options.heapMegabytes,
      file: new URL('./thread.js', import.meta.url),
      onReturn: (block) => options.blocks.giveBack(block),
      onWarning: (model, text) => log.warn({ model: model?.name, version: model?.version }, text),
      onDeath: (worker, reason) => {
        metrics.restarts.inc()
        log.error({ worker, reason }, 'a worker thread has ended; another takes its place')
      },
      onLoss: (model, reason) =>
        log.error({ model: model.name, version: model.version, reason }, 'a new worker thread could not load the model'),
    })
    this.sweep = setInterval(() => {
      for (const model of this.served()) if (model.config.stateful !== null) this.pool.endIdleSequences(model)
    }, SWEEP).unref()
  }

  /** Loads what is in the repository again, and unloads what is no longer there. */
  async reload(): Promise<void> {
    const found = await this.scan()
    for (const name of found.keys()) await this.load(name).catch(() => undefined)
    for (const name of [...this.entries.keys()]) if (!found.has(name)) await this.unload(name)
  }

  static async open(options: RepositoryOptions, metrics: Metrics, log: Log): Promise<Repository> {
    return new Repository(await realpath(options.folder), options, metrics, log)
  }

  /** Loads all models, or those that are named. One that cannot be loaded is listed with the reason. */
  async start(names: readonly string[] | null): Promise<void> {
    const found = await this.scan()
    // one after the other: each keeps all workers busy, and is timed
    for (const name of names ?? found.keys()) await this.load(name).catch(() => undefined)
    this.isStarted = true
  }

  /** All models that are to be served are: the server takes requests. */
  get isReady(): boolean {
    return (
      this.isStarted &&
      [...this.entries.values()].every(({ faults, loading, versions }) => versions.size > 0 || (faults.size === 0 && loading === 0))
    )
  }

  /** A version that is served; the latest one without its number. Throws what the request is answered with elsewhere. */
  find(name: string, version: string | undefined): ServedModel {
    const entry = this.entries.get(name)
    const model = version === undefined || version === '' ? entry?.latest : entry?.versions.get(version)
    if (model !== undefined && model !== null) return model
    if (entry === undefined) throw new RequestError(404, `there is no model ${quoted(name)}`)
    const which = version === undefined || version === '' ? quoted(name) : `${quoted(name)}, version ${quoted(version)},`
    if (entry.loading > 0) throw new RequestError(503, `model ${which} is being loaded`, 1)
    throw new RequestError(404, `model ${which} is not served${[...entry.faults.values()].map((text) => `: ${text}`)[0] ?? ''}`)
  }

  /** Versions of a model that are served, the latest last. */
  versionsOf(name: string): string[] {
    return [...(this.entries.get(name)?.versions.keys() ?? [])].sort(compareVersions)
  }

  *served(): Iterable<ServedModel> {
    for (const { versions } of this.entries.values()) yield* versions.values()
  }

  async index(readyOnly: boolean): Promise<IndexEntry[]> {
    const found = readyOnly ? new Map<string, FoundModel | FaultyModel>() : await this.scan()
    const names = [...new Set([...this.entries.keys(), ...found.keys()])].sort()
    return names.flatMap((name): IndexEntry[] => {
      const entry = this.entries.get(name)
      const lying = found.get(name)
      const served = this.versionsOf(name).map((version) => ({ name, version, state: 'READY' as const, reason: '' }))
      if (readyOnly) return served
      const others = new Map<string, string>(entry?.faults)
      for (const { version } of lying !== undefined && 'versions' in lying ? lying.versions : [])
        if (!others.has(version)) others.set(version, '')
      if (lying !== undefined && 'fault' in lying && served.length === 0) others.set('', lying.fault)
      const rest = [...others].filter(([version]) => entry?.versions.has(version) !== true)
      if (rest.length === 0 && served.length === 0) rest.push(['', ''])
      const state = entry !== undefined && entry.loading > 0 ? 'LOADING' : 'UNAVAILABLE'
      return [
        ...served,
        ...rest.map(
          ([version, reason]) => ({ name, version, state, reason: reason === '' && state !== 'LOADING' ? 'unloaded' : reason }) as const,
        ),
      ]
    })
  }

  /**
   * Loads a model, or loads it again: what is served goes on until the new one is ready, and answers what it has been asked. Throws what the
   * request is answered with.
   */
  load(name: string): Promise<void> {
    return this.inTurn(name, () => this.loadNow(name))
  }

  unload(name: string): Promise<void> {
    return this.inTurn(name, async () => {
      const entry = this.entries.get(name)
      if (entry === undefined) {
        if ((await this.scanOne(name)) === null) throw new RequestError(404, `there is no model ${quoted(name)} in the repository`)
        return
      }
      this.entries.delete(name)
      await Promise.all([...entry.versions.values()].map((model) => this.retire(model)))
      this.log.info({ model: name }, 'unloaded')
    })
  }

  /** Fulfils once everything that was asked has been answered. */
  async drain(): Promise<void> {
    await Promise.all([...this.served()].map((model) => model.drained()))
  }

  async close(): Promise<void> {
    clearInterval(this.sweep)
    await this.pool.close()
    for (const { inline } of this.served()) inline?.dispose()
  }

  private async loadNow(name: string): Promise<void> {
    const found = await this.scanOne(name)
    if (found === null) throw new RequestError(404, `there is no model ${quoted(name)} in the repository`)
    const entry = this.entries.get(name) ?? {
      versions: new Map<string, ServedModel>(),
      latest: null,
      faults: new Map<string, string>(),
      loading: 0,
    }
    this.entries.set(name, entry)
    if ('fault' in found) {
      entry.faults.clear()
      entry.faults.set('', found.fault)
      this.log.error({ model: name, reason: found.fault }, 'the model cannot be served')
      throw invalid(`model ${quoted(name)}: ${found.fault}`)
    }
    const faults = new Map<string, string>()
    const fresh = new Map<string, ServedModel>()
    entry.loading = found.versions.length
    await Promise.all(
      found.versions.map(async (each) => {
        try {
          fresh.set(each.version, await this.loadVersion(found, each))
        } catch (error) {
          faults.set(each.version, (error as Error).message)
          this.log.error({ model: name, version: each.version, reason: (error as Error).message }, 'the model cannot be served')
        } finally {
          entry.loading--
          this.metrics.reloads.inc({ model: name, outcome: faults.has(each.version) ? 'failed' : 'loaded' })
        }
      }),
    )
    entry.faults.clear()
    for (const [version, fault] of faults) entry.faults.set(version, fault)
    const old = [...entry.versions.values()]
    // what cannot be loaded again goes on as it was
    const replaced = old.filter(({ version }) => !faults.has(version))
    for (const { version } of replaced) entry.versions.delete(version)
    for (const [version, model] of fresh) entry.versions.set(version, model)
    const latest = this.versionsOf(name).at(-1)
    entry.latest = latest === undefined ? null : entry.versions.get(latest)!
    void Promise.all(replaced.map((model) => this.retire(model)))
    if (faults.size > 0)
      throw invalid(`model ${quoted(name)}: ${[...faults].map(([version, fault]) => `version ${version}: ${fault}`).join('; ')}`)
  }

  private async loadVersion(found: FoundModel, { version, path }: FoundVersion): Promise<ServedModel> {
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
    const plain: ModelStart = {
      slot: model.slot,
      path,
      method: config.method,
      compile: config.compile,
      warmUp: [],
      mayFail: false,
      batchSizes: [],
      kinds: null,
      bytes,
      map: config.map,
      stateful: config.stateful !== null,
    }
    // what it takes is known from its file alone, which one worker is asked first
    model.start = plain
    const about = await this.pool.describe(model)
    const inputs = inputsOf(config, about.inputs)
    const batching = batchingFor(config, about)
    const warmUp = config.warmUp?.map((call, i) => warmUpOf(call, i)) ?? zeros(zerosFor(inputs))
    if (config.warmUp !== null && inputs !== null)
      for (const call of warmUp)
        bind(
          inputs,
          call.map((each, i) => ({ ...each, name: inputs[i]?.name ?? `${i}`, data: [] })),
        )
    const kinds = inputs?.map(({ kind }): ArgumentKind => kind) ?? null
    const batchSizes = batching === null ? [] : batching.preferred
    model.start = { ...plain, kinds, warmUp, mayFail: config.warmUp === null, batchSizes }
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

  /** A model whose calls are shorter than handing them over to a worker is worth is held by the server's own thread, too. */
  private async openInline(model: ServedModel): Promise<void> {
    const { config, start, path } = model
    const { inlineMs } = this.options
    const isWanted = config.inline === true
    if (inlineMs === 0 || config.inline === false || config.stateful !== null) return
    if (!isWanted && (start!.warmUp.length === 0 || config.batching || (await stat(path)).size > MOST_INLINE_FILE)) return
    const bytes = Math.min(start!.bytes ?? Infinity, MOST_INLINE_BYTES)
    const hosted = await HostedModel.load({ ...start!, bytes }, (text) => this.log.warn({ model: model.name }, text))
    if (isWanted || (await hosted.shortestCall(MOST_INLINE_MS)) <= inlineMs) model.inline = hosted
    else hosted.dispose()
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

  private async retire(model: ServedModel): Promise<void> {
    await model.drained()
    for (const id of [...model.sequences.keys()]) this.pool.endSequence(model, id)
    this.pool.unload(model)
    model.inline?.dispose()
    model.inline = null
    if (this.entries.get(model.name)?.versions.has(model.version) !== true) model.metrics.remove()
  }

  private async inTurn<T>(name: string, action: () => Promise<T>): Promise<T> {
    const before = this.turns.get(name)
    const turn = (before ?? Promise.resolve()).catch(() => undefined).then(action)
    this.turns.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.turns.get(name) === turn) this.turns.delete(name)
    }
  }

  private async scan(): Promise<Map<string, FoundModel | FaultyModel>> {
    const { modelName } = this.options
    if (modelName === null) return scanRepository(this.root)
    const only = await this.scanOne(modelName)
    return new Map(only === null ? [] : [[modelName, only]])
  }

  private async scanOne(name: string): Promise<FoundModel | FaultyModel | null> {
    if (!isModelName(name)) return null
    if (this.options.modelName === null) return scanModel(this.root, name)
    if (name !== this.options.modelName) return null
    try {
      return await scanFolder(this.root, this.root, name)
    } catch (error) {
      return { name, fault: `${(error as Error).message} (${basename(this.root)})` }
    }
  }
}

function batchingFor(config: ModelConfig, { inputs, outputs }: Pick<Loaded, 'inputs' | 'outputs'>): ServedModel['facts']['batching'] {
  const { batching, stateful } = config
  if (batching === false || stateful !== null) {
    if (batching !== false && batching !== null) throw new ConfigError('batching: the requests of a stateful model cannot be in one batch')
    return null
  }
  const isFixed = inputs?.some(({ shape }) => shape !== undefined && (shape.length === 0 || shape[0]!.min === shape[0]!.max)) === true
  if (batching !== null && isFixed)
    throw new ConfigError('batching: the model was exported for one number of rows; export it with a dynamic batch dimension')
  if (batching !== null) return batching
  return hasFreeRows(inputs, outputs) ? batchingOf(Math.min(8, mostRows(inputs) ?? 8), 0) : null
}

function zeros(call: SentTensor[] | null): SentTensor[][] {
  return call === null ? [] : [call]
}

/** What a warm-up shows of inputs that nothing is said about. */
function knownInputs(inputs: ServedModel['facts']['inputs'], warmUp: readonly SentTensor[] | undefined): ServedModel['facts']['inputs'] {
  if (warmUp === undefined) return inputs
  return (
    inputs?.map((info, i) => (info.datatype === null && warmUp[i] !== undefined ? { ...info, datatype: warmUp[i].datatype } : info)) ?? null
  )
}

function warmUpOf(call: readonly WarmUpInput[], i: number): SentTensor[] {
  return call.map(({ datatype, shape, data }, j) => {
    const where = `warmUp[${i}][${j}]`
    try {
      const count = elementsOf(shape, where, 2 ** 28)
      if (datatype === 'BYTES') throw invalid('BYTES cannot be warmed up with')
      const { array: ArrayOf } = DATATYPES[datatype]
      return toSent({
        datatype,
        shape,
        data: data === null ? new ArrayOf(count) : fromJson(data, datatype, shape, count, where),
      }) as SentTensor
    } catch (error) {
      throw new ConfigError(`${where}: ${(error as Error).message}`)
    }
  })
}
