/** How a server is run. */
export interface ServeOptions {
  /** Folder of models. */
  readonly repository: string
  /** The folder holds one model, which is called so. */
  readonly modelName?: string
  readonly host?: string
  /** Of HTTP; 0 takes a free one. */
  readonly port?: number
  /** Of gRPC; 0 takes a free one, null has none. */
  readonly grpcPort?: number | null
  /** Models to load at the start; all of them by default. */
  readonly load?: readonly string[]
  /** Worker threads; as many as processors by default. */
  readonly workers?: number
  /** Threads of one run; by default what workers at rest leave. */
  readonly threads?: number
  /** V8's heap of each worker, in megabytes. */
  readonly workerHeap?: number
  /** How much workers let other threads go first, 0 to 19, as `nice` has it; on Linux. */
  readonly workerNice?: number
  /** Requests that may wait for one model. */
  readonly queueSize?: number
  /** Milliseconds that a request may take, its time in a queue included. */
  readonly timeout?: number
  /** Bytes of a request's body. */
  readonly maxBody?: number
  /** Bytes of the bodies of all requests that are under way. */
  readonly maxBodies?: number
  /** Bytes of tensors of one run. */
  readonly runBytes?: number
  /** Milliseconds up to which calls are answered without a worker; 0: none. */
  readonly inline?: number
  /** Milliseconds that requests under way are waited for at the end. */
  readonly drain?: number
  /** PEM files, for TLS. */
  readonly tlsCert?: string
  readonly tlsKey?: string
  /** Requests have to have one of these as `Authorization: Bearer`. */
  readonly tokens?: readonly string[]
  /** false: models cannot be loaded and unloaded by requests. */
  readonly repositoryApi?: boolean
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Spans by @opentelemetry/api, for whatever SDK the process has. */
  readonly tracing?: boolean
}

/** All of them, with what holds where one is not given. */
export type Settings = {
  readonly [Key in keyof ServeOptions]-?: Key extends
    'modelName' | 'load' | 'workers' | 'threads' | 'workerHeap' | 'runBytes' | 'tlsCert' | 'tlsKey' | 'tokens'
    ? NonNullable<ServeOptions[Key]> | null
    : NonNullable<ServeOptions[Key]> | Extract<ServeOptions[Key], null>
}

const MEGABYTE = 1 << 20

/** Options with their defaults. Throws RangeError or TypeError for what is none. */
export function settingsOf(options: ServeOptions): Settings {
  const settings: Settings = {
    ...{
      modelName: null,
      load: null,
      workers: null,
      threads: null,
      workerHeap: null,
      runBytes: null,
      tlsCert: null,
      tlsKey: null,
      tokens: null,
    },
    ...{
      host: '127.0.0.1',
      port: 8000,
      grpcPort: null,
      workerNice: 10,
      queueSize: 256,
      timeout: 30_000,
      maxBody: 64 * MEGABYTE,
      maxBodies: 512 * MEGABYTE,
    },
    ...{ inline: 0.3, drain: 20_000, repositoryApi: true, logLevel: 'info', tracing: false },
    ...(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as unknown as ServeOptions & {
      repository: string
    }),
  }
  if (typeof settings.repository !== 'string' || settings.repository === '')
    throw new TypeError('repository: expected the path of a folder')
  for (const name of ['workers', 'threads', 'workerHeap', 'queueSize', 'timeout', 'maxBody', 'maxBodies', 'runBytes'] as const) {
    const value = settings[name]
    if (value !== null && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`${name}: expected a whole number of at least 1, found ${value}`)
  }
  if (!(Number.isInteger(settings.workerNice) && settings.workerNice >= 0 && settings.workerNice < 20))
    throw new RangeError(`workerNice: expected a whole number from 0 to 19, found ${settings.workerNice}`)
  for (const name of ['port', 'grpcPort'] as const) {
    const value = settings[name]
    if (value !== null && !(Number.isInteger(value) && value >= 0 && value < 65536))
      throw new RangeError(`${name}: expected a port, found ${value}`)
  }
  for (const name of ['inline', 'drain'] as const)
    if (!(settings[name] >= 0)) throw new RangeError(`${name}: expected a number of milliseconds, found ${settings[name]}`)
  if ((settings.tlsCert === null) !== (settings.tlsKey === null)) throw new TypeError('tlsCert and tlsKey go together')
  return settings
}
