import { availableParallelism } from 'node:os'
import type { Blocks } from '../blocks.js'
import type { Log } from '../log.js'
import type { Metrics } from '../metrics.js'
import { invalid, quoted, RequestError } from '../protocol/error.js'
import { compareVersions } from '../repository/names.js'
import type { FaultyModel, FoundModel } from '../repository/scan.js'
import { Source } from '../repository/source.js'
import { Pool } from '../workers/pool.js'
import { Loader, type LoaderOptions } from './loader.js'
import type { ServedModel } from './served-model.js'

export interface RepositoryOptions extends LoaderOptions {
  readonly folder: string
  /** The folder holds one model of this name. */
  readonly modelName: string | null
  readonly workers: number | null
  readonly threads: number | null
  readonly heapMegabytes: number | null
  /** Where workers hand memory of inputs back. */
  readonly blocks: Blocks
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

/** The models of a repository, and the workers that run them. */
export class Repository {
  readonly pool: Pool
  private readonly loader: Loader
  private readonly entries = new Map<string, Entry>()
  /** Loads and unloads of one model follow each other. */
  private readonly turns = new Map<string, Promise<unknown>>()
  private isStarted = false
  private isEnding = false
  private readonly sweep: NodeJS.Timeout

  private constructor(
    private readonly source: Source,
    options: RepositoryOptions,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {
    const processors = availableParallelism()
    this.pool = new Pool({
      workers: options.workers ?? processors,
      threads: options.threads,
      processors,
      heapMegabytes: options.heapMegabytes,
      nice: options.workerNice,
      file: new URL('./thread.js', import.meta.url),
      onReturn: (block) => options.blocks.giveBack(block),
      onWarning: (model, text) => log.warn({ model: model?.name, version: model?.version }, text),
      onDeath: (worker, reason) => {
        metrics.restarts.inc()
        log.error({ worker, reason }, 'a worker thread has ended; another takes its place')
      },
      onLoss: (model, reason) => {
        log.error({ model: model.name, version: model.version, reason }, 'a new worker thread could not load the model')
        this.lose(model, reason)
      },
    })
    this.loader = new Loader(this.pool, options, metrics, log)
    this.sweep = setInterval(() => {
      for (const model of this.served()) if (model.config.stateful !== null) this.pool.endIdleSequences(model)
    }, SWEEP).unref()
  }

  /** Loads what is in the repository again, and unloads what is no longer there. */
  async reload(): Promise<void> {
    const found = await this.source.all()
    for (const name of found.keys()) await this.load(name).catch(() => undefined)
    for (const name of [...this.entries.keys()]) if (!found.has(name)) await this.unload(name)
  }

  static async open(options: RepositoryOptions, metrics: Metrics, log: Log): Promise<Repository> {
    return new Repository(await Source.open(options.folder, options.modelName), options, metrics, log)
  }

  /** Loads all models, or those that are named. One that cannot be loaded is listed with the reason. */
  async start(names: readonly string[] | null): Promise<void> {
    const found = await this.source.all()
    // one after the other: each keeps all workers busy, and is timed
    for (const name of names ?? found.keys()) {
      if (this.isEnding) break
      await this.load(name).catch(() => undefined)
    }
    this.isStarted = true
  }

  /** The server ends: models that are being loaded are not waited for. */
  abandonLoads(): void {
    this.isEnding = true
    this.pool.abandonLoads()
    this.loader.abandon()
  }

  /** A version that no worker has any more is not served. */
  private lose(model: ServedModel, reason: string): void {
    const entry = this.entries.get(model.name)
    if (this.pool.holds(model) || entry?.versions.get(model.version) !== model) return
    entry.versions.delete(model.version)
    entry.faults.set(model.version, reason)
    entry.latest = entry.versions.get(this.versionsOf(model.name).at(-1) ?? '') ?? null
    void this.retire(model)
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
    const found = readyOnly ? new Map<string, FoundModel | FaultyModel>() : await this.source.all()
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
        if ((await this.source.one(name)) === null) throw new RequestError(404, `there is no model ${quoted(name)} in the repository`)
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
    await Promise.all([...this.served()].map(async ({ text }) => text?.close()))
    for (const { inline } of this.served()) inline?.dispose()
  }

  private async loadNow(name: string): Promise<void> {
    const found = await this.source.one(name)
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
          fresh.set(each.version, await this.loader.load(found, each))
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

  /** A call has taken too long for the server's own thread. */
  endInline(model: ServedModel): void {
    this.loader.endInline(model)
  }

  private async retire(model: ServedModel): Promise<void> {
    await model.drained()
    for (const id of [...model.sequences.keys()]) this.pool.endSequence(model, id)
    this.pool.unload(model)
    model.inline?.dispose()
    model.inline = null
    await model.text?.close()
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
}
