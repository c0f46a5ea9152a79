import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { ServeOptions } from './options.js'
import { FolderError } from './repository/source.js'
import { serve } from './serve.js'

export const SERVE_HELP = `serve DIR [--port 8000] [--grpc-port N] [--host ADDRESS] [--workers N] [OPTION ...]

Serves the models of a folder over the Open Inference Protocol (KServe v2), and language models among them over OpenAI's interface, too (/v1).

  DIR                     NAME/VERSION/model.ptl and its like, or NAME.ptl; NAME/config.json is optional
      --port N            of HTTP (8000); 0 takes a free one
      --grpc-port N       of gRPC; without it there is none
      --host ADDRESS      to listen on (127.0.0.1); 0.0.0.0 for all
      --model-name NAME   DIR holds the files of one model, which is called so
      --load NAME         a model to load at the start, in place of all; may be repeated; none of them: ''
      --workers N         worker threads (as many as processors)
      --threads N         threads of one run (what workers at rest leave)
      --worker-heap MB    JavaScript's memory in a worker
      --queue-size N      requests that may wait for a model (256); more are answered with 503
      --worker-nice N     workers let other threads go first, 0 to 19 as nice has it (10)
      --timeout MS        for a request, its time in the queue included (30000)
      --max-body BYTES    of one request (67108864)
      --max-bodies BYTES  of all that are under way (536870912)
      --run-bytes BYTES   memory for the tensors of one run
      --inline MS         calls up to this long are answered without a worker (0.3); 0: none
      --drain MS          that requests under way are waited for at the end (20000)
      --tls-cert FILE     with --tls-key FILE: PEM files
      --token-file FILE   bearer tokens, one a line, of which requests need one
      --no-repository-api models are not loaded and unloaded by requests
      --log-level LEVEL   trace, debug, info, warn, error, fatal or silent (info)
      --tracing           OpenTelemetry spans, for the SDK that the process has

SIGTERM ends it once everything that has come is answered; SIGHUP loads all models again.`

const OPTIONS = {
  port: { type: 'string' },
  'grpc-port': { type: 'string' },
  host: { type: 'string' },
  'model-name': { type: 'string' },
  load: { type: 'string', multiple: true },
  workers: { type: 'string' },
  threads: { type: 'string' },
  'worker-heap': { type: 'string' },
  'worker-nice': { type: 'string' },
  'queue-size': { type: 'string' },
  timeout: { type: 'string' },
  'max-body': { type: 'string' },
  'max-bodies': { type: 'string' },
  'run-bytes': { type: 'string' },
  inline: { type: 'string' },
  drain: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'token-file': { type: 'string' },
  'no-repository-api': { type: 'boolean' },
  'log-level': { type: 'string' },
  tracing: { type: 'boolean' },
} as const

/** Milliseconds in which the process ends by itself once the server has. */
const LAST_WAIT = 2000

/** A command line that makes no sense, or a folder that is not there. */
export class CommandError extends Error {
  /** `status`: of the process; 1 where what the command line names is not there. */
  constructor(
    message: string,
    readonly status: 1 | 2 = 2,
  ) {
    super(message)
  }
}

const LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The options of a command line. Throws CommandError. */
export function optionsOf(args: readonly string[]): ServeOptions {
  let parsed
  try {
    parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    // behind its first sentence is advice of the parser's
    throw new CommandError((error as Error).message.split('. ', 1)[0]!)
  }
  const { values, positionals } = parsed
  if (positionals.length !== 1)
    throw new CommandError(positionals.length === 0 ? 'name a folder of models' : `expected one folder, found ${positionals.join(', ')}`)
  const number = (name: keyof typeof values): number | undefined => {
    const text = values[name] as string | undefined
    if (text === undefined) return undefined
    if (!/^\d+(\.\d+)?$/.test(text)) throw new CommandError(`--${name}: expected a number, found '${text}'`)
    return Number(text)
  }
  const level = values['log-level']
  if (level !== undefined && !LEVELS.includes(level)) throw new CommandError(`--log-level: expected ${LEVELS.join(', ')}, found '${level}'`)
  const given = {
    repository: positionals[0]!,
    ...{ modelName: values['model-name'], host: values.host, port: number('port'), grpcPort: number('grpc-port') },
    load: values.load?.filter((name) => name !== ''),
    ...{ workers: number('workers'), threads: number('threads'), workerHeap: number('worker-heap'), queueSize: number('queue-size') },
    workerNice: number('worker-nice'),
    ...{ timeout: number('timeout'), maxBody: number('max-body'), maxBodies: number('max-bodies'), runBytes: number('run-bytes') },
    ...{ inline: number('inline'), drain: number('drain'), tlsCert: values['tls-cert'], tlsKey: values['tls-key'] },
    tokens: values['token-file'] === undefined ? undefined : tokensOf(values['token-file']),
    repositoryApi: values['no-repository-api'] === true ? false : undefined,
    ...{ logLevel: level, tracing: values.tracing },
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as ServeOptions
}

function tokensOf(file: string): string[] {
  const tokens = readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '')
  if (tokens.length === 0) throw new CommandError(`--token-file: ${file} has no token`)
  return tokens
}

/** Runs a server until it is told to end. Throws CommandError for a command line that makes no sense, and what keeps it from starting. */
export async function runServe(args: readonly string[]): Promise<void> {
  const options = optionsOf(args)
  let server
  try {
    server = await serve(options)
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw new CommandError(error.message)
    if (error instanceof FolderError) throw new CommandError(error.message, 1)
    throw error
  }
  const running = server
  console.error(`ptlite serve: listening on ${running.url}`)
  await new Promise<void>((resolve) => {
    const end = (): void => resolve()
    process.once('SIGTERM', end)
    process.once('SIGINT', end)
    process.on('SIGHUP', () => void running.reload())
  })
  await running.close()
  // a thread that is in a kernel which does not look at the clock would hold the process for as long as that takes
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WAIT).unref()
}
